"""Read a chapter's text (jupytext percent format) into nbgrader's source notebook.

    # %% solution="speculative_accept"           a stub with one solution region
    # %% test="speculative_accept" points=3      the check; the hidden region is appended here
    # %% [markdown] written="why_exact" points=2
    # %% tags=["demo"]

Every mistake is a ChapterError that names the file, the line, what is wrong and the remedy.
"""

import ast
import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbformat.validator import NotebookValidationError

from autograde.builder.regions import (
    BEGIN_SOLUTION,
    END_SOLUTION,
    HIDDEN_TESTS,
    HIDDEN_WORDS,
    SOLUTION_WORDS,
    code_lines,
    split_at_region,
)
from autograde.paths import ROOT

# Comments that look like magics stay comments.
FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
MARKER = re.compile(r"\s*#\s*(%%%*\s|(%%|<codecell>|In\[[0-9 ]*\]:?)\s*$)")
# The same in a markdown cell that swallowed a marker: jupytext has taken the comment sign off.
SWALLOWED = re.compile(r"\s*(#\s*)?%%(%*\s|\s*$)")

# The options of each kind of cell, besides `tags`.
OPTIONS = {
    "solution": {"solution"},
    "test": {"test", "points"},
    "written": {"written", "points"},
    "plain": set(),
}
# jupytext's own notes on the text, which are no options of ours.
JUPYTEXT_NOTES = {"lines_to_next_cell", "lines_to_end_of_cell_marker", "cell_marker"}
# nbgrader acts on these words wherever they stand; the builder alone writes the first two.
RESERVED_WORDS = (*HIDDEN_WORDS, "BEGIN MARK SCHEME", "END MARK SCHEME", "AUTOTEST")

MAX_ID = 64  # nbformat's limit on the id of a cell
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


class ChapterError(Exception):
    """A mistake in a chapter's text: file, line, what is wrong, and the remedy."""


@dataclass(frozen=True)
class TextCell:
    """One cell of the text: the line of its `# %%` marker, its options and its source."""

    path: Path
    line: int
    cell_type: str
    options: dict[str, Any]
    source: str

    @property
    def kind(self) -> str:
        """solution, test, written, or plain."""
        return next((kind for kind in OPTIONS if kind in self.options), "plain")

    @property
    def name(self) -> str:
        """The exercise's name; empty for a plain cell."""
        return self.options.get(self.kind, "")

    @property
    def grade_id(self) -> str:
        """nbgrader's id: the name, with `test_` before it for a test cell."""
        return f"test_{self.name}" if self.kind == "test" else self.name

    def error(self, problem: str, remedy: str, line: int | None = None) -> ChapterError:
        """The error to raise; `line` where it is not the cell's marker that is at fault."""
        return ChapterError(f"{_shown(self.path)}:{line or self.line}: {problem}. {remedy}.")


def read_chapter(path: Path) -> NotebookNode:
    """The nbgrader source notebook of one chapter: solutions in it, hidden regions appended.

    The same text gives the same notebook: ids come from names and headings, outputs are empty.
    Raises ChapterError for anything that nbgrader would refuse, or take silently for granted.
    """
    cells = _text_cells(path)
    for cell in cells:
        _check_options(cell)
        _check_regions(cell)
        if cell.cell_type == "code":
            _check_code(cell)
    _check_names(cells)
    ids = list(_cell_ids(cells))
    built = [_build_cell(cell, cell_id) for cell, cell_id in zip(cells, ids, strict=True)]
    return new_notebook(cells=built, metadata=METADATA)


def _shown(path: Path) -> str:
    """The path as a person at the repository's root would type it."""
    return os.path.relpath(path, ROOT) if path.is_relative_to(ROOT) else str(path)


# ------------------------------------------------------------------------------- from the text


def _text_cells(path: Path) -> list[TextCell]:
    """jupytext's cells, each with the line of its marker."""
    text = path.read_text(encoding="utf-8")
    lines = [n for n, line in enumerate(text.split("\n"), 1) if MARKER.match(line)]
    try:
        parsed = jupytext.reads(text, fmt=FORMAT).cells
    except NotebookValidationError as error:
        raise _option_error(path, lines) from error
    if len(lines) != len(parsed):
        raise _marker_error(path, lines, parsed)
    return [
        TextCell(path, line, cell.cell_type, _options(cell), cell.source)
        for line, cell in zip(lines, parsed, strict=True)
    ]


def _options(cell: NotebookNode) -> dict[str, Any]:
    return {key: value for key, value in cell.metadata.items() if key not in JUPYTEXT_NOTES}


