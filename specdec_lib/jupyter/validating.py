"""nbgrader's Validate on a notebook in which several cells have one nbgrader id.

JupyterLab makes such cells: a split, a copy and a paste take the id along. Grading runs all, as
Jupyter does. nbgrader 0.9.6 stops there, "the nbgrader metadata may be corrupted", and no setting
changes that (`Validator.preprocessors` is none).
"""

from collections import defaultdict
from html import escape

from nbformat import NotebookNode
from nbgrader.validator import Validator

NOTE = """\
Cells {numbers} have one nbgrader id, {grade_id}:
{cells}
Grading runs them in this order, as Jupyter does: the last one that defines
the name counts. Delete the cells that you do not need."""

_validate, _preprocess = Validator.validate, Validator._preprocess


def allow_copies() -> None:
    """Have Validate, the button and the command, run all copies of a cell and name them."""
    Validator.validate, Validator._preprocess = _validate_and_name, _run_copies


def _run_copies(self: Validator, nb: NotebookNode) -> NotebookNode:
    """nbgrader's run, with its metadata left in the last copy of each cell alone."""
    self.notes = []
    for grade_id, numbers in _copies(nb).items():
        note = _note(nb, grade_id, numbers)
        self.log.warning(note)
        self.notes.append(note)
        for number in numbers[:-1]:
            del nb.cells[number].metadata["nbgrader"]
    return _preprocess(self, nb)


def _copies(nb: NotebookNode) -> dict[str, list[int]]:
    """The positions of the cells of each id that several cells have."""
    places = defaultdict(list)
    for number, cell in enumerate(nb.cells):
        if grade_id := cell.metadata.get("nbgrader", {}).get("grade_id"):
            places[grade_id].append(number)
    return {grade_id: numbers for grade_id, numbers in places.items() if numbers[1:]}


def _note(nb: NotebookNode, grade_id: str, numbers: list[int]) -> str:
    """What is said of the cells at `numbers`: each with its place, from 1, and its first line."""
    lines = [
        f"  cell {n + 1}: {nb.cells[n].source.strip().split(chr(10))[0][:60]}" for n in numbers
    ]
    called = " and ".join([", ".join(str(n + 1) for n in numbers[:-1]), str(numbers[-1] + 1)])
    return NOTE.format(numbers=called, grade_id=grade_id, cells="\n".join(lines))


def _validate_and_name(self: Validator, filename: str) -> dict:
    """nbgrader's result; the first check that fails also names the copies, a likely reason."""
    results = _validate(self, filename)
    for failed in results.get("failed", [])[:1]:
        failed["error"] = "\n\n".join([failed["error"], *map(escape, self.notes)])  # HTML
        failed["raw_error"] = "\n\n".join([failed["raw_error"], *self.notes])
    return results
