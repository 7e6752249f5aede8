"""nbgrader's Validate on a notebook in which several cells have one nbgrader id.

A split, a copy and a paste take the id along in JupyterLab. Grading runs all these cells, as
Jupyter does. nbgrader 0.9.6 stops there, "the nbgrader metadata may be corrupted", and has no
setting for it.
"""

from collections import defaultdict
from html import escape

from nbformat import NotebookNode
from nbgrader.validator import Validator

COPIES_NOTE = """\
These cells have one nbgrader id, {name}:
{cells}
Grading runs them in this order, as Jupyter does: the last one that defines
the name counts. Delete the cells that you do not need."""

_validate, _preprocess = Validator.validate, Validator._preprocess


def allow_copies() -> None:
    """Have Validate, the button and the command, run all copies of a cell and name them."""
    Validator.validate, Validator._preprocess = _validate_and_name, _run_copies


def _run_copies(self: Validator, nb: NotebookNode) -> NotebookNode:
    """nbgrader's run, with its metadata left in the last copy of each cell alone."""
    cells_by_id = defaultdict(list)
    for number, cell in enumerate(nb.cells, 1):
        cells_by_id[cell.metadata.get("nbgrader", {}).get("grade_id")].append((number, cell))
    copies = {name: cells for name, cells in cells_by_id.items() if name and len(cells) > 1}
    self.notes = [_note(name, cells) for name, cells in copies.items()]
    for note in self.notes:
        self.log.warning(note)
    for cell in [cell for cells in copies.values() for _, cell in cells[:-1]]:
        del cell.metadata["nbgrader"]
    return _preprocess(self, nb)


def _note(name: str, cells: list[tuple[int, NotebookNode]]) -> str:
    """The warning about the copies: each with its place in the notebook and its first line."""
    first_lines = [f"  cell {n}: {c.source.strip().partition(chr(10))[0][:60]}" for n, c in cells]
    return COPIES_NOTE.format(name=name, cells="\n".join(first_lines))


def _validate_and_name(self: Validator, filename: str) -> dict:
    """nbgrader's result; the first check that fails also names the copies, a likely reason."""
    results = _validate(self, filename)
    for failed in results.get("failed", [])[:1]:
        failed["error"] = "\n\n".join([failed["error"], *map(escape, self.notes)])  # HTML
        failed["raw_error"] = "\n\n".join([failed["raw_error"], *self.notes])
    return results
