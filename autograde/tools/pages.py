"""The chapters as web pages: the release, with the outputs of the executed solution.

The cells are the release's, so that no page shows an answer, and the figures are those of right
answers. The text that a prediction reveals is folded away.
"""

import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograde.build.colab import CELL_ID
from autograde.build.looks import STOPPED
from autograde.course import ROOT, AuthorError, Chapter
from autograde.report.offline import is_folded

_PAGE_NOTE = """
```{{note}}
This is a page to read; its pictures are those of right answers. To do the exercises, take the
<a href="../_static/notebooks/{chapter}.ipynb" download>notebook</a>:
[how to run it](../try.md).
```

**After this chapter you can**

{objectives}
"""
OBJECTIVES = ROOT / "docs" / "objectives.toml"
# A page shows the first of an output's formats in this order. Live widgets are not among them,
# since a page has no kernel to serve them.
DISPLAY_PRIORITY = (
    "text/html", "text/markdown", "image/svg+xml", "text/latex",
    "image/png", "image/jpeg", "text/plain",
)  # fmt: skip
REVEALS = re.compile(r"^\s*lesson\.reveal\w*\(", re.MULTILINE)
CHECK = re.compile(r"^# Check of ")  # its output is about an answer
OWN_CODE = re.compile(r"\(globals\(\)\)")  # its output lists the reader's functions


def chapter_page(chapter: str, executed: Path) -> NotebookNode:
    """The page of a chapter; `executed` is the path of its executed solution."""
    release = nbformat.read(Chapter(chapter).release, as_version=4)
    solution = nbformat.read(executed, as_version=4)
    pairs = zip(release.cells, solution.cells, strict=True)
    cells = [_page_cell(cell, solved) for cell, solved in pairs if cell.id != CELL_ID]
    title, rest = cells[0].source.split("\n", 1)
    head = _PAGE_NOTE.format(chapter=chapter, objectives=_objectives(chapter))
    cells[0].source = f"{title}\n{head}{rest}"
    cells[-1].source = cells[-1].source.removesuffix(STOPPED)  # nothing is run on a page
    return nbformat.v4.new_notebook(cells=cells, metadata=release.metadata)


def _objectives(chapter: str) -> str:
    """The list of what a reader can do after the chapter; AuthorError if there is none."""
    listed = tomllib.loads(OBJECTIVES.read_text(encoding="utf-8"))
    if chapter not in listed:
        raise AuthorError(f"{OBJECTIVES.name} has no line for {chapter}: add two or three there")
    return "\n".join(f"- {each}" for each in listed[chapter])


def _page_cell(released: NotebookNode, solved: NotebookNode) -> NotebookNode:
    """A cell of the release with the outputs of the solution, except those that show an answer."""
    cell = deepcopy(released)
    is_check = cell.metadata.get("nbgrader", {}).get("grade")
    folded = is_folded(cell)
    cell.metadata = nbformat.NotebookNode()
    if cell.cell_type == "code":
        shows_answer = is_check or OWN_CODE.search(cell.source)
        cell.outputs = [] if shows_answer else [_page_output(output) for output in solved.outputs]
        cell.execution_count = None
        if tags := list(_tags(cell, folded)):
            cell.metadata.tags = tags
    return cell


def _tags(cell: NotebookNode, folded: bool) -> Iterator[str]:
    """MyST-NB's tags for a cell: parts to remove, or to show on a click."""
    if folded:
        yield "remove-input" if cell.outputs else "remove-cell"
    if CHECK.search(cell.source):
        yield "remove-cell"
    if REVEALS.search(cell.source):
        yield "hide-output"


def _page_output(output: NotebookNode) -> NotebookNode:
    """The output in its best format for a page without a kernel."""
    output = deepcopy(output)
    if "data" in output:
        best = next((name for name in DISPLAY_PRIORITY if output.data.get(name)), None)
        output.data = {best: output.data[best]} if best else {}
    return output
