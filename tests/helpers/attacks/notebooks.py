"""Attacks on the notebook as a file: metadata, outputs, attachments and cells of the grader's."""

from collections.abc import Callable

import nbformat
from nbformat import NotebookNode

Change = Callable[[NotebookNode], None]


def _grade_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]


def more_points(notebook: NotebookNode) -> None:
    """Every grade cell is worth a thousand."""
    for cell in _grade_cells(notebook):
        cell.metadata.nbgrader.points = 1000


def own_grade_cell(notebook: NotebookNode) -> None:
    """A grade cell of the student's own."""
    cell = nbformat.v4.new_code_cell("22.0")
    cell.metadata["nbgrader"] = {
        "grade": True, "solution": False, "locked": False, "task": False, "schema_version": 3,
        "grade_id": "mine", "points": 22, "cell_type": "code",
    }  # fmt: skip
    notebook.cells.append(cell)


def emptied_grade_cells(notebook: NotebookNode) -> None:
    """Every grade cell says that all is well."""
    for cell in _grade_cells(notebook):
        cell.source = "22.0"


def unlocked(notebook: NotebookNode) -> None:
    """Grade cells become solution cells."""
    for cell in _grade_cells(notebook):
        cell.metadata.nbgrader.update(solution=True, grade=False, locked=False)
        cell.source = "raise SystemExit"


def marks_as_outputs(notebook: NotebookNode) -> None:
    """The marks stand in the outputs already."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            data = {"text/plain": "22.0"}
            cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]


def twice(notebook: NotebookNode) -> None:
    """Every grade cell twice, the copy with other text."""
    for cell in _grade_cells(notebook):
        copy = nbformat.from_dict(dict(cell))
        copy["source"], copy["id"] = "22.0", cell.id + "x"
        notebook.cells.append(copy)


def without_grade_cells(notebook: NotebookNode) -> None:
    """No grade cell is left."""
    graded = _grade_cells(notebook)
    notebook.cells = [cell for cell in notebook.cells if cell not in graded]


def attachments(notebook: NotebookNode) -> None:
    """Attachments with names that lead elsewhere."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell["attachments"] = {"../../../gradebook.db": {"image/png": "AAAA"}}


def odd_metadata(notebook: NotebookNode) -> None:
    """Metadata of types that nobody expects."""
    notebook.metadata = {"kernelspec": {"name": "../../evil", "language": []}, "celltoolbar": 3}
    for cell in notebook.cells:
        cell.metadata["tags"] = {"demo": "demo"}
        cell.metadata["execution"] = [[[]]]


def all_demonstrations(notebook: NotebookNode) -> None:
    """Every cell claims to be a demonstration, which grading leaves out."""
    for cell in notebook.cells:
        cell.metadata["tags"] = ["demo", "remove-cell", "skip-execution"]


CHANGES: list[Change] = [
    *(more_points, own_grade_cell, emptied_grade_cells, unlocked, marks_as_outputs, twice),
    *(without_grade_cells, attachments, odd_metadata, all_demonstrations),
]
