"""The leak check: the build stops if a release holds an answer."""

from collections.abc import Iterator

from nbformat.notebooknode import NotebookNode
from nbgrader import utils

from autograde.nbgrader.regions import code_lines, split_at_region

# A run of this many lines of an answer occurs nowhere else in a chapter by chance. Nor does an
# answer of one line, if it has this many characters.
_RUN_LENGTH = 3
_LONG_LINE = 24


def find_leaks(source: NotebookNode, release: NotebookNode) -> Iterator[str]:
    """Each run of lines of a solution or of a model answer in `source` that the release holds.

    The whole release is searched, whichever cell the text came from. One line of a longer
    answer is allowed.
    """
    lines = [line for cell in release.cells for line in cell.source.split("\n")]
    released = "\n".join(["", *_stripped_code(lines), ""])
    for cell in filter(utils.is_solution, source.cells):
        for run in _runs(_answer_lines(cell)):
            if "\n".join(["", *run, ""]) in released and _gives_away(run, cell):
                answer = " / ".join(run)
                problem = f"cell {cell.id}: the release holds its answer: {answer}"
                yield f"{problem}. Take these lines out of the text"


def _stripped_code(lines: list[str]) -> list[str]:
    return [line.strip() for line in code_lines(lines)]


def _answer_lines(cell: NotebookNode) -> list[str]:
    """The lines of a solution cell that the release must not hold."""
    if cell.cell_type == "markdown":
        return _stripped_code(cell.source.split("\n"))
    return _stripped_code(split_at_region(cell.source)[1])


def _runs(lines: list[str]) -> list[list[str]]:
    """Every run of `_RUN_LENGTH` lines, or all lines if they are fewer."""
    starts = range(max(len(lines) - _RUN_LENGTH, 0) + 1)
    return [lines[start : start + _RUN_LENGTH] for start in starts]


def _gives_away(run: list[str], cell: NotebookNode) -> bool:
    """Whether these lines of an answer are too many or too long to occur by chance."""
    text = "\n".join(run)
    assigns = text.startswith(f"{cell.metadata.nbgrader.grade_id} =")
    return len(run) > 1 or assigns or len(text) >= _LONG_LINE
