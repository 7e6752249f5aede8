"""The two kinds of marked region in a cell: solutions and hidden tests."""

from copy import deepcopy

from nbformat.notebooknode import NotebookNode

from autograde.hidden.material import BEGIN_SOLUTION, END_SOLUTION, without_marks

HIDDEN_TESTS = (
    "### BEGIN HIDDEN TESTS\n"
    'raise RuntimeError("graded only with the repository\'s nbgrader_config.py")\n'
    "### END HIDDEN TESTS"
)

# nbgrader's markers: any line that contains one of these.
SOLUTION_WORDS = ("BEGIN SOLUTION", "END SOLUTION")
HIDDEN_WORDS = ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")


def split_at_region(source: str) -> tuple[list[str], list[str], list[str]]:
    """The lines before, in and after the solution region, without the marker lines.

    If there is no region, all lines are in the first list.
    """
    lines = source.split("\n")
    stripped = [line.strip() for line in lines]
    if BEGIN_SOLUTION not in stripped:
        return lines, [], []
    begin, end = stripped.index(BEGIN_SOLUTION), stripped.index(END_SOLUTION)
    return lines[:begin], lines[begin + 1 : end], lines[end + 1 :]


def code_lines(lines: list[str]) -> list[str]:
    """The lines that are neither blank nor only a comment."""
    return [line for line in lines if line.strip() and not line.strip().startswith("#")]


def without_hidden(source: str) -> str:
    """The source without its hidden region, as after nbgrader's ClearHiddenTests."""
    return source.replace(f"\n{HIDDEN_TESTS}", "")


def solution_view(notebook: NotebookNode) -> NotebookNode:
    """A copy of a source notebook without hidden regions and the solutions' marker lines.

    The answers stay: its author can read it, and it runs from top to bottom.
    """
    view = deepcopy(notebook)
    for cell in view.cells:
        if cell.cell_type == "code":
            cell.source = without_marks(without_hidden(cell.source))
    return view
