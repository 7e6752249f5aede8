"""Mark one of your own notebooks: run the hidden tests, and make the feedback page.

There is no sandbox, because you run your own code.
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


def mark_notebook(notebook: NotebookNode, chapter: str) -> tuple[Result, str]:
    """The result of a rebuilt notebook, and its page as HTML.

    Raises RuntimeError if no process can be started.
    """
    result = grade_now(notebook, chapter)
    graded = copy.deepcopy(notebook)
    _add_points(graded, result)
    add_marks(graded, result)
    graded.cells = [c for cell in graded.cells for c in _with_course_answer(cell, chapter)]
    totals = {"score": result.score, "max_score": result.max_score, "late_penalty": 0}
    resources = {"nbgrader": totals | {"notebook": chapter}}
    page, _ = FeedbackPage().from_notebook_node(graded, resources)
    return result, page


def _add_points(notebook: NotebookNode, result: Result) -> None:
    """Write the scores into the grade cells, as nbgrader does; a written answer has none."""
    for cell in notebook.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        exercise = result.exercises.get(nbgrader.get("grade_id", "").removeprefix("test_"))
        nbgrader.update({"score": exercise.score} if exercise else {"grade": False})


def _with_course_answer(cell: NotebookNode, chapter: str) -> Iterator[NotebookNode]:
    """A cell, and below an edited written answer the course's own answer."""
    yield cell
    if cell.cell_type == "markdown" and is_answer(cell) and not is_stub(cell, chapter):
        solution = next(c.source for c in solution_of(chapter).cells if c.id == cell.id)
        text = f"**The course's own answer, to compare yours with:**\n\n{solution}"
        yield nbformat.v4.new_markdown_cell(text, id=f"course-{cell.id}")


def is_stub(cell: NotebookNode, chapter: str) -> bool:
    """Whether an answer cell is unedited."""
    sources = {c.id: c.source for c in release_of(chapter).cells}
    return cell.source.strip() == sources[cell.id].strip()
