"""Read a chapter's text into nbgrader's source notebook; docs/author.md explains the markers."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograde.build import colab, looks
from autograde.build.checks import check_cells
from autograde.build.text import TextCell, text_cells
from autograde.course import LIBRARY
from autograde.intake.submission import GRADERS_IDS
from autograde.nbgrader.regions import HIDDEN_TESTS

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


def read_chapter(path: Path) -> NotebookNode:
    """The nbgrader source notebook of one chapter: solutions in it, hidden regions appended.

    Below its title the builder adds a link to Colab and, if the course has a library, a cell that
    installs it there. The same text gives the same notebook: ids come from names and headings,
    outputs are empty. Raises AuthorError for a mistake that nbgrader would refuse or not notice.
    """
    cells = text_cells(path)
    check_cells(cells)
    ids = list(_cell_ids(cells))
    title, *built = [_build_cell(cell, cell_id) for cell, cell_id in zip(cells, ids, strict=True)]
    title.source += colab.open_link(path.stem)
    metadata = {"tags": ["demo"], **looks.FOLDED}
    install = new_code_cell(colab.install_cell(), id=colab.CELL_ID, metadata=metadata)
    cells_for_colab = [install] if LIBRARY else []
    return new_notebook(cells=[title, *cells_for_colab, *built], metadata=METADATA)


def _cell_ids(cells: list[TextCell]) -> Iterator[str]:
    """One id a cell: its grade_id, else the slug of the nearest heading above and a counter."""
    slug = "top"
    counts: Counter[str] = Counter()
    for cell in cells:
        slug = _heading_slug(cell) or slug
        if f"{slug}-".startswith(GRADERS_IDS):
            problem = f"cells below this heading get ids that begin as the grader's own do: {slug}"
            raise cell.error(problem, "Begin the heading with another word")
        if cell.kind != "plain":
            yield cell.grade_id
            continue
        counts[slug] += 1
        yield f"{slug}-{counts[slug]}"


def _heading_slug(cell: TextCell) -> str:
    """The heading at the start of a markdown cell as letters, digits and hyphens, or ""."""
    first = cell.source.split("\n", 1)[0]
    if cell.cell_type != "markdown" or not re.match(r"#{1,6} ", first):
        return ""
    plain = unicodedata.normalize("NFKD", first).encode("ascii", "ignore").decode().lower()
    # An id has at most 64 characters; a hyphen and the counter follow.
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:54].strip("-")


def _build_cell(cell: TextCell, cell_id: str) -> NotebookNode:
    metadata = {"nbgrader": _nbgrader(cell)} if cell.kind != "plain" else {}
    if cell.options.get("tags"):
        metadata["tags"] = cell.options["tags"]
    source = f"{cell.source}\n{HIDDEN_TESTS}" if cell.kind == "test" else cell.source
    if exercise := cell.options.get("hints"):
        source = _folded_hints(exercise, source)
    new_cell = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    built = new_cell(source, id=cell_id, metadata=metadata)
    looks.apply_style(built)
    return built


def _folded_hints(exercise: str, source: str) -> str:
    """A numbered list as hints that unfold, one per item."""
    texts = re.split(r"^\d+\. +", source, flags=re.MULTILINE)[1:]
    return "\n\n".join(
        f"<details><summary>Hint {number} for {exercise}</summary>\n\n{text.strip()}\n\n</details>"
        for number, text in enumerate(texts, 1)
    )


def _nbgrader(cell: TextCell) -> dict[str, Any]:
    """nbgrader's metadata, schema 3; `checksum` and `cell_type` are added by nbgrader itself."""
    metadata = {
        "schema_version": 3,
        "grade_id": cell.grade_id,
        "solution": cell.kind in ("solution", "written"),
        "grade": cell.kind in ("test", "written"),
        "locked": cell.kind == "test",
        "task": False,
    }
    if metadata["grade"]:
        metadata["points"] = cell.options["points"]
    return metadata
