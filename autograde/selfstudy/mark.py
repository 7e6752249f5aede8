"""Marking one notebook of one's own: the hidden tests, and the page that a class would get.

Nothing is isolated, since who runs this wrote the code.
"""

import copy
from collections.abc import Iterator

import nbformat
from nbformat import NotebookNode

from autograde.grading.grade import grade_now
from autograde.grading.result import Result
from autograde.intake.submission import is_answer, release_of, solution_of
from autograde.report.feedback_page import FeedbackPage
from autograde.report.marks import add_marks


def mark(notebook: NotebookNode, chapter: str) -> tuple[Result, str]:
    """The result of a rebuilt notebook, and its page as HTML.

    Raises RuntimeError if no process can be started.
    """
    result = grade_now(notebook, chapter)
    shown = copy.deepcopy(notebook)
    _add_points(shown, result)
    add_marks(shown, result)
    shown.cells = [each for cell in shown.cells for each in _with_course_answer(cell, chapter)]
    told = {"notebook": chapter, "score": result.score, "max_score": result.max_score}
    page, _ = FeedbackPage().from_notebook_node(shown, {"nbgrader": told | {"late_penalty": 0}})
    return result, page


def _add_points(notebook: NotebookNode, result: Result) -> None:
    """Write its score into each grade cell, as nbgrader does; a written answer has none."""
    for cell in notebook.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        exercise = result.exercises.get(nbgrader.get("grade_id", "").removeprefix("test_"))
        nbgrader.update({"score": exercise.score} if exercise else {"grade": False})


def _with_course_answer(cell: NotebookNode, chapter: str) -> Iterator[NotebookNode]:
    """A cell; below a written answer, once there is one, also the course's own."""
    yield cell
    if cell.cell_type == "markdown" and is_answer(cell) and not is_stub(cell, chapter):
        course = next(each.source for each in solution_of(chapter).cells if each.id == cell.id)
        text = f"**The course's own answer, to compare yours with:**\n\n{course}"
        yield nbformat.v4.new_markdown_cell(text, id=f"course-{cell.id}")


def is_stub(cell: NotebookNode, chapter: str) -> bool:
    """Whether nothing was written into an answer."""
    released = {each.id: each.source for each in release_of(chapter).cells}
    return cell.source.strip() == released[cell.id].strip()
