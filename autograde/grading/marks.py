"""What a chapter's hidden tests hand out, and the note of how each of their cases went."""

from dataclasses import dataclass, field

import pytest

from autograde.sandbox.remote import Call, Student
from autograde.sandbox.session import NotDefined, ProcessEnded, StudentError
from specdec_lib.lessons.common.examples import Different

MOST_TOLD = 4000  # characters of a case's message: a student's value may be in it


@dataclass
class Case:
    """One test case as it went: `error` is None where it passed."""

    exercise: str
    behaviour: str
    after: tuple[str, ...]
    error: str | None
    unwritten: bool = False
    calls: list[Call] = field(default_factory=list)
    weight: int = 1

    @property
    def raised(self) -> str | None:
        """The exception that ended the case's last call, if one did."""
        return self.calls[-1].error if self.error is not None and self.calls else None


class Marks:
    """The pytest plugin: hands out `student`, and notes each case with its calls."""

    def __init__(self) -> None:
        self.of_student: Student | None = None
        self.cases: list[Case] = []
        self.arguments: dict[pytest.Function, dict[str, object]] = {}

    def turn_to(self, student: Student) -> None:
        """Begin with the next submission."""
        self.of_student, self.cases = student, []

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        """Note every case's own arguments."""
        self.arguments = {item: _own_arguments(item) for item in items}

    def pytest_configure(self, config: pytest.Config) -> None:
        what = "behaviour(exercise, name, after, weight): cases of a behaviour"
        config.addinivalue_line("markers", what)

    @pytest.fixture
    def student(self) -> Student:
        """The submission under test."""
        self.of_student.calls = []
        return self.of_student

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Function) -> None:
        """Hand out a case's own arguments; pytest would make a fixture of each, every time anew."""
        item.funcargs.update(self.arguments[item])

    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo
    ) -> pytest.TestReport:
        """Note the case, and report it in place of pytest.

        pytest's own report writes out the traceback of every failure, with the source read and
        parsed again. It took nine tenths of the time of a blank submission, and nobody reads it.
        """
        if call.when == "call":
            self._note(item, call)
        elif call.excinfo is not None:
            raise RuntimeError(f"{item.nodeid}: {call.excinfo.value}")
        outcome = "failed" if call.excinfo else "passed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    def _note(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        exercise, name, after, weight = item.get_closest_marker("behaviour").args
        error, unwritten = _reason(call.excinfo.value if call.excinfo else None)
        error = error and _cut(error)
        case = Case(exercise, name, after, error, unwritten, self.of_student.calls, weight)
        self.cases.append(case)


def _own_arguments(item: pytest.Function) -> dict[str, object]:
    """What `parametrize` gives the test itself: nothing that a fixture makes, or works on first."""
    names: set[str] = set()
    for mark in item.iter_markers("parametrize"):
        listed = mark.args[0] if mark.args else mark.kwargs["argnames"]
        if not mark.kwargs.get("indirect"):
            names.update(listed.replace(" ", "").split(",") if isinstance(listed, str) else listed)
    return {name: item.callspec.params[name] for name in names}


def _cut(message: str) -> str:
    """A message of bounded length: it stands in every report on the submission."""
    if len(message) <= MOST_TOLD:
        return message
    return f"{message[:MOST_TOLD]} ... (cut here, after {MOST_TOLD} of {len(message)} characters)"


def exercise_of(item: pytest.Item) -> str:
    """The exercise that a case belongs to."""
    return item.get_closest_marker("behaviour").args[0]


def _reason(error: BaseException | None) -> tuple[str | None, bool]:
    """Why a case failed, for the student; and whether there is no answer to speak of at all."""
    if error is None:
        return None, False
    if isinstance(error, NotImplementedError | NotDefined):
        return str(error) or "not written yet", True
    if isinstance(error, Different):
        return str(error), False
    if isinstance(error, StudentError | ProcessEnded):
        return f"your code {error.what_happened}.", False
    return f"the result could not be judged ({type(error).__name__}: {error}).", False
