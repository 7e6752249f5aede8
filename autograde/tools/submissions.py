"""Making a submission from the release: put answers into its cells, change nothing else."""

import copy
from collections.abc import Mapping
from functools import cache

import nbformat
from nbformat import NotebookNode

from autograde.chapter import Chapter
from autograde.nbgrader.regions import solution_view
from autograde.submission import is_answer


@cache
def solutions_of(chapter: str) -> dict[str, str]:
    """The right answer of every cell that a student writes in, by its name."""
    source = nbformat.read(Chapter(chapter).solution, as_version=4)
    cells = solution_view(source).cells
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in cells if is_answer(cell)}


def filled(release: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """A copy of the release with `answers`, by name, in place of the stubs."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        if is_answer(cell) and cell.metadata.nbgrader.grade_id in answers:
            cell.source = answers[cell.metadata.nbgrader.grade_id]
    return notebook
