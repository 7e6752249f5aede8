"""Grading one submission: run its cells in a sandbox, run the hidden tests here, judge, store.

One mistake costs once: below a wrong answer tests run again, with right answers above.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial

from nbformat import NotebookNode

from autograde.course import course_seed
from autograde.grading import cache as result_cache
from autograde.grading.judge import judge
from autograde.grading.result import Result
from autograde.hidden.causes import Known, KnownBug, bugs_of, causes_of
from autograde.hidden.collected import HiddenTests, with_hidden_tests
from autograde.hidden.exercise import Case, Group
from autograde.hidden.material import code_cells, material_of
from autograde.intake.bounds import limit_resources
from autograde.sandbox import isolation
from autograde.sandbox.session import Cell, Session
from autograde.sandbox.student import Student

Grader = Callable[[NotebookNode, str], Result]  # does what `grade_now` does, somewhere
Causes = dict[str, dict[Group, KnownBug]]  # by exercise and failed test group


def grade(notebook: NotebookNode, chapter: str, grader: Grader | None = None) -> Result:
    """The result of a rebuilt notebook: the stored one, else the one that `grader` gives.

    Without a grader it is graded in this process. What a time limit decided may be the fault of a
    busy machine: it is not stored, so the next grading repeats the run. Raises as `grade_now` does.
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
            student = Student(session, material.parameters, material.release_functions)
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

    def right_cases(tests: HiddenTests) -> list[Case]:
        tests.require(material.points)
        return tests.run_with({})

    cases = with_hidden_tests(chapter, right_cases)
    for name in material.points:
        own = [bug for bug in bugs_of(chapter) if bug.exercise == name]
        functions = [material.solved.defined(name, bug.code) for bug in own]
        known[name] = Known([case for case in cases if case.exercise == name], own, functions)
    return known


def follow_through(
    tests: HiddenTests, student: Student, right: Mapping[str, Cell], known: Mapping[str, Known]
) -> tuple[list[Case], Causes]:
    """Every case, as it goes by itself: with right answers above it where one is wrong.

    An exercise may call the functions of all exercises above it. If it fails, its failed cases run
    a second time, in a new worker, in which the chapter's own answers have taken the place of all
    functions above: `right` has the cell of each. So two right answers that do not fit together,
    such as one that gives np.array([]) and one that wants a matrix without rows, lose nothing. If
    nothing above is wrong and known bugs explain all of its failures, it is not run again: a new
    worker takes time.

    By then all that these answer has been graded. An exercise never meets its own answer or one
    below it, so nothing that the worker keeps is worth anything to a later one. Raises RuntimeError
    if no worker can be started. With the cases come the causes of the exercises that were asked for
    theirs and not run again, by exercise.
    """
    cases, functions = tests.run(student), list(student.parameters)
    failed = {case.exercise for case in cases if case.error is not None}
    wrong = [name for name in functions if name in failed]
    above = {name: functions[: functions.index(name)] for name in wrong}

    def may_be_right(name: str) -> bool:
        if not set(wrong).isdisjoint(above[name]):
            return True
        own = [case for case in cases if case.exercise == name]
        causes[name] = causes_of(known[name], own)
        return not _is_explained(own, causes[name])

    causes: Causes = {}
    mentioned = [name for name in wrong if _are_mentioned(above[name], student.session.cells)]
    again = [name for name in mentioned if may_be_right(name)]
    if again:
        student.session.restart()
    for name in again:
        student.session.override(right[each] for each in above[name])
        which = [i for i, c in enumerate(cases) if c.exercise == name and c.error is not None]
        replaced = frozenset(wrong) & frozenset(above[name])
        for i, case in zip(which, tests.run(student, which), strict=True):
            cases[i] = replace(case, own_error=cases[i].error, replaced=replaced)
    return cases, {name: groups for name, groups in causes.items() if name not in again}


def _is_explained(cases: list[Case], causes: Mapping[Group, KnownBug]) -> bool:
    """Whether an exercise is wrong by itself: unwritten, or each failed group has its cause."""
    failed = [case for case in cases if case.error is not None]
    unwritten = all(case.unwritten for case in failed)
    return unwritten or {case.group for case in failed} <= causes.keys()


def _are_mentioned(functions: Collection[str], cells: Iterable[Cell]) -> bool:
    """Whether one of the functions is named outside its own cell: nothing calls the others."""
    return any(name in cell.source for cell in cells for name in functions if name != cell.key)
