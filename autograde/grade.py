"""Grading one submission: run its cells in a sandbox, run the hidden tests here, judge, store."""

import ast
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import nbformat
from nbformat import NotebookNode

from autograde import cache as result_cache
from autograde.cause import Evidence, Known
from autograde.chapter import Chapter
from autograde.result import Behaviour, Exercise, Result
from autograde.runner import Case, HiddenTests, collected
from autograde.sandbox import selftest
from autograde.sandbox.inside.cells import plain_python
from autograde.sandbox.session import Cell, Session
from autograde.sandbox.student import Student
from autograde.sandbox.workers import Limits
from autograde.submission import is_answer, is_demo, release_of
from autograde.wrong import Misconception, misconceptions_of

Outcome = Result | Exception


@dataclass(frozen=True)
class Job:
    """A rebuilt notebook to grade; with `outcome`, what is known of it without grading."""

    key: str
    notebook: NotebookNode | None = None
    chapter: str = ""
    outcome: Outcome | None = None


Run = Callable[[Iterable[Job]], Iterator[tuple[Job, Outcome]]]


def grade(notebook: NotebookNode, chapter: str) -> Result:
    """The result of a rebuilt notebook: the stored one, else from grading it in this process.

    Raises as `grade_now` does.
    """
    ((_, result),) = grade_all([job_of(notebook, chapter)], _here, _here)
    return result


def job_of(notebook: NotebookNode, chapter: str) -> Job:
    """What is to be done for a rebuilt notebook: nothing more if its result is stored."""
    key = result_cache.key(notebook, chapter)
    return Job(key, notebook, chapter, result_cache.load(key))


def grade_all(
    jobs: Iterable[Job], run: Run, run_alone: Run
) -> Iterator[tuple[Job, Result | Exception]]:
    """Every job with its outcome, in the order in which they come: the one way to grade.

    `run` grades jobs, and `run_alone` grades them one at a time. A result that hit a limit may be
    the fault of a busy machine: its job is repeated once, alone, after all others. A new result is
    stored the moment it comes, so a run that is cut off loses only what was on its way.
    """
    limited = []
    for job, outcome in run(jobs):
        if job.outcome is None and isinstance(outcome, Result) and outcome.limited:
            limited.append(job)
        else:
            yield job, _stored(job, outcome)
    for job, outcome in run_alone(limited):
        yield job, _stored(job, outcome)


