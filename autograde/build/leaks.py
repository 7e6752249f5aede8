"""No answer stands in what students get, or the build stops."""

from collections.abc import Iterator

from nbformat.notebooknode import NotebookNode
from nbgrader import utils

from autograde.nbgrader.regions import code_lines, split_at_region

# So many lines of an answer in a row do not stand in the rest of a chapter by chance. Neither does
# one line of this many characters, if the answer is that line alone.
RUN = 3
TELLING_LENGTH = 24


def leaks(source: NotebookNode, release: NotebookNode) -> Iterator[str]:
    """Text of a solution or of a model answer in `source` that stands in the release.

    The whole release is searched, whichever cell the text came from. Three lines in a row give a
    solution away; single lines may stand there.
    """
    lines = [line for cell in release.cells for line in cell.source.split("\n")]
    shown = "\n".join(["", *_bare(lines), ""])
    for cell in filter(utils.is_solution, source.cells):
        for run in _runs(_secret_lines(cell)):
            if "\n".join(["", *run, ""]) in shown and _is_telling(run, cell):
                yield f"cell {cell.id}: the release holds its answer: {' / '.join(run)}"


def _bare(lines: list[str]) -> list[str]:
    return [line.strip() for line in code_lines(lines)]


def _secret_lines(cell: NotebookNode) -> list[str]:
    """The lines of a solution cell that no student is to read."""
    if cell.cell_type == "markdown":
        return _bare(cell.source.split("\n"))
    return _bare(split_at_region(cell.source)[1])


def _runs(lines: list[str]) -> list[list[str]]:
    """Every three lines in a row, or all lines if they are fewer."""
    return [lines[start : start + RUN] for start in range(max(len(lines) - RUN, 0) + 1)]


def _is_telling(run: list[str], cell: NotebookNode) -> bool:
    """Whether these lines of an answer do not stand anywhere by chance."""
    text = "\n".join(run)
    assigns = text.startswith(f"{cell.metadata.nbgrader.grade_id} =")
    return len(run) > 1 or assigns or len(text) >= TELLING_LENGTH
