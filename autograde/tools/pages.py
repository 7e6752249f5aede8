"""The chapters as pages: what students get, with what the solutions print and draw.

A page is the release, so that no answer stands on it. Under its cells are the outputs of the
executed solutions, so that the figures are the right ones. What a prediction reveals is folded
away. Before each answer stands a place, an empty element that docs/_static/answers/page.mjs fills:
an editor, a number to guess, letters to choose. Without JavaScript it is a page to read.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograde.chapter import Chapter
from autograde.report.offline import DISPLAY_PRIORITY, is_folded
from autograde.submission import is_answer
from autograde.tools.browser import REVEAL, kind_of

NOTE = """
```{{note}}
You can do this chapter here, in your browser, or in Jupyter. Here, your answers are kept in this
browser: [how that works](../try.md). In Jupyter, you begin with the
<a href="../_static/notebooks/{chapter}.ipynb" download>notebook</a>:
[how to install it](../student.md). The pictures on this page are those of right answers.
```

```{{raw}} html
<div class="own" data-chapter="{chapter}"></div>
<script type="module" src="../_static/answers/page.mjs"></script>
<noscript>Your answers need JavaScript here. Without it this is a page to read.</noscript>
```
"""
PLACE = """```{{raw}} html
<div class="own" {attributes}></div>
```
"""
TORCH = "`{name}` needs torch, which no browser has: [do it in Jupyter](../student.md)."
REVEALS = re.compile(r"^\s*lesson\.reveal\w*\(", re.MULTILINE)
CHECK = re.compile(r"^# Check of ")  # the answer's place has it
HINTS = re.compile(r"^hints\(", re.MULTILINE)  # below a solution all three hints are open


def page(chapter: str, executed: Path) -> NotebookNode:
    """The page of a chapter; `executed` is its executed solution.

    Raises ValueError if the two notebooks do not have the same cells.
    """
    release = nbformat.read(Chapter(chapter).release, as_version=4)
    solved = nbformat.read(executed, as_version=4)
    if [cell.id for cell in release.cells] != [cell.id for cell in solved.cells]:
        raise ValueError(f"{executed} has other cells than the release: run `make build solutions`")
    pairs = zip(release.cells, solved.cells, strict=True)
    kept = [(given, done) for given, done in pairs if given.id != "colab"]
    cells = [cell for given, done in kept for cell in (*_places(given, done), _cell(given, done))]
    title, rest = cells[0].source.split("\n", 1)
    cells[0].source = f"{title}\n{NOTE.format(chapter=chapter)}{rest}"
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=release.metadata)
    notebook.metadata.pop("widgets", None)
    return notebook


def _places(given: NotebookNode, done: NotebookNode) -> Iterator[NotebookNode]:
    """The places that stand before a cell, as cells of text; `data-instead` hides that cell."""
    if is_answer(given):
        name, kind = given.metadata.nbgrader.grade_id, kind_of(given)
        place = PLACE.format(attributes=f'data-answer="{name}" data-instead')
        yield nbformat.v4.new_markdown_cell(TORCH.format(name=name) if kind == "torch" else place)
    for name in REVEAL.findall(given.source):
        alone = " data-instead" if done.outputs and REVEAL.fullmatch(given.source) else ""
        place = PLACE.format(attributes=f'data-reveal="{name}"{alone}')
        yield nbformat.v4.new_markdown_cell(place)


def _cell(given: NotebookNode, done: NotebookNode) -> NotebookNode:
    """A cell of the release, with the outputs of the solution unless they would tell an answer."""
    cell = deepcopy(given)
    silent = cell.metadata.get("nbgrader", {}).get("grade") or HINTS.search(cell.source)
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
        best = next((kind for kind in DISPLAY_PRIORITY if kind in output.data), None)
        output.data = {best: output.data[best]} if best else {}
    return output
