"""A chapter's hidden tests: collected once in a process, run on every submission.

The tests are plain pytest files, which pytest can collect too. The grader itself reads the marks
`behaviour` and `parametrize` off the functions and calls these one after the other: pytest's own
protocol (fixtures, hooks, reports) costs time in every case, and the grader needs none of it.
"""

import inspect
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import isfunction
from itertools import product
from pathlib import Path
from types import ModuleType

from autograde.chapter import AuthorError, Chapter
from autograde.check import Exercise, Group
from autograde.sandbox.student import Call, Student

MAX_MESSAGE = 4000  # characters of a case's message: a student's value may be in it


@dataclass
class Case:
    """One test case as it went: `error` is None if it passed.

    `own_error` is the same with the student's own answers underneath. The two differ only if the
    case failed and was run again with the chapter's (underneath.py), in place of the wrong `used`.
    `cause` is the name of a misconception that the test has recognised by itself, `told` what it
    says to who passed.
    """

    exercise: str
    behaviour: Group
    error: str | None
    own_error: str | None
    unwritten: bool = False
    calls: list[Call] = field(default_factory=list)
    used: frozenset[str] = frozenset()
    cause: str | None = None
    told: str = ""

    @property
    def raised(self) -> str | None:
        """The exception that ended the case's last call, if one did."""
        return self.calls[-1].error if self.error is not None and self.calls else None


