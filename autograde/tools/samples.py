"""The five students of `make course`, made from the release and the solution: none is stored."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde.course import notebook_path
from autograde.hidden.causes import bugs_of
from autograde.hidden.material import material_of
from autograde.intake.files import write_if_changed
from autograde.intake.submission import is_answer, release_of

Answers = dict[str, str]  # the source of an answer cell, by the cell's name


def fill_answers(release: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """A copy of the release with `answers`, by name, in place of the stubs."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        if is_answer(cell) and cell.metadata.nbgrader.grade_id in answers:
            cell.source = answers[cell.metadata.nbgrader.grade_id]
    return notebook


def functions_of(chapter: str) -> list[str]:
    """The graded functions of a chapter, in its order."""
    material = material_of(chapter)
    return [name for name in material.parameters if name in material.points]


def _right(chapter: str) -> Answers:
    """All answers of the solution."""
    return material_of(chapter).answers


def _half(chapter: str) -> Answers:
    """The first half of the solution's answers; the other cells are those of the release."""
    answers = list(material_of(chapter).answers.items())
    return dict(answers[: len(answers) // 2])


def _blank(chapter: str) -> Answers:
    """No answer at all."""
    return {}


def _misconceived(chapter: str) -> Answers:
    """The first known bug of every function; the rest is right."""
    answers = {bug.exercise: bug.code for bug in reversed(bugs_of(chapter))}
    return material_of(chapter).answers | answers


def _crashing(chapter: str) -> Answers:
    """The solution's answers, and one function that ends the process."""
    return material_of(chapter).answers | {functions_of(chapter)[0]: "import os\nos._exit(0)"}


STUDENTS: dict[str, Callable[[str], Answers]] = {
    "ada-right": _right,
    "ben-half": _half,
    "cleo-misconceived": _misconceived,
    "dan-blank": _blank,
    "eve-crashing": _crashing,
}


def sample_notebook(student: str, chapter: str) -> NotebookNode:
    """The submission of one of `STUDENTS`."""
    return fill_answers(release_of(chapter), STUDENTS[student](chapter))


def write_students(submitted: Path, chapters: list[str], copies: int = 1) -> None:
    """Write the notebooks of `STUDENTS` below `submitted`, in nbgrader's layout.

    Every further copy has one more cell of its own, so that it is graded for itself.
    """
    for student in STUDENTS:
        for chapter in chapters:
            notebook = sample_notebook(student, chapter)
            for number in range(1, copies + 1):
                name = student if number == 1 else f"{student}-{number}"
                text = nbformat.writes(notebook).encode()
                write_if_changed(notebook_path(submitted / name, chapter), text)
                own = nbformat.v4.new_code_cell(f"# copy {number + 1}", id=f"copy-{number + 1}")
                notebook.cells.append(own)
