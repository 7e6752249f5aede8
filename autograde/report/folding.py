"""Fold a feedback page: right answers, and the chapter's own text and demos, are folded away.

Wrong answers with the code that defines them, and answers with a comment or in writing, stay open.
"""

from itertools import groupby

from nbformat import NotebookNode

from autograde.intake.submission import bound_names

SUMMARY_ID = "result"  # of the first cell, with the result
_OPEN_PREFIXES = ("intake-", "course-")  # of the ids of other cells that stay open


def fold(nb: NotebookNode) -> None:
    """Reorder the cells, and mark in their metadata where a fold begins, with a title, and ends."""
    nb.cells = _marks_below_answers(nb.cells)
    wrong = {_exercise_of(cell) for cell in nb.cells if _needs_attention(cell)}
    for is_open, run in groupby(nb.cells, lambda cell: _is_open(cell, wrong)):
        cells = list(run)
        if not is_open:
            names = ", ".join(dict.fromkeys(filter(None, map(_exercise_of, cells))))
            cells[0].metadata["fold_begins"] = f"Right: {names}" if names else "The chapter's text"
            cells[-1].metadata["fold_ends"] = True


def _marks_below_answers(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells, with every mark directly below its answer; cells between them come after."""
    positions: dict[str, int] = {}
    for position, cell in enumerate(cells):
        positions.setdefault(_exercise_of(cell) or cell.id, position)
    marks = {cell.id for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")}
    return sorted(cells, key=lambda c: (positions[_exercise_of(c) or c.id], c.id in marks))


def _is_open(cell: NotebookNode, wrong: set[str]) -> bool:
    if cell.id == SUMMARY_ID or cell.id.startswith(_OPEN_PREFIXES):
        return True
    if name := _exercise_of(cell):
        return name in wrong or cell.cell_type == "markdown"
    defines_wrong = cell.cell_type == "code" and bound_names(cell.source) & wrong
    return bool(defines_wrong) or any(o.output_type == "error" for o in cell.get("outputs", ()))


def _exercise_of(cell: NotebookNode) -> str:
    """The exercise of an answer or of a mark; "" for every other cell."""
    nbgrader = cell.metadata.get("nbgrader", {})
    if nbgrader.get("grade") or nbgrader.get("solution"):
        return nbgrader.get("grade_id", "").removeprefix("test_")
    return ""


def _needs_attention(cell: NotebookNode) -> bool:
    """Whether a cell lost points or has a comment."""
    nbgrader = cell.metadata.get("nbgrader", {})
    lost = nbgrader.get("grade") and nbgrader.get("score", 0) < nbgrader.get("points", 0)
    return bool(lost or nbgrader.get("comment"))