@dataclass(frozen=True)
class Trial:
    """One case to run: the test function `name`, its behaviour, and its arguments."""

    name: str
    function: Callable
    behaviour: Group
    arguments: dict[str, object]

    @property
    def exercise(self) -> str:
        return self.behaviour.exercise.name

    def run(self, student: Student) -> Case:
        """How the case goes with the functions of `student`."""
        student.calls, student.told, error = [], "", None
        student.session.part = self.behaviour
        try:
            self.function(student=student, **self.arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # pytest.fail and pytest.skip raise no Exception
            error = raised
        message, unwritten = _reason(error)
        case = Case(self.exercise, self.behaviour, message, message, unwritten, student.calls)
        return replace(case, cause=getattr(error, "cause", None), told=_cut(student.told))


class HiddenTests:
    """The cases of a module of hidden tests, in the order of the file.

    `exercises` are the names that have points in the chapter. Raises AuthorError for a test of
    anything else, for an exercise or a behaviour without a test, and for a test that cannot be
    called with `student` and what its `parametrize` gives.
    """

    def __init__(
        self, module: ModuleType, exercises: Collection[str], solution: Callable[[], Student]
    ) -> None:
        self.module, self.exercises, self.solution = module, exercises, solution
        names = [name for name in vars(module) if name.startswith("test")]
        tests = {name: vars(module)[name] for name in names if isfunction(vars(module)[name])}
        self.trials = [trial for item in tests.items() for trial in self._trials(*item)]
        for exercise in (each for each in vars(module).values() if isinstance(each, Exercise)):
            self.trials += self._cases(exercise)
        self._require_graded()
        self._require_tested()

    def run(self, student: Student, which: Iterable[int] | None = None) -> list[Case]:
        """Every case, or those of some numbers, as it goes with the functions of `student`."""
        trials = self.trials if which is None else [self.trials[i] for i in which]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [trial.run(student) for trial in trials]

    def _cases(self, exercise: Exercise) -> Iterator[Trial]:
        """The cases of an exercise's groups."""
        for group in exercise.behaviours:
            for number, case in enumerate(group.cases()):
                arguments = {"number": number, "args": getattr(case, "args", ())}
                yield Trial(exercise.name, partial(self._run, case), group, arguments)

    def _run(self, case: Callable, student: Student, **_: object) -> None:
        case(student, self.solution())

    def _trials(self, name: str, function: Callable) -> Iterator[Trial]:
        """The cases of a test function."""
        marks = {"behaviour": [], "parametrize": []}
        for mark in getattr(function, "pytestmark", []):
            if mark.name not in marks:
                raise self._fault(
                    name, f"has the mark {mark.name}; the grader knows two: {' and '.join(marks)}"
                )
            marks[mark.name].append(mark)
        if len(marks["behaviour"]) != 1:
            raise self._fault(name, "needs the decorator of one behaviour, which gets its points")
        try:
            behaviour = marks["behaviour"][0].args[0]
            for arguments in _arguments(function, marks["parametrize"]):
                yield Trial(name, function, behaviour, arguments)
        except (TypeError, ValueError) as error:
            why = "A test gets `student` and what `parametrize` names; there are no fixtures"
            raise self._fault(name, f"cannot be called: {error}. {why}") from None

    def _require_graded(self) -> None:
        """Raise AuthorError for a test of what the chapter does not grade."""
        known: dict[str, Exercise] = {}
        for trial in self.trials:
            exercise = trial.behaviour.exercise
            if exercise.name not in self.exercises:
                names = ", ".join(self.exercises)
                what = f"tests {exercise.name}, and the chapter grades no such name: {names}"
                raise self._fault(trial.name, what)
            if known.setdefault(exercise.name, exercise) is not exercise:
                raise self._fault(trial.name, f"uses a second Exercise({exercise.name!r}); use one")

    def _require_tested(self) -> None:
        """Raise AuthorError for an exercise with points, or a behaviour, that has no test."""
        file = Path(self.module.__file__).name
        behaviours = {trial.behaviour for trial in self.trials}
        tested = {behaviour.exercise for behaviour in behaviours}
        if missing := [e for e in self.exercises if e not in [each.name for each in tested]]:
            raise AuthorError(f"{file}: {missing[0]} has points and no test. Write one for it.")
        for behaviour in (each for exercise in tested for each in exercise.behaviours):
            if behaviour not in behaviours:
                what = f"{behaviour.name!r} of {behaviour.exercise.name}"
                raise AuthorError(
                    f"{file}: no test has the behaviour {what}. Decorate one with it."
                )

    def _fault(self, name: str, what: str) -> AuthorError:
        """An error at the test function `name`: where it is defined, or assigned."""
        if not isfunction(vars(self.module).get(name)):
            return AuthorError(f"{Path(self.module.__file__).name}: {name} {what}.")
        code = inspect.unwrap(vars(self.module)[name]).__code__
        line = code.co_firstlineno
        if code.co_filename != self.module.__file__:
            lines = inspect.getsource(self.module).splitlines()
            line = next((n for n, text in enumerate(lines, 1) if text.startswith(f"{name} =")), 1)
        return AuthorError(f"{Path(self.module.__file__).name}:{line}: {name} {what}.")


def collected(
    chapter: Chapter, exercises: Collection[str], solution: Callable[[], Student]
) -> HiddenTests:
    """The hidden tests of a chapter that grades `exercises`.

    Raises AuthorError for bad ones, and for missing ones by the names that they would grade.
    """
    if not chapter.tests.is_file():
        raise AuthorError(
            f"{chapter.name}: nothing grades {', '.join(exercises)}: there is no "
            f"autograde/chapters/{chapter.tests.name}. Write it, with a test for each."
        )
    try:
        module = chapter.import_tests()
    except Exception as error:
        name, frames = chapter.tests.name, traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).name == name]
        line = lines[-1] if lines else getattr(error, "lineno", 1)  # a SyntaxError has its own
        raise AuthorError(f"{name}:{line}: {type(error).__name__}: {error}") from error
    return HiddenTests(module, exercises, solution)


def _arguments(function: Callable, parametrize: list) -> Iterator[dict[str, object]]:
    """What a test function is called with, case by case, in pytest's order."""
    for rows in product(*(_rows(*mark.args, **mark.kwargs) for mark in parametrize)):
        arguments = {name: value for row in rows for name, value in row.items()}
        inspect.signature(function).bind(student=None, **arguments)
        yield arguments


def _rows(
    argnames: str | Iterable[str], argvalues: Iterable, ids: object = None
) -> list[dict[str, object]]:
    """The values of one `parametrize` under their names, read as pytest reads them."""
    names = argnames.replace(" ", "").split(",") if isinstance(argnames, str) else argnames
    if isinstance(argnames, str) and len(names) == 1:
        return [{names[0]: value} for value in argvalues]
    return [dict(zip(names, values, strict=True)) for values in argvalues]


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
    if len(message) <= MAX_MESSAGE:
        return message
    return (
        f"{message[:MAX_MESSAGE]} ... (cut here, after {MAX_MESSAGE} of {len(message)} characters)"
    )
