"""One pytest run over a chapter's hidden tests, in this process, with `student` as a fixture."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from autograde.sandbox.proxy import Call, Student
from autograde.sandbox.session import Gone, NotDefined, StudentError
from specdec_lib.lessons.examples import Different

# No configuration, no plugins, no output: each of them costs time in every run and tells nobody.
QUIET = ["--disable-plugin-autoload", "--assert=plain", "-c", os.devnull, "--strict-markers"]
UNUSED = (
    *("terminal", "logging", "doctest", "cacheprovider"),
    *("unraisableexception", "threadexception", "faulthandler"),
)


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

    def __init__(self, student: Student) -> None:
        self.of_student = student
        self.cases: list[Case] = []

    def pytest_configure(self, config: pytest.Config) -> None:
        what = "behaviour(exercise, name, after, weight): cases of a behaviour"
        config.addinivalue_line("markers", what)

    @pytest.fixture
    def student(self) -> Student:
        """The submission under test."""
        self.of_student.calls = []
        return self.of_student

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        mark = item.get_closest_marker("behaviour")
        if call.when != "call":
            if call.excinfo is not None:
                raise RuntimeError(f"{item.nodeid}: {call.excinfo.value}")
            return
        exercise, name, after, weight = mark.args
        error, unwritten = _reason(call.excinfo.value if call.excinfo else None)
        case = Case(exercise, name, after, error, unwritten, self.of_student.calls, weight)
        self.cases.append(case)


def _reason(error: BaseException | None) -> tuple[str | None, bool]:
    """Why a case failed, for the student; and whether there is no answer to speak of at all."""
    if error is None:
        return None, False
    if isinstance(error, NotImplementedError | NotDefined):
        return str(error) or "not written yet", True
    if isinstance(error, Different):
        return str(error), False
    if isinstance(error, StudentError | Gone):
        return f"your code {error.what_happened}.", False
    return f"the result could not be judged ({type(error).__name__}: {error}).", False


def run_hidden_tests(tests: Path, student: Student) -> list[Case]:
    """Every case of the file `tests`, in the file's order. Raises RuntimeError where none ran."""
    marks = Marks(student)
    plugins = [argument for name in UNUSED for argument in ("-p", f"no:{name}")]
    code = pytest.main([*QUIET, *plugins, "--rootdir", str(tests.parent), str(tests)], [marks])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not marks.cases:
        raise RuntimeError(f"the hidden tests in {tests} did not run (pytest's exit code {code})")
    return marks.cases