def _here(jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
    for job in jobs:
        yield job, job.outcome or grade_now(job.notebook, job.chapter)


def _stored(job: Job, outcome: Outcome) -> Outcome:
    if job.outcome is None and isinstance(outcome, Result):
        result_cache.store(job.key, outcome)
    return outcome


def grade_now(notebook: NotebookNode, chapter: str) -> Result:
    """The result of a rebuilt notebook, graded in this process, whatever is stored.

    Raises NoIsolation, AuthorError if the chapter's hidden tests cannot be run, RuntimeError if no
    worker can be started, and ValueError if the hidden tests are not this notebook's.
    """
    selftest.require()
    start = time.monotonic()
    session, cases = _tested(notebook, chapter)
    exercises = exercises_of(notebook)
    judge(cases, exercises, lambda exercise: known_of(chapter, exercise))
    result = Result(exercises, pending_of(notebook), session.reports, session.limited)
    result.seconds = round(time.monotonic() - start, 3)
    return result


def _tested(notebook: NotebookNode, chapter: str) -> tuple[Session, list[Case]]:
    """A notebook's session, over, and the cases of all hidden tests on it."""
    limits, tests = limits_of(chapter), hidden_tests_of(chapter)
    with Session(code_cells(notebook, limits), limits) as session:
        cases = tests.run(Student(session, parameters_of(chapter)))
    if session.broken is not None:
        raise session.broken
    return session, cases


@cache
def right_cases_of(chapter: str) -> list[Case]:
    """The cases of the hidden tests on the chapter's own solution."""
    return _tested(nbformat.read(Chapter(chapter).solution, as_version=4), chapter)[1]


@cache
def known_of(chapter: str, exercise: str) -> Known:
    """What is known of an exercise, to tell causes by: the right answer and the wrong ones."""
    cases = [case for case in right_cases_of(chapter) if case.exercise == exercise]
    return Known(cases, misconceptions_of(chapter).of(exercise))


def limits_of(chapter: str) -> Limits:
    """What a submission of the chapter may use, and what is loaded before it comes."""
    return Limits(blocklist=own_work_of(chapter), preload=modules_of(chapter))


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
    return collected(Chapter(chapter), exercises_of(release_of(chapter)))


@cache
def own_work_of(chapter: str) -> tuple[str, ...]:
    """The library's functions that answer an exercise of the chapter."""
    number, table = Chapter(chapter).number, import_module("autograde.chapters.own_work").OWN_WORK
    return tuple(name for name, chapters in table.items() if number in chapters.split())


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


def judge(cases: list[Case], exercises: dict[str, Exercise], known: Callable[[str], Known]) -> None:
    """Give every exercise its behaviours, in the order of the tests.

    `known` is asked about exercises in which something failed. A misconception that shows in
    several exercises is refuted in the first, and the others refer to it.
    """
    broken = {case.exercise for case in cases if case.error is not None}
    refuted: dict[str, str] = {}
    for name, exercise in exercises.items():
        own = [case for case in cases if case.exercise == name]
        exercise.note = next((case.error for case in own if case.unwritten), None)
        wanted = name in broken and not exercise.note
        causes = _causes(own, known(name), broken) if wanted else {}
        thoughts = dict.fromkeys(cause.thought for each in causes.values() for cause in each)
        firsts = {thought: refuted.setdefault(thought, name) for thought in thoughts}
        first = next((f for f in firsts.values() if f != name), None)
        if not causes and not exercise.note:
            first = _built_on(own, broken)
        if first:
            exercise.see_first = exercises[first].see_first or first  # the first of a chain
        exercise.behaviours = _behaviours(own, causes, broken, firsts)


Causes = dict[int, list[Misconception]]  # by the number of a failed case


def _causes(cases: list[Case], known: Known, broken: set[str]) -> Causes:
    """The causes of an exercise's failed cases, by the number of the case.

    If an exercise that these cases build on is broken too, only a cause that explains every call:
    the fault is likelier to be there.
    """
    evidence = Evidence(known, cases)
    causes = evidence.causes()
    leans = any(name in broken for case in cases if case.error is not None for name in case.after)
    if leans and len(causes) > 1:
        return {}
    found = {i: evidence.causes_of(i, causes) for i, case in enumerate(cases) if case.error}
    return {number: each for number, each in found.items() if each}


def _built_on(cases: list[Case], broken: set[str]) -> str | None:
    """The broken exercise that all failed cases of this one build on, if there is one."""
    bases = [[n for n in case.after if n in broken] for case in cases if case.error is not None]
    return bases[0][0] if bases and all(bases) else None


def _behaviours(
    cases: list[Case], causes: Causes, broken: set[str], firsts: dict[str, str]
) -> list[Behaviour]:
    """The behaviours of one exercise, each failed one shown by its first case with a cause.

    `broken` names the exercises in which something failed, `firsts` says for each thought in which
    exercise it is refuted.
    """
    shares = {case.behaviour: case.weight for case in cases}
    shown = _shown(cases, causes)
    behaviours, told = [], set()
    for name, weight in shares.items():
        if name not in shown:
            behaviours.append(Behaviour(name, True, weight=weight))
            continue
        case, cause = shown[name]
        if cause is None:
            message = _plain(case, shown, broken)
        else:
            message = _of_cause(case, shown, cause, cause.name in told, firsts[cause.thought])
            told.add(cause.name)
        behaviours.append(Behaviour(name, False, message, cause and cause.name, weight))
    return behaviours


Shown = dict[str, tuple[Case, Misconception | None]]  # by behaviour: the case, and its cause


def _shown(cases: list[Case], causes: Causes) -> Shown:
    """The case that each failed behaviour is shown by: the first with a cause, else the first.

    Of several causes it is shown with one that no behaviour before it has.
    """
    shown: Shown = {}
    for behaviour in dict.fromkeys(case.behaviour for case in cases if case.error is not None):
        told = [cause for _, cause in shown.values()]
        failed = [
            i for i, c in enumerate(cases) if c.error is not None and c.behaviour == behaviour
        ]
        ways = [(cases[i], cause) for i in failed for cause in causes.get(i, ())]
        new = [way for way in ways if way[1] not in told]
        shown[behaviour] = next(iter(new or ways), (cases[failed[0]], None))
    return shown


def _plain(case: Case, shown: Shown, broken: set[str]) -> str:
    """What the student reads under a failed behaviour without a known cause."""
    if first := [name for name in case.after if name in broken or name in shown]:
        return f"not checked: first {first[0]}. Seen here: {case.error}"
    return _ended(case, shown) or case.error


def _of_cause(case: Case, shown: Shown, cause: Misconception, told: bool, first: str) -> str:
    """What the student reads under it if the cause is known. The numbers always stay in it."""
    if told:
        return _ended(case, shown) or f"{case.error} (The same cause.)"
    if first != case.exercise:
        return f"the same thought as under {first}, and wrong here too. Look: {case.error}"
    return cause.explain(case.error)


def _ended(case: Case, shown: Shown) -> str | None:
    """A line in place of an exception that the first failed case has shown already."""
    lead, _ = next(iter(shown.values()))
    if case is lead or case.raised is None or case.raised != lead.raised:
        return None
    return "not checked: first what is said above, it ends this call too."
