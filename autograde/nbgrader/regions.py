"""The two kinds of marked region in a cell: solutions and hidden tests."""

from copy import deepcopy

from nbformat.notebooknode import NotebookNode

from autograde.hidden.material import BEGIN_SOLUTION, END_SOLUTION, without_marks

HIDDEN_TESTS = (
    "### BEGIN HIDDEN TESTS\n"
    'raise RuntimeError("graded only with the repository\'s nbgrader_config.py")\n'
    "### END HIDDEN TESTS"
)

# What nbgrader looks for: any line that holds one of these words, wherever they stand in it.
SOLUTION_WORDS = ("BEGIN SOLUTION", "END SOLUTION")
HIDDEN_WORDS = ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")


def split_at_region(source: str) -> tuple[list[str], list[str], list[str]]:
    """The lines before, in and after the solution region; the marker lines are in none of them.

    A source without a region is all "before".
    """
    lines = source.split("\n")
    stripped = [line.strip() for line in lines]
    if BEGIN_SOLUTION not in stripped:
        return lines, [], []
    begin, end = stripped.index(BEGIN_SOLUTION), stripped.index(END_SOLUTION)
    return lines[:begin], lines[begin + 1 : end], lines[end + 1 :]


def code_lines(lines: list[str]) -> list[str]:
    """The lines that are neither blank nor a comment alone."""
    return [line for line in lines if line.strip() and not line.strip().startswith("#")]


def without_hidden(source: str) -> str:
    """The source less its hidden region, as nbgrader's ClearHiddenTests leaves it."""
    return source.replace(f"\n{HIDDEN_TESTS}", "")


def solution_view(notebook: NotebookNode) -> NotebookNode:
    """A copy of a source notebook less its hidden regions and the solutions' marker lines.

    The answers stay: this is the notebook that its author reads, and that runs from top to bottom.
    """
    view = deepcopy(notebook)
    for cell in view.cells:
        if cell.cell_type == "code":
            cell.source = without_marks(without_hidden(cell.source))
    return view
