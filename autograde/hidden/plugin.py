"""The pytest plugin of hidden tests: what is judged, the fixtures, and the cases that come of it.

    pytest autograde/hidden_tests                                  the chapters' own solutions
    pytest autograde/hidden_tests/test_02_x.py --submission FILE   a notebook, in the sandbox
    pytest autograde/hidden_tests/test_02_x.py --bug f-3           the third known bug of f

A test function takes part through the marker of `Exercise.group`. Every other test is pytest's own
affair. `collected.py` runs the same tests for the grader, and reads the same reports.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from autograde.course import course_seed, kit
from autograde.hidden.causes import KnownBug, bugs_of
from autograde.hidden.exercise import Case, Group
from autograde.hidden.material import Material, code_cells, material_of
from autograde.intake.submission import sanitise
from autograde.sandbox import isolation
from autograde.sandbox.session import Session
from autograde.sandbox.student import Student

MAX_MESSAGE = 4000  # characters of a case's message: a student's value may be in it
NO_DEADLINE = 1e9  # seconds, for somebody who looks at a submission in a debugger
JUDGED = pytest.StashKey[dict[str, Student]]()  # by chapter, whose functions the tests call
AT_END = pytest.StashKey[ExitStack]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say what the hidden tests judge; without an option, the chapters' solutions."""
    options = parser.getgroup("autograde", "hidden tests of a course")
    options.addoption("--submission", metavar="FILE", help="judge this notebook, in the sandbox")
    options.addoption("--bug", metavar="NAME", help="judge a known bug, such as speculative_step-2")
    options.addoption(
        "--unsafe-no-isolation",
        action="store_true",
        help="run the submission without a sandbox: only for your own",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of `Exercise.group`."""
    config.addinivalue_line("markers", "test_group(group, cases): a hidden test of an exercise")
    if config.getoption("--unsafe-no-isolation"):
        isolation.disable_isolation()
    config.stash[JUDGED], config.stash[AT_END] = {}, ExitStack()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the sandbox."""
    config.stash[AT_END].close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a hidden test once for every case that its generators yield."""
    mark = mark_of(metafunc.function)
    if mark and mark.args[1]:
        rows = _rows(metafunc.module, metafunc.function, course_seed())
        metafunc.parametrize("args", rows, ids=map(str, range(len(rows))))


def mark_of(function: object) -> pytest.Mark | None:
    """The marker of `Exercise.group` on a test function: its group and its generators of cases."""
    marks = getattr(function, "pytestmark", [])
    return next((mark for mark in marks if mark.name == "test_group"), None)


@cache
def _rows(module: object, function: Callable, seed: int) -> list[tuple]:
    """The cases of a test, the same ones for every submission of a process."""
    group, generators = mark_of(function).args
    first = _generators_above(module, function)
    rngs = [_rng(group, first + i, seed) for i in range(len(generators))]
    rows = [row for each, rng in zip(generators, rngs, strict=True) for row in each(rng)]
    return [row if isinstance(row, tuple) else (row,) for row in rows]


def _generators_above(module: object, function: Callable) -> int:
    """How many generators of the test's group stand above it; a test without any counts as one.

    Each has its own random numbers, so what is added below changes none above.
    """
    marks, group = [], mark_of(function).args[0]
    for other in vars(module).values():
        if other is function:
            break
        marks.append(mark_of(other))
    return sum(max(1, len(mark.args[1])) for mark in marks if mark and mark.args[0] == group)


def _rng(group: Group, number: int, seed: int) -> np.random.Generator:
    text = f"{group.exercise.name} {group.name} {number}"
    return np.random.default_rng([seed, crc32(text.encode())])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --bug, leave out what is not about its exercise."""
    if name := config.getoption("--bug"):
        exercise = name.rpartition("-")[0]
        if exercise not in (exercises := set(filter(None, map(_exercise_of, items)))):
            known = f"these tests have {', '.join(sorted(exercises)) or 'none'}"
            raise pytest.UsageError(f"there is no exercise of the known bug {name}: {known}")
        config.hook.pytest_deselected(items=[i for i in items if _exercise_of(i) != exercise])
        items[:] = [item for item in items if _exercise_of(item) == exercise]


def group_of(item: pytest.Item) -> Group | None:
    """The test group of a hidden test; None for any other."""
    mark = mark_of(getattr(item, "function", None))
    return mark.args[0] if mark else None


def _exercise_of(item: pytest.Item) -> str | None:
    group = group_of(item)
    return group.exercise.name if group else None


def chapter_of(path: Path) -> str:
    """The chapter that a file of hidden tests is about."""
    return path.stem.removeprefix("test_")


@pytest.fixture(scope="module")
def student(request: pytest.FixtureRequest) -> Student:
    """The functions that are judged."""
    chapter, judged = chapter_of(request.path), request.config.stash[JUDGED]
    if chapter not in judged:
        judged[chapter] = _judged(request, material_of(chapter))
    return judged[chapter]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Let every case begin with no calls."""
    if student := item.funcargs.get("student"):
        student.calls, student.pass_message = [], ""
        student.session.group = group_of(item)


def _judged(request: pytest.FixtureRequest, material: Material) -> Student:
    """A submission, a known bug in the solution's place, or the solution."""
    config = request.config
    if file := config.getoption("--submission"):
        return _submitted(config, material, Path(file))
    name = config.getoption("--bug")
    bug = _bug_named(name, material.chapter) if name else None
    answers = {bug.exercise: bug.code} if bug else {}
    return config.stash[AT_END].enter_context(material.with_answers(answers))


def _bug_named(name: str, chapter: str) -> KnownBug:
    """The known bug of a name such as speculative_step-2. Ends the run if there is none."""
    exercise, _, number = name.rpartition("-")
    bugs = [bug for bug in bugs_of(chapter) if bug.exercise == exercise]
    if not number.isdecimal() or not 1 <= int(number) <= len(bugs):
        known = f"there are {exercise}-1 to {exercise}-{len(bugs)}"
        pytest.exit(f"there is no known bug {name}: {known}", 4)
    return bugs[int(number) - 1]


def _submitted(config: pytest.Config, material: Material, file: Path) -> Student:
    """A submission in its sandbox. Ends the run if it cannot be read."""
    submission = sanitise(file.parent, Path(file.name), material.chapter)
    if submission.reason:
        pytest.exit(f"{file}: {submission.reason}", 4)
    limits = material.limits
    if config.getoption("usepdb"):
        limits = replace(limits, total_seconds=NO_DEADLINE)
    session = Session(code_cells(submission.notebook, limits), limits)
    config.stash[AT_END].enter_context(session)
    return Student(session, material.parameters, material.release_functions)


@pytest.fixture(scope="module")
def solution(request: pytest.FixtureRequest) -> Student:
    """The chapter's own functions, which say what is expected."""
    return material_of(chapter_of(request.path)).oracle


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """The random numbers of a test without generators of cases, by the seed of the course."""
    above = _generators_above(request.module, request.function)
    return _rng(group_of(request.node), above, course_seed())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo
) -> Iterator[pytest.TestReport]:
    """Give the report on a hidden test its case."""
    report = yield
    group = group_of(item)
    if group and (call.when == "call" or call.excinfo):
        error = call.excinfo.value if call.excinfo else None
        report.case = case_of(group, error, item.funcargs.get("student"))
    return report


