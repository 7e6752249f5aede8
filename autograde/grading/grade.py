"""Grading one submission: run its cells in a sandbox, run the hidden tests here, judge, store."""

import ast
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache

from nbformat import NotebookNode

from autograde.course import Chapter
from autograde.grading import cache as result_cache
from autograde.grading.judge import judge
from autograde.grading.result import Exercise, Result
from autograde.hidden.causes import Known, is_explained
from autograde.hidden.known_bugs import bugs_of
from autograde.hidden.reference import Trusted
from autograde.hidden.runner import Case, HiddenTests, collected, follow_through
from autograde.intake.bounds import limit_resources
from autograde.intake.submission import is_answer, is_demo, release_of, solution_of
from autograde.sandbox import isolation
from autograde.sandbox.inside.cells import plain_python
from autograde.sandbox.session import Cell, Session
from autograde.sandbox.student import Student
from autograde.sandbox.workers import Limits

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
    limits, tests = limits_of(chapter), hidden_tests_of(chapter)
    cells = code_cells(notebook, limits)  # in the student's order; all else is in the chapter's
    right = {cell.key: cell for cell in code_cells(solution_of(chapter), limits)}
    exercises = exercises_of(release_of(chapter))
    # Before the limit: all later submissions are compared with what is remembered here.
    known = {name: known_of(chapter, name) for name in exercises}
    with limit_resources():
        with Session(cells, limits) as session:
            student = Student(session, parameters_of(chapter), given_of(chapter))
            cases = follow_through(
                tests, student, right, lambda own: is_explained(known[own[0].exercise], own)
            )
        if session.start_error is not None:
            raise session.start_error
        judge(cases, exercises, known.__getitem__)
    reports = {cell.key: session.reports[cell.key] for cell in cells if cell.key in session.reports}
    return Result(exercises, pending_of(release_of(chapter)), reports, session.timed_out)


def limits_of(chapter: str) -> Limits:
    """What a submission of the chapter may use, and what is loaded before it comes."""
    return Limits(preload=modules_of(chapter))


def code_cells(notebook: NotebookNode, limits: Limits) -> list[Cell]:
    """The cells that the worker runs: all code but grade cells and demonstrations."""
    release_demos = {cell.source.strip() for cell in notebook.cells if is_demo(cell)}
    return [
        Cell(cell.id, cell.source, _seconds(cell, limits))
        for cell in notebook.cells
        if cell.cell_type == "code"
        and not cell.metadata.get("nbgrader", {}).get("grade")
        and cell.source.strip() not in release_demos
    ]


def _seconds(cell: NotebookNode, limits: Limits) -> float:
    own = cell.id.startswith("extra-")
    return limits.extra_cell_seconds if own else limits.cell_seconds


def exercises_of(notebook: NotebookNode) -> dict[str, Exercise]:
    """The exercises with their points, in the notebook's order, from its grade cells."""
    tests = _graded(notebook, "code")
    return {each.grade_id.removeprefix("test_"): Exercise(float(each.points)) for each in tests}


def pending_of(notebook: NotebookNode) -> list[str]:
    """The written cells: a person gives their points."""
    return [each.grade_id for each in _graded(notebook, "markdown")]


def _graded(notebook: NotebookNode, kind: str) -> list[NotebookNode]:
    """What nbgrader knows of each graded cell of this kind."""
    cells = [cell for cell in notebook.cells if cell.cell_type == kind]
    marked = [cell.metadata.get("nbgrader", {}) for cell in cells]
    return [nbgrader for nbgrader in marked if nbgrader.get("grade")]


@cache
def hidden_tests_of(chapter: str) -> HiddenTests:
    """The chapter's hidden tests, the same ones for every submission of this process."""

    @cache
    def oracle() -> Student:
        # Nobody reads its calls, and one process grades many submissions.
        return Student(_run_here(chapter), parameters_of(chapter), calls=deque(maxlen=0))

    return collected(Chapter(chapter), exercises_of(release_of(chapter)), oracle)


@cache
def modules_of(chapter: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What the release's own cells import, but for demonstrations: modules, and names from them."""
    cells = [c for c in release_of(chapter).cells if c.cell_type == "code" and not is_demo(c)]
    nodes = [n for cell in cells for n in ast.walk(ast.parse(plain_python(cell.source)))]
    wanted = [(alias.name, ()) for n in nodes if isinstance(n, ast.Import) for alias in n.names]
    wanted += [
        (n.module, tuple(alias.name for alias in n.names))
        for n in nodes
        if isinstance(n, ast.ImportFrom) and n.module
    ]
    return tuple(dict.fromkeys(wanted))


@cache
def parameters_of(chapter: str) -> dict[str, list[str]]:
    """The parameter names of every graded function, read off the release's stubs."""
    stubs = [c.source for c in release_of(chapter).cells if c.cell_type == "code" and is_answer(c)]
    functions = [node for source in stubs for node in ast.parse(source).body]
    return {
        node.name: [argument.arg for argument in node.args.args]
        for node in functions
        if isinstance(node, ast.FunctionDef)
    }


@cache
def given_of(chapter: str) -> dict[str, Cell]:
    """A cell for each function that the release's own cells define."""
    cells = [c for c in release_of(chapter).cells if c.cell_type == "code" and not is_answer(c)]
    return {
        node.name: Cell(node.name, ast.unparse(node), Limits.cell_seconds)
        for cell in cells
        for node in ast.parse(plain_python(cell.source)).body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def known_of(chapter: str, exercise: str) -> Known:
    """What is known of an exercise, to tell causes by: the right answer and its known bugs."""
    cases = [case for case in right_cases_of(chapter) if case.exercise == exercise]
    bugs = [bug for bug in bugs_of(chapter) if bug.exercise == exercise]
    functions = [solved(chapter).defined(exercise, bug.code) for bug in bugs]
    return Known(cases, bugs, functions)


@cache
def right_cases_of(chapter: str) -> list[Case]:
    """The cases of the hidden tests on the chapter's own solution."""
    return cases_with(chapter, {})


@cache
def solved(chapter: str) -> Trusted:
    """The chapter's own solution, run in this process."""
    return _run_here(chapter)


def _run_here(chapter: str) -> Trusted:
    """The same of its own: it keeps its answers while others take their place in `solved`."""
    return Trusted(code_cells(solution_of(chapter), Limits()))


def cases_with(chapter: str, answers: Mapping[str, str]) -> list[Case]:
    """The cases of the exercises in `answers`, which take the solution's place; else all cases."""
    tests, student = hidden_tests_of(chapter), Student(solved(chapter), parameters_of(chapter))
    which = [i for i, t in enumerate(tests.trials) if not answers or t.exercise in answers]
    with solved(chapter).with_answers(answers):
        return tests.run(student, which)
