"""The chapters as pages: what students get, with what the solutions print and draw.

A page is the release, so that no answer stands on it. Under its cells are the outputs of the
executed solutions, so that the figures are the right ones. What a prediction reveals is folded
away.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograde.build.looks import STOPPED
from autograde.course import Chapter
from autograde.report.offline import is_folded

NOTE = """
```{{note}}
This is a page to read; its pictures are those of right answers. To do the exercises, take the
<a href="../_static/notebooks/{chapter}.ipynb" download>notebook</a>:
[how to run it](../try.md).
```
"""
# Of an output in several forms a page shows the first of these. The live widget is none of them:
# a page has no kernel that could serve one.
DISPLAY_PRIORITY = [
    "text/html",
    *("text/markdown", "image/svg+xml", "text/latex", "image/png", "image/jpeg", "text/plain"),
]
REVEALS = re.compile(r"^\s*lesson\.reveal\w*\(", re.MULTILINE)
CHECK = re.compile(r"^# Check of ")  # its message needs an answer


def page(chapter: str, executed: Path) -> NotebookNode:
    """The page of a chapter; `executed` is its executed solution."""
    release = nbformat.read(Chapter(chapter).release, as_version=4)
    solved = nbformat.read(executed, as_version=4)
    pairs = zip(release.cells, solved.cells, strict=True)
    cells = [_cell(given, done) for given, done in pairs if given.id != "colab"]
    title, rest = cells[0].source.split("\n", 1)
    cells[0].source = f"{title}\n{NOTE.format(chapter=chapter)}{rest}"
    cells[-1].source = cells[-1].source.removesuffix(STOPPED)  # nothing is run on a page
    return nbformat.v4.new_notebook(cells=cells, metadata=release.metadata)


def _cell(given: NotebookNode, done: NotebookNode) -> NotebookNode:
    """A cell of the release, with the outputs of the solution unless they would tell an answer."""
    cell = deepcopy(given)
    silent = cell.metadata.get("nbgrader", {}).get("grade")
    folded, cell.metadata = is_folded(cell), nbformat.NotebookNode()
    if cell.cell_type == "code":
        cell.outputs = [] if silent else [_as_page(output) for output in done.outputs]
        cell.execution_count = None
        if tags := list(_tags(cell, folded)):
            cell.metadata.tags = tags
    return cell


def _tags(cell: NotebookNode, folded: bool) -> Iterator[str]:
    """What MyST-NB is to leave out, or to open on a click only."""
    if folded:
        yield "remove-input" if cell.outputs else "remove-cell"
    if CHECK.search(cell.source):
        yield "remove-cell"
    if REVEALS.search(cell.source):
        yield "hide-output"


def _as_page(output: NotebookNode) -> NotebookNode:
    """The output in the one form that a page without a kernel shows best."""
    output = deepcopy(output)
    if "data" in output:
        best = next((kind for kind in DISPLAY_PRIORITY if output.data.get(kind)), None)
        output.data = {best: output.data[best]} if best else {}
    return output