def case_of(group: Group, error: BaseException | None, student: Student | None) -> Case:
    """What one run of a test says of a student's functions."""
    message, unwritten = _reason(error)
    calls, pass_message = (student.calls, _cut(student.pass_message)) if student else ([], "")
    seen = _cut(getattr(error, "seen", None) or message or "")
    cause = getattr(error, "cause", None)
    return Case(
        group, message, message, unwritten, calls, cause=cause, pass_message=pass_message, seen=seen
    )


def _reason(error: BaseException | None) -> tuple[str | None, bool]:
    """Why a case failed, for the student; and whether there is no answer yet (see exercise.py)."""
    if error is None:
        return None, False
    if isinstance(error, NotImplementedError) or getattr(error, "no_answer", False):
        return _cut(str(error) or "not written yet"), True
    if happened := getattr(error, "what_happened", None):
        called = getattr(error, "called", None)
        call = kit().format_call(*called) if called else "your code"
        return _cut(f"{call} {happened}."), False
    if isinstance(error, AssertionError) and str(error):
        return _cut(str(error)), False
    kind = type(error).__name__
    return _cut(f"the result could not be judged ({kind}: {error}). Tell your instructor."), False


def _cut(message: str) -> str:
    """A message of limited length: it stands in every report on the submission."""
    return message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]} ... (cut here)"