def _option_error(path: Path, lines: list[int]) -> ChapterError:
    """jupytext refuses a notebook for an option of the wrong type: find the marker with it."""
    text = path.read_text(encoding="utf-8").split("\n")
    for line in lines:
        try:
            jupytext.reads(text[line - 1] + "\n", fmt=FORMAT)
        except NotebookValidationError as error:
            problem = f"an option that a notebook cannot hold: {error.message}"
            return TextCell(path, line, "", {}, "").error(problem, 'Tags are a list: tags=["demo"]')
    return ChapterError(f"{_shown(path)}: jupytext cannot read it as a notebook.")


def _marker_error(path: Path, lines: list[int], parsed: list[NotebookNode]) -> ChapterError:
    """There are more or fewer cells than markers: find the first place where they part."""
    if len(lines) < len(parsed):
        return ChapterError(
            f"{_shown(path)}:1: there is text above the first `# %%` marker. "
            "Put a marker above it: `# %%` for code, `# %% [markdown]` for text."
        )
    for index, cell in enumerate(parsed):
        if any(SWALLOWED.match(line) for line in cell.source.split("\n")):
            return ChapterError(
                f"{_shown(path)}:{lines[index]}: the cell that begins here runs over the next "
                f"`# %%` marker, on line {lines[index + 1]}. "
                "Close its triple-quoted string, or its ``` block, before that line."
            )
    return ChapterError(
        f"{_shown(path)}: {len(lines)} `# %%` markers, but jupytext reads {len(parsed)} cells. "
        "Look for a marker inside a string or a ``` block and take it out."
    )


# -------------------------------------------------------------------------------------- checks


def _check_options(cell: TextCell) -> None:
    if "incorrectly_encoded_metadata" in cell.options:
        raise cell.error(
            f"the cell's options cannot be read: {cell.options['incorrectly_encoded_metadata']}",
            'Write them as key=value, text in double quotes, as in test="name" points=3',
        )
    if cell.cell_type not in ("code", "markdown"):
        raise cell.error(
            f"a cell of type {cell.cell_type}", "Use `# %%` for code or `# %% [markdown]` for text"
        )
    unknown = sorted(set(cell.options) - OPTIONS[cell.kind] - {"tags"})
    if unknown:
        allowed = ", ".join(sorted(OPTIONS[cell.kind] | {"tags"}))
        raise cell.error(
            f"unknown option {', '.join(unknown)} for a {cell.kind} cell",
            f"It takes: {allowed}",
        )
    _check_kind(cell)
    if cell.kind in ("test", "written"):
        _check_points(cell)


def _check_kind(cell: TextCell) -> None:
    """A named cell has a name that Python and nbgrader take, and is of the right type."""
    if cell.kind == "plain":
        return
    if not (isinstance(cell.name, str) and cell.name.isascii() and cell.name.isidentifier()):
        raise cell.error(
            f"{cell.kind}={cell.name!r} is not a name",
            "Use letters, digits and underscores, and no digit first",
        )
    if len(f"test_{cell.name}") > MAX_ID:
        raise cell.error(f"the name {cell.name} is too long", f"At most {MAX_ID - 5} characters")
    wanted = "markdown" if cell.kind == "written" else "code"
    if cell.cell_type != wanted:
        marker = "# %% [markdown]" if wanted == "markdown" else "# %%"
        raise cell.error(
            f"a {cell.kind} cell cannot be {cell.cell_type}", f"Begin it with `{marker}`"
        )


def _check_points(cell: TextCell) -> None:
    points = cell.options.get("points")
    if points is None:
        raise cell.error(
            f"the {cell.kind} cell of {cell.name} has no points",
            f'Write {cell.kind}="{cell.name}" points=3',
        )
    number = isinstance(points, int | float) and not isinstance(points, bool)
    if not (number and math.isfinite(points) and points > 0):
        raise cell.error(f"points={points!r} is not a positive number", "Write points=3")


def _check_regions(cell: TextCell) -> None:
    """Exactly one closed region in a solution cell, none elsewhere, and no reserved word."""
    for number, line in enumerate(cell.source.split("\n"), cell.line + 1):
        _check_marker_line(cell, line, number)
    _check_region_count(cell, _region_begins(cell))


def _region_begins(cell: TextCell) -> list[int]:
    """The lines on which a region begins; every one of them is closed before the next."""
    begins: list[int] = []
    is_open = False
    for number, line in enumerate(cell.source.split("\n"), cell.line + 1):
        if line.strip() == BEGIN_SOLUTION:
            if is_open:
                remedy = f"Close the one of line {begins[-1]} first, with `{END_SOLUTION}`"
                raise cell.error("a solution region begins inside another", remedy, number)
            begins.append(number)
            is_open = True
        elif line.strip() == END_SOLUTION:
            if not is_open:
                remedy = f"Put `{BEGIN_SOLUTION}` above it, or take it out"
                raise cell.error(f"`{END_SOLUTION}` without a beginning", remedy, number)
            is_open = False
    if is_open:
        remedy = f"Add `{END_SOLUTION}` below it"
        raise cell.error("the solution region is not closed", remedy, begins[-1])
    return begins


