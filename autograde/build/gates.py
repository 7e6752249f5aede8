"""What must hold between a source notebook and its release, or the build stops."""

import ast
from collections.abc import Iterator

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
    indent = _indent(cell.source)
    lines = stub(cell.metadata.nbgrader.grade_id, cell.source).split("\n")
    return "\n".join([*before, *(indent + line for line in lines), *after])


def _indent(source: str) -> str:
    marker = next(line for line in source.split("\n") if SOLUTION_WORDS[0] in line)
    return marker[: len(marker) - len(marker.lstrip())]


def leaks(source: NotebookNode, release: NotebookNode) -> list[str]:
    """Text of a solution, of a model answer or of a hidden region that stands in the release.

    The whole release is searched, whichever cell the text came from. Three lines in a row give a
    solution away; single lines may stand there, as in a puzzle that shuffles them.
    """
    lines = [line for cell in release.cells for line in cell.source.split("\n")]
    words = (*SOLUTION_WORDS, *HIDDEN_WORDS, HIDDEN_TESTS.split("\n")[1])
    shown = [word for word in words if any(word in line for line in lines)]
    problems = [f"the release holds `{word}`" for word in shown]
    bare = _bare(lines)
    runs = {length: set(_runs(bare, length)) for length in range(1, RUN + 1)}
    for cell in source.cells:
        secret = _secret_lines(cell)
        length = min(RUN, len(secret))
        problems += [
            f"cell {cell.id}: the release holds its answer: {' / '.join(run)}"
            for run in (_runs(secret, length) if secret else ())
            if run in runs[length] and (length > 1 or _is_telling(run[0], cell))
        ]
    return problems


def _bare(lines: list[str]) -> list[str]:
    return [line.strip() for line in code_lines(lines)]


def _runs(lines: list[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(lines[start:] for start in range(length)), strict=False)


def _secret_lines(cell: NotebookNode) -> list[str]:
    """The lines that no student is to read."""
    if not utils.is_solution(cell):
        return []
    if cell.cell_type == "markdown":
        return _bare(cell.source.split("\n"))
    return _bare(split_at_region(cell.source)[1])


def _is_telling(line: str, cell: NotebookNode) -> bool:
    assigns_answer = line.startswith(f"{cell.metadata.nbgrader.grade_id} =")
    return len(line) >= TELLING_LENGTH or assigns_answer


def broken_cells(release: NotebookNode) -> list[str]:
    """Cells that do not parse once the region is replaced, and grade cells that can be edited."""
    problems = []
    for cell in release.cells:
        if cell.cell_type == "code" and not _parses(cell.source):
            problems.append(f"cell {cell.id}: does not parse; let the region hold whole statements")
        if utils.is_locked(cell) and cell.metadata.get("editable", True):
            problems.append(f"cell {cell.id}: the grade cell can be edited")
    return problems


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True
