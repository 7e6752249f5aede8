"""The chapter as its author reads it: solutions shown, nothing hidden."""

from copy import deepcopy

from nbformat.notebooknode import NotebookNode

from autograde.nbgrader.regions import BEGIN_SOLUTION, END_SOLUTION, without_hidden


def solution_view(notebook: NotebookNode) -> NotebookNode:
    """A copy of the source notebook less its hidden regions and the solutions' marker lines.

    The answers stay, so this is the notebook that runs from top to bottom.
    """
    view = deepcopy(notebook)
    for cell in view.cells:
        if cell.cell_type == "code":
            cell.source = _without_markers(without_hidden(cell.source))
    return view


def _without_markers(source: str) -> str:
    markers = (BEGIN_SOLUTION, END_SOLUTION)
    return "\n".join(line for line in source.split("\n") if line.strip() not in markers)
