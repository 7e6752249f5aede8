"""What must hold between a source notebook and its release, or the build stops."""

import ast
from collections.abc import Iterator
from textwrap import indent

from nbformat.notebooknode import NotebookNode
from nbgrader import utils

from autograde.nbgrader.regions import (
    HIDDEN_TESTS,
    HIDDEN_WORDS,
    SOLUTION_WORDS,
    code_lines,
    split_at_region,
    without_hidden,
)
from autograde.nbgrader.stubs import stub

# So many lines of an answer in a row do not stand in the rest of a chapter by chance. Neither does
# one line of this many characters, if the answer is that line alone.
RUN = 3
TELLING_LENGTH = 24


def problems(source: NotebookNode, release: NotebookNode) -> list[str]:
    """All that is wrong with `release`, the student's notebook made from `source`."""
    return [*differences(source, release), *leaks(source, release), *broken_cells(release)]


def differences(source: NotebookNode, release: NotebookNode) -> list[str]:
    """The cells of the release that are not, line for line, the source less solution regions."""
    if [cell.id for cell in source.cells] != [cell.id for cell in release.cells]:
        return ["the release does not have the cells of the source"]
    return [
        f"cell {theirs.id}: the release is not the source less its solution region"
        for ours, theirs in zip(source.cells, release.cells, strict=True)
        if theirs.source != _expected(ours)
    ]


def _expected(cell: NotebookNode) -> str:
    """What a student should see of a source cell."""
    if cell.cell_type == "markdown":
        return "YOUR ANSWER HERE" if utils.is_solution(cell) else cell.source
    before, answer, after = split_at_region(cell.source)
    if not answer:
        return without_hidden(cell.source)
    marker = next(line for line in cell.source.split("\n") if SOLUTION_WORDS[0] in line)
    lines = indent(stub(cell.metadata.nbgrader.grade_id, cell.source), marker.partition("#")[0])
    return "\n".join([*before, lines, *after])


def leaks(source: NotebookNode, release: NotebookNode) -> Iterator[str]:
    """Text of a solution, of a model answer or of a hidden region that stands in the release.

    The whole release is searched, whichever cell the text came from. Three lines in a row give a
    solution away; single lines may stand there, as in a puzzle that shuffles them.
    """
    lines = [line for cell in release.cells for line in cell.source.split("\n")]
    shown = "\n".join(["", *_bare(lines), ""])
    for word in (*SOLUTION_WORDS, *HIDDEN_WORDS, HIDDEN_TESTS.split("\n")[1]):
        if word in "\n".join(lines):
            yield f"the release holds `{word}`"
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


def broken_cells(release: NotebookNode) -> Iterator[str]:
    """Cells that do not parse once the region is replaced."""
    for cell in release.cells:
        try:
            ast.parse(cell.source if cell.cell_type == "code" else "")
        except SyntaxError:
            yield f"cell {cell.id}: does not parse; let the region hold whole statements"
