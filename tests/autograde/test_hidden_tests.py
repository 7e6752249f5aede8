"""The hidden tests, collected once and run on one submission after the other."""

import io
import pickle
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from classes.submitting import CHAPTER, right
from nbformat import NotebookNode

from autograde import grade as engine
from autograde.chapter import Chapter, chapter_names
from autograde.grading import hidden_tests
from autograde.grading.hidden_tests import HiddenTests, run_hidden_tests
from autograde.sandbox.proxy import Student
from autograde.sandbox.session import Session
from autograde.tools.samples import sample
from autograde.wrong import misconceptions_of

ODD_TESTS = """
import pytest
from autograde.check import behaviour

opened = []

@pytest.fixture(scope="module")
def table():
    opened.append("open")
    yield list(opened)
    opened.append("closed")

@behaviour("f", "first")
@pytest.mark.parametrize("x", [1, 2])
def test_first(student, table, x):
    assert table[-1] == "open"
    if x == 2:
        raise NotImplementedError("f: not written yet")

@behaviour("f", "second")
def test_second(student, table, tmp_path):
    assert opened.count("open") == opened.count("closed") + 1
"""


def student_of(session: Session) -> Student:
    return Student(session, {})


def written(folder: Path, text: str) -> Path:
    path = folder / f"{folder.name}.py"  # pytest imports a module name once
    path.write_text(text)
    return path


@pytest.fixture
def student() -> Student:
    return student_of(Session([]))


class Data(pickle.Pickler):
    """Pickles data and objects that hold data; code goes in by its name alone."""

    def persistent_id(self, value: object) -> str | None:
        is_code = isinstance(value, FunctionType | ModuleType | type)
        return getattr(value, "__qualname__", value.__name__) if is_code else None


def state_of(tests: HiddenTests) -> list[bytes]:
    """Everything that one run of the tests could leave to the next: arguments and globals."""
    arguments = [item.callspec.params for item in tests.items if hasattr(item, "callspec")]
    module = vars(tests.items[0].module)
    kept = {name: value for name, value in module.items() if not name.startswith("__")}
    return [pickled(value) for value in [*arguments, *kept.values()]]


def pickled(value: object) -> bytes:
    file = io.BytesIO()
    Data(file).dump(value)
    return file.getvalue()


@pytest.mark.parametrize("chapter", chapter_names())
def test_no_submission_leaves_anything_to_the_next(chapter: str):
    tests = hidden_tests.hidden_tests(Chapter(chapter).tests)
    before = state_of(tests)
    engine.grade_now(sample("cleo-misconceived", chapter), chapter)
    assert hidden_tests.hidden_tests(Chapter(chapter).tests) is tests
    assert state_of(tests) == before


def test_something_left_to_the_next_is_seen(tmp_path: Path, student: Student):
    tests = HiddenTests(written(tmp_path, ODD_TESTS))
    before = state_of(tests)
    tests.run(student)
    assert state_of(tests) != before


def outcomes_of_plain_pytest(notebook: NotebookNode) -> list[list]:
    """Each case's number and whether it passed, by pytest's own main loop and reports."""

    class Plugin:
        def __init__(self, student: Student) -> None:
            self.given, self.seen = student, []

        @pytest.fixture
        def student(self) -> Student:
            self.given.calls = []
            return self.given

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.when == "call":
                self.seen.append([report.nodeid.split("::")[-1], report.passed])

    limits = engine.limits_of(CHAPTER)
    with Session(engine.code_cells(notebook, limits), limits) as session:
        plugin = Plugin(Student(session, engine.parameters_of(CHAPTER)))
        file = str(Chapter(CHAPTER).tests)
        quiet = ["--capture=no", "-p", "no:terminal", "-p", "no:cacheprovider"]
        pytest.main([*quiet, "-c", "/dev/null", file], [plugin])
    return plugin.seen


def test_every_case_goes_as_in_plain_pytest():
    wrong = misconceptions_of(CHAPTER).of("speculative_accept")[0]
    notebook = right(speculative_accept=wrong.code)
    limits = engine.limits_of(CHAPTER)
    with Session(engine.code_cells(notebook, limits), limits) as session:
        tests = HiddenTests(Chapter(CHAPTER).tests)
        cases = tests.run(Student(session, engine.parameters_of(CHAPTER)))
    names = [item.nodeid.split("::")[-1] for item in tests.items]
    ours = [[name, c.error is None] for name, c in zip(names, cases, strict=True)]
    assert ours == outcomes_of_plain_pytest(notebook)
    assert {passed for _, passed in ours} == {True, False}


def test_fixtures_of_any_scope_end_with_the_submission(tmp_path: Path, student: Student):
    tests = HiddenTests(written(tmp_path, ODD_TESTS))
    for _ in range(2):
        errors = [case.error for case in tests.run(student)]
        assert errors == [None, "f: not written yet", None]


FIXTURES = """
import pytest
from autograde.check import behaviour

@pytest.fixture
def doubled(request):
    return 2 * request.param

@pytest.fixture(params=[7, 8])
def squared(request):
    return request.param ** 2

@behaviour("f", "a fixture works on the parameter first")
@pytest.mark.parametrize("doubled", [3], indirect=True)
def test_indirect(doubled, student):
    assert doubled == 6

@behaviour("f", "one after the other")
@pytest.mark.parametrize("doubled", [3], indirect=True)
@pytest.mark.parametrize("a, b", [(1, 2)])
@pytest.mark.parametrize(["c"], [(3,)])
def test_all(squared, student, a, b, c, doubled):
    assert (a, b, c, doubled) == (1, 2, 3, 6) and squared in (49, 64)

@behaviour("f", "no parameters")
def test_alone(student):
    pass
"""


def test_arguments_of_fixtures_are_left_to_the_fixtures(tmp_path: Path, student: Student):
    tests = HiddenTests(written(tmp_path, FIXTURES))
    assert [case.error for case in tests.run(student)] == [None] * 4


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "could not be collected"),
        ("import nothing_of_that_name", "could not be collected"),
        ("def test_x(no_such_fixture): pass", "no_such_fixture"),
    ],
)
def test_tests_that_cannot_run_are_a_fault_of_the_grader(tmp_path, student, text, words):
    with pytest.raises(RuntimeError, match=words):
        run_hidden_tests(written(tmp_path, text), student)


def test_after_an_interruption_the_tests_are_collected_anew(tmp_path: Path, student: Student):
    path = written(tmp_path, ODD_TESTS)
    collected = hidden_tests.hidden_tests(path)
    collected.items.append("not an item")
    with pytest.raises(RuntimeError, match="listchain"):
        run_hidden_tests(path, student)
    assert len(run_hidden_tests(path, student)) == 3
