"""Grading one submission: run its cells in a sandbox, run the hidden tests here, judge, store."""

from collections.abc import Callable
from functools import cache, partial

from nbformat import NotebookNode

from autograde.course import course_seed
from autograde.grading import cache as result_cache
from autograde.grading.follow_through import follow_through
from autograde.grading.judge import judge
from autograde.grading.result import Result
from autograde.hidden.causes import Known
from autograde.hidden.collected import HiddenTests, require_tests, with_hidden_tests
from autograde.hidden.known_bugs import bugs_of
from autograde.hidden.material import code_cells, material_of
from autograde.intake.bounds import limit_resources
from autograde.sandbox import isolation
from autograde.sandbox.session import Session
from autograde.sandbox.student import Student

Grader = Callable[[NotebookNode, str], Result]  # does what `grade_now` does, somewhere


def grade(notebook: NotebookNode, chapter: str, grader: Grader | None = None) -> Result:
    """The result of a rebuilt notebook: the stored one, else the one that `grader` gives.

    Without a grader it is graded in this process. What a time limit decided may be the fault of a
    busy machine: it is not stored, so the next grading tries again. Raises as `grade_now` does.
    """
    key = result_cache.key(notebook, chapter, isolation.mode())
    result = result_cache.load(key)
    if result is None:
        result = (grader or grade_now)(notebook, chapter)
        if not result.limited:
            result_cache.store(key, result)
    return result


def grade_now(notebook: NotebookNode, chapter: str) -> Result:
    """The result of a rebuilt notebook, graded in this process, whatever is stored.

    Raises NoIsolation, AuthorError if the chapter has no hidden tests, RuntimeError if no worker
    can be started, and TooCostly if a submission takes too much of this process.
    """
    known_of(chapter)  # it has a session of its own
    return with_hidden_tests(chapter, partial(grade_by, notebook=notebook))


def grade_by(tests: HiddenTests, notebook: NotebookNode) -> Result:
    """The result of a rebuilt notebook by the collected tests of its chapter; raises the same."""
    # Before the limit: all later submissions are compared with what is remembered here.
    material, known = material_of(tests.chapter), known_of(tests.chapter)
    cells = code_cells(notebook, material.limits)  # in the student's order
    with limit_resources():
        with Session(cells, material.limits) as session:
            student = Student(session, material.parameters, material.given)
            cases, causes = follow_through(tests, student, material.right, known)
        if session.start_error is not None:
            raise session.start_error
        exercises = judge(cases, material.points, known, causes)
    reports = {cell.key: session.reports[cell.key] for cell in cells if cell.key in session.reports}
    return Result(exercises, material.pending, reports, session.timed_out)


def known_of(chapter: str) -> dict[str, Known]:
    """What is known of each exercise, to tell causes by: the right answer and its known bugs.

    Raises AuthorError if an exercise has no hidden test.
    """
    return _known(chapter, course_seed())


@cache
def _known(chapter: str, seed: int) -> dict[str, Known]:
    """The same; another seed has other cases."""
    material, known = material_of(chapter), {}
    require_tests(chapter, material.points)
    cases = with_hidden_tests(chapter, lambda tests: tests.run_with({}))
    for name in material.points:
        own = [bug for bug in bugs_of(chapter) if bug.exercise == name]
        functions = [material.solved.defined(name, bug.code) for bug in own]
        known[name] = Known([case for case in cases if case.exercise == name], own, functions)
    return known
