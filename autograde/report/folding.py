"""What a feedback page folds away: all that is right, and the chapter's own text and demos.

Open stay what is not right with all code that defines it, what somebody wrote about an answer, and
the written answers.
"""

from itertools import groupby

from nbformat import NotebookNode

from autograde.intake.binding import bound_names

SUMMARY = "result"  # the id of the cell about the whole
OPEN = ("intake-", "course-")  # how the ids of other cells begin that are for all


def fold(nb: NotebookNode) -> None:
    """Mark in each cell's metadata where a folded run of cells begins, with a line, and ends."""
    nb.cells = _together(nb.cells)
    wrong = {_name(cell) for cell in nb.cells if _needs_a_look(cell)}
    for is_open, run in groupby(nb.cells, lambda cell: _is_open(cell, wrong)):
        cells = list(run)
        if not is_open:
            right = ", ".join(dict.fromkeys(filter(None, map(_name, cells))))
            cells[0].metadata["fold_begins"] = f"Right: {right}" if right else "The chapter's text"
            cells[-1].metadata["fold_ends"] = True


def _together(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells, with every mark right below its answer; what stood between them comes after."""
    places: dict[str, int] = {}
    for place, cell in enumerate(cells):
        places.setdefault(_name(cell) or cell.id, place)
    marks = {cell.id for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")}
    return sorted(cells, key=lambda cell: (places[_name(cell) or cell.id], cell.id in marks))


def _is_open(cell: NotebookNode, wrong: set[str]) -> bool:
    if cell.id == SUMMARY or cell.id.startswith(OPEN):
        return True
    if _name(cell):
        return _name(cell) in wrong or cell.cell_type == "markdown"
    defines = bound_names(cell.source) & wrong if cell.cell_type == "code" else ()
    return bool(defines) or any(o.output_type == "error" for o in cell.get("outputs", ()))


def _name(cell: NotebookNode) -> str:
    """The exercise that an answer or its mark belongs to; "" for every other cell."""
    nbgrader = cell.metadata.get("nbgrader", {})
    if nbgrader.get("grade") or nbgrader.get("solution"):
        return nbgrader.get("grade_id", "").removeprefix("test_")
    return ""


def _needs_a_look(cell: NotebookNode) -> bool:
    """Whether a cell lost points, or somebody wrote a comment to it."""
    nbgrader = cell.metadata.get("nbgrader", {})
    lost = nbgrader.get("grade") and nbgrader.get("score", 0) < nbgrader.get("points", 0)
    return bool(lost or nbgrader.get("comment"))