def _check_marker_line(cell: TextCell, line: str, number: int) -> None:
    """nbgrader takes any line with these words for a marker, and drops the rest of the line."""
    for word in RESERVED_WORDS:
        if word in line:
            raise cell.error(f"nbgrader acts on `{word}`", "Take it out of the text", number)
    markers = (BEGIN_SOLUTION, END_SOLUTION)
    if any(word in line for word in SOLUTION_WORDS) and line.strip() not in markers:
        raise cell.error(
            "a line that nbgrader would take for a solution marker",
            f"Write `{BEGIN_SOLUTION}` or `{END_SOLUTION}` alone on its line",
            number,
        )


def _check_region_count(cell: TextCell, begins: list[int]) -> None:
    if cell.kind != "solution":
        if begins:
            raise cell.error(
                "a solution region in a cell that is no solution",
                'Give the cell the option solution="name", or take the region out',
                begins[0],
            )
        return
    if not begins:
        raise cell.error(
            f"the solution cell of {cell.name} has no region",
            f"Put the answer between `{BEGIN_SOLUTION}` and `{END_SOLUTION}`",
        )
    if len(begins) > 1:
        raise cell.error(
            f"the solution cell of {cell.name} has more than one region",
            "Join them, or make a cell of each",
            begins[1],
        )
    if not code_lines(split_at_region(cell.source)[1]):
        raise cell.error(
            f"the solution region of {cell.name} holds no code", "Write the answer", begins[0]
        )


def _check_code(cell: TextCell) -> None:
    """Plain Python, not empty where it is a check, defining the name where it is a solution."""
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        line = cell.line + (error.lineno or 1)
        raise cell.error(
            f"syntax error: {error.msg}", "Chapters are plain Python: no magics", line
        ) from error
    if cell.kind == "test" and not tree.body:
        raise cell.error(
            f"the test cell of {cell.name} shows no code",
            "Write the line that calls the check: it is what the student runs",
        )
    if cell.kind == "solution" and cell.name not in _defined(tree):
        raise cell.error(
            f"the solution cell of {cell.name} does not define {cell.name}",
            "Name the cell after the function or the answer in it",
        )


def _defined(tree: ast.Module) -> set[str]:
    """The names that a cell defines or assigns at its top level."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def _check_names(cells: list[TextCell]) -> None:
    """Every name once; every solution with one test below it, every test with its solution."""
    seen: dict[str, TextCell] = {}
    for cell in cells:
        if cell.kind == "plain":
            continue
        if cell.grade_id in seen:
            first = seen[cell.grade_id]
            raise cell.error(
                f"the {cell.kind} cell {cell.name} is the second of this name, "
                f"after line {first.line}",
                "Rename one of them",
            )
        if cell.kind == "test" and cell.name not in seen:
            raise cell.error(
                f"the test of {cell.name} has no solution cell above it",
                f'Write one above it: # %% solution="{cell.name}"',
            )
        seen[cell.grade_id] = cell
    for cell in cells:
        if cell.kind == "solution" and f"test_{cell.name}" not in seen:
            raise cell.error(
                f"the solution of {cell.name} has no test cell",
                f'Write one below it: # %% test="{cell.name}" points=3',
            )


# ------------------------------------------------------------------------------ to the notebook


def _cell_ids(cells: list[TextCell]) -> Iterator[str]:
    """One id a cell: its grade_id, else the slug of the nearest heading above and a counter.

    A name has no hyphen and the others always have one, so that the two are never the same.
    """
    slug = "top"
    used: Counter[str] = Counter()
    for cell in cells:
        slug = _heading_slug(cell) or slug
        if cell.kind != "plain":
            yield cell.grade_id
            continue
        used[slug] += 1
        yield f"{slug}-{used[slug]}"


def _heading_slug(cell: TextCell) -> str:
    """The heading that a markdown cell begins with, as letters, digits and hyphens, or ""."""
    first = cell.source.split("\n", 1)[0]
    if cell.cell_type != "markdown" or not re.match(r"#{1,6} ", first):
        return ""
    plain = unicodedata.normalize("NFKD", first).encode("ascii", "ignore").decode().lower()
    # Room is left for a hyphen and the counter: what stands before an id's last hyphen is the slug.
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[: MAX_ID - 10].strip("-")


def _build_cell(cell: TextCell, cell_id: str) -> NotebookNode:
    metadata = {"nbgrader": _nbgrader(cell)} if cell.kind != "plain" else {}
    if cell.options.get("tags"):
        metadata["tags"] = cell.options["tags"]
    source = f"{cell.source}\n{HIDDEN_TESTS}" if cell.kind == "test" else cell.source
    new_cell = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return new_cell(source, id=cell_id, metadata=metadata)


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
