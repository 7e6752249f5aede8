"""A chapter's hidden tests: collected once in a process, run on every submission.

One mistake costs once: what stands below a wrong answer is run again with right ones above it (see
`follow_through`).
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from autograde.course import AuthorError, Chapter
from autograde.hidden.exercise import Exercise, Group
from autograde.sandbox.session import Cell
from autograde.sandbox.student import Call, Student

MAX_MESSAGE = 4000  # characters of a case's message: a student's value may be in it


@dataclass
class Case:
    """One test case as it went: `error` is None if it passed.

    `own_error` is the same with the student's own answers above it. The two differ only if the case
    failed and was run again with the chapter's, of which `used` took the place of wrong ones.
    `seen` is the error less the advice that ends it. `cause` is the name of a bug that the test has
    recognised by itself, `told` what it says to who passed.
    """

    exercise: str
    group: Group
    error: str | None
    own_error: str | None
    unwritten: bool = False
    calls: list[Call] = field(default_factory=list)
    used: frozenset[str] = frozenset()
    cause: str | None = None
    told: str = ""
    seen: str = ""


@dataclass(frozen=True)
class Trial:
    """One case to run, of a test group."""

    group: Group
    case: Callable[[Student, Student], None]

    @property
    def exercise(self) -> str:
        return self.group.exercise.name

    def run(self, student: Student, solution: Student) -> Case:
        """How the case goes with the functions of `student`."""
        student.calls, student.pass_message, error = [], "", None
        student.session.group = self.group
        try:
            self.case(student, solution)
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # pytest.fail and pytest.skip raise no Exception
            error = raised
        message, unwritten = _reason(error)
        case = Case(self.exercise, self.group, message, message, unwritten, student.calls)
        seen = _cut(getattr(error, "seen", None) or message or "")
        return replace(
            case, cause=getattr(error, "cause", None), told=_cut(student.pass_message), seen=seen
        )


class HiddenTests:
    """The cases of a module of hidden tests, in the order of the file.

    `exercises` are the names that have points in the chapter. `solution` gives the chapter's own
    answers, which say what is expected; it is None if the tests are only looked at. Raises
    AuthorError for an exercise without a case.
    """

    def __init__(
        self, module: ModuleType, exercises: Collection[str], solution: Callable[[], Student] | None
    ) -> None:
        self.solution = solution
        tested = [each for each in vars(module).values() if isinstance(each, Exercise)]
        groups = [group for exercise in tested for group in exercise.groups]
        self.trials = [Trial(group, case) for group in groups for case in group.cases()]
        names = {trial.exercise for trial in self.trials}
        if missing := [name for name in exercises if name not in names]:
            file = Path(module.__file__).name
            raise AuthorError(f"{file}: {missing[0]} has points and no test. Write one for it.")

    def run(self, student: Student, which: Iterable[int] | None = None) -> list[Case]:
        """Every case, or those of some numbers, as it goes with the functions of `student`."""
        trials = self.trials if which is None else [self.trials[i] for i in which]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [trial.run(student, self.solution()) for trial in trials]


def follow_through(
    tests: HiddenTests,
    student: Student,
    right: Mapping[str, Cell],
    is_explained: Callable[[list[Case]], bool],
) -> list[Case]:
    """Every case, as it goes by itself: with right answers above it where one is wrong.

    An exercise may call the functions of all exercises above it. If it fails, its failed cases run
    a second time, in a new worker, in which the chapter's own answers have taken the place of all
    functions above: `right` has the cell of each. So two right answers that do not fit together,
    such as one that gives np.array([]) and one that wants a matrix without rows, lose nothing. If
    nothing above is wrong and `is_explained` says of its cases that it is wrong by itself, it is
    not run again: a new worker takes time.

    By then all that these answer has been graded. An exercise never meets its own answer or one
    below it, so nothing that the worker keeps is worth anything to a later one. Raises RuntimeError
    if no worker can be started.
    """
    cases, functions = tests.run(student), list(student.parameters)
    failed = {case.exercise for case in cases if case.error is not None}
    wrong = [name for name in functions if name in failed]
    above = {name: functions[: functions.index(name)] for name in wrong}

    def may_be_right(name: str) -> bool:
        own = [case for case in cases if case.exercise == name]
        return not set(wrong).isdisjoint(above[name]) or not is_explained(own)

    mentioned = [name for name in wrong if _are_mentioned(above[name], student.session.cells)]
    again = [name for name in mentioned if may_be_right(name)]
    if again:
        student.session.restart()
    for name in again:
        student.session.override(right[each] for each in above[name])
        which = [i for i, c in enumerate(cases) if c.exercise == name and c.error is not None]
        used = frozenset(wrong) & frozenset(above[name])
        for i, case in zip(which, tests.run(student, which), strict=True):
            cases[i] = replace(case, own_error=cases[i].error, used=used)
    return cases


def _are_mentioned(functions: Collection[str], cells: Iterable[Cell]) -> bool:
    """Whether one of the functions is named outside its own cell: nothing calls the others."""
    return any(name in cell.source for cell in cells for name in functions if name != cell.key)


def collected(
    chapter: Chapter, exercises: Collection[str], solution: Callable[[], Student] | None
) -> HiddenTests:
    """The hidden tests of a chapter that grades `exercises`. Raises AuthorError if it has none."""
    if not chapter.tests.is_file():
        raise AuthorError(
            f"{chapter.name}: nothing grades {', '.join(exercises)}: there is no "
            f"autograde/hidden_tests/{chapter.tests.name}. Write it, with a test for each."
        )
    return HiddenTests(chapter.import_tests(), exercises, solution)


def _reason(error: BaseException | None) -> tuple[str | None, bool]:
    """Why a case failed, for the student; and whether there is no answer yet (see check.py)."""
    if error is None:
        return None, False
    if isinstance(error, NotImplementedError) or getattr(error, "no_answer", False):
        return _cut(str(error) or "not written yet"), True
    if happened := getattr(error, "what_happened", None):
        call = getattr(error, "call", "")
        return _cut(f"{call or 'your code'} {happened}."), False
    if isinstance(error, AssertionError) and str(error):
        return _cut(str(error)), False
    kind = type(error).__name__
    return _cut(f"the result could not be judged ({kind}: {error})."), False


def _cut(message: str) -> str:
    """A message of bounded length: it stands in every report on the submission."""
    return message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]} ... (cut here)"
