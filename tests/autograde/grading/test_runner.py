"""The hidden tests: collected once, run on one submission after the other, refused if they err."""

import io
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from classes.submitting import CHAPTER, right
from nbformat import NotebookNode

from autograde import grade as engine
from autograde import runner
from autograde.chapter import AuthorError, Chapter, chapter_names
from autograde.runner import Case, HiddenTests, collected
from autograde.sandbox.session import Session
from autograde.sandbox.student import Student
from autograde.tools.samples import sample
from autograde.wrong import misconceptions_of

HEAD = """import pytest
from autograde.check import Exercise

f = Exercise("f")
first = f.behaviour("first")
"""
GOOD = (
    HEAD
    + """
@first
@pytest.mark.parametrize("x", [1, 2])
def test_first(student, x):
    assert x == 1, f"{x} is not 1"
"""
)


@pytest.fixture
def tests_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., HiddenTests]:
    """Collects a text as the hidden tests of a chapter that grades `exercises`."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(Chapter, "import_tests", lambda self: __import__(self.tests.stem))
    monkeypatch.setattr(Chapter, "tests", tmp_path / f"ch00_{tmp_path.name}.py")

    def collect(text: str, *exercises: str) -> HiddenTests:
        Chapter("00").tests.write_text(text)
        return collected(Chapter("00"), exercises or ("f",))

    return collect


def outcomes(tests: HiddenTests) -> list[Case]:
    """The cases on a submission without any code."""
    return tests.run(Student(Session([]), {}))


@pytest.mark.parametrize(
    "text, line, words",
    [
        (GOOD.replace('"f"', '"F_typo"'), 7, "test_first tests F_typo, .* grades no such name: f"),
        (GOOD.replace('"first")', '"first", weight=0)'), 5, "the weight 0; write a whole number"),
        (HEAD + 'f.behaviour("first", weight=3)', 6, "f has the behaviour 'first' already"),
        (
            GOOD + '\n@Exercise("f").behaviour("b")\ndef test_b(student): ...',
            12,
            "a second Exercise",
        ),
        (GOOD.replace("@first\n", ""), 7, "test_first needs the decorator of one behaviour"),
        (GOOD.replace("@first\n", "@first\n@pytest.mark.skip\n"), 7, "has the mark skip"),
        (GOOD.replace("(student, x)", "(student, x, tmp_path)"), 7, "argument: 'tmp_path'"),
        (GOOD.replace("(student, x)", "(student)"), 7, "unexpected keyword argument 'x'"),
        (GOOD.replace('"x", [1', '"x, y", [(1, 2)'), 7, "cannot be called: .*int.* not iterable"),
        (GOOD.replace('"x", [', '"x", indirect=True, argvalues=['), 7, "argument 'indirect'"),
        (HEAD + "def test_first(student)", 6, "SyntaxError"),
        ("import nothing_of_that_name", 1, "No module named"),
    ],
    ids=[
        *("exercise", "weight", "two weights", "two exercises"),
        *("no behaviour", "mark", "fixture", "parameter", "values", "indirect", "syntax", "import"),
    ],
)
def test_a_mistake_in_hidden_tests_is_told_with_file_and_line(tests_in, text, line, words):
    with pytest.raises(AuthorError, match=f"^{Chapter('00').tests.name}:{line}: .*{words}"):
        tests_in(text)


@pytest.mark.parametrize(
    "text, exercises, words",
    [
        (GOOD, ("f", "g"), "g has points and no test"),
        (GOOD + 'f.behaviour("second")', ("f",), "no test has the behaviour 'second' of f"),
        ("", ("f",), "f has points and no test"),
    ],
)
def test_points_without_a_test_are_refused(tests_in, text, exercises, words):
    with pytest.raises(AuthorError, match=words):
        tests_in(text, *exercises)


@pytest.mark.parametrize(
    "options, words",
    [
        ('b="", c="", d=""', ":9: test_quiz tests quiz_x, and the chapter grades no such name"),
        ('b="", c=""', ":6: TypeError: .* missing 1 required positional argument: 'd'"),
    ],
)
def test_a_mistake_in_a_quiz_is_told_where_the_quiz_is_written(tests_in, options, words):
    text = f"""from autograde.chapters.common import quiz
from specdec_lib.lessons.common.answers import Quiz


def quiz_x() -> Quiz:
    return Quiz("a", a="", {options})


test_quiz = quiz(quiz_x)"""
    with pytest.raises(AuthorError, match=words):
        tests_in(text)


def outcomes_of_plain_pytest(notebook: NotebookNode) -> list[tuple[str, bool]]:
    """Each case's test function and whether it passed, by pytest's own main loop."""

    class Plugin:
        def __init__(self, student: Student) -> None:
            self.given, self.seen = student, []

        @pytest.fixture
        def student(self) -> Student:
            self.given.calls = []
            return self.given

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.when == "call":
                name = report.nodeid.split("::")[-1].partition("[")[0]
                self.seen.append((name, report.passed))

    limits = engine.limits_of(CHAPTER)
    with Session(engine.code_cells(notebook, limits), limits) as session:
        plugin = Plugin(Student(session, engine.parameters_of(CHAPTER)))
        quiet = ["--capture=no", "-p", "no:terminal", "-p", "no:cacheprovider"]
        pytest.main([*quiet, "-c", "/dev/null", str(Chapter(CHAPTER).tests)], [plugin])
    return plugin.seen


def test_every_case_goes_as_in_plain_pytest():
    wrong = misconceptions_of(CHAPTER).of("speculative_accept")[0]
    notebook = right(speculative_accept=wrong.code)
    limits, tests = engine.limits_of(CHAPTER), engine.hidden_tests_of(CHAPTER)
    with Session(engine.code_cells(notebook, limits), limits) as session:
        cases = tests.run(Student(session, engine.parameters_of(CHAPTER)))
    names = [trial.name for trial in tests.trials]
    ours = [(name, c.error is None) for name, c in zip(names, cases, strict=True)]
    assert ours == outcomes_of_plain_pytest(notebook)
    assert {passed for _, passed in ours} == {True, False}


STACKED = (
    HEAD
    + """
@first
@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.parametrize("b, c", [(3, 4), (5, 6)], ids=["x", "y"])
@pytest.mark.parametrize(["d"], [(7,)])
def test_all(student, a, b, c, d):
    raise AssertionError(str((a, b, c, d)))
"""
)


def test_stacked_parameters_come_in_the_order_of_pytest(tests_in):
    rows = [case.error for case in outcomes(tests_in(STACKED))]
    assert rows == ["(1, 3, 4, 7)", "(2, 3, 4, 7)", "(1, 5, 6, 7)", "(2, 5, 6, 7)"]


ENDS = (
    HEAD
    + """
class Odd(Exception):
    pass

@first
@pytest.mark.parametrize("end", [
    AssertionError("3 is not 4"), AssertionError(), NotImplementedError("f: not written yet"),
    Odd("what?"), pytest.fail.Exception("no"), pytest.skip.Exception("never"), SystemExit(1),
])
def test_first(student, end):
    raise end
"""
)


def test_a_case_ends_in_one_of_the_ways_that_check_py_lists(tests_in):
    cases = outcomes(tests_in(ENDS))
    assert [case.unwritten for case in cases] == [False, False, True, False, False, False, False]
    judged = "the result could not be judged ({}).".format
    assert [case.error for case in cases] == [
        "3 is not 4",
        judged("AssertionError: "),
        "f: not written yet",
        judged("Odd: what?"),
        judged("Failed: no"),
        judged("Skipped: never"),
        judged("SystemExit: 1"),
    ]


def test_an_interruption_ends_the_run(tests_in):
    tests = tests_in(ENDS.replace("SystemExit(1)", "KeyboardInterrupt()"))
    with pytest.raises(KeyboardInterrupt):
        outcomes(tests)


class Data(pickle.Pickler):
    """Pickles data and objects that hold data; code goes in by its name alone."""

    def persistent_id(self, value: object) -> str | None:
        is_code = isinstance(value, FunctionType | ModuleType | type)
        return getattr(value, "__qualname__", value.__name__) if is_code else None


def state_of(tests: HiddenTests) -> list[bytes]:
    """Everything that one run of the tests could leave to the next: arguments and globals."""
    arguments = [trial.arguments for trial in tests.trials]
    kept = [value for name, value in vars(tests.module).items() if not name.startswith("__")]
    return [pickled(value) for value in [*arguments, *kept]]


def pickled(value: object) -> bytes:
    file = io.BytesIO()
    Data(file).dump(value)
    return file.getvalue()


@pytest.mark.parametrize("chapter", chapter_names())
def test_no_submission_leaves_anything_to_the_next(chapter: str):
    tests = engine.hidden_tests_of(chapter)
    before = state_of(tests)
    engine.grade_now(sample("cleo-misconceived", chapter), chapter)
    assert engine.hidden_tests_of(chapter) is tests
    assert state_of(tests) == before


def test_something_left_to_the_next_is_seen(tests_in):
    tests = tests_in(GOOD.replace("assert", "f.left = 1\n    assert"))
    before = state_of(tests)
    assert [case.error for case in outcomes(tests)] == [None, "2 is not 1"]
    assert state_of(tests) != before


HUGE = {
    "quiz_02": 'quiz_02 = "x" * 900_000',
    "correct_token": "def correct_token(*_):\n    return {'x' * 400_000: 1, 'y' * 400_000: 2}",
    "speculative_accept": "def speculative_accept(*_):\n    return [['x' * 99] * 40] * 40",
}


def test_a_students_value_of_any_size_makes_a_short_report():
    """nbgrader writes the messages into the notebook and twice into each page."""
    result = engine.grade_now(right(**HUGE), CHAPTER)
    assert all(result.exercises[name].score < 4 for name in HUGE)
    assert "'xxxxx" in str(result.exercises["correct_token"].messages)
    assert len(json.dumps(result.to_json())) < 150_000


def test_no_message_is_longer_than_the_last_limit(tests_in, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runner, "MAX_MESSAGE", 20)
    case = outcomes(tests_in(GOOD.replace("is not 1", f"is not {'1' * 42}")))[1]
    assert re.fullmatch(
        r"2 is not 1{11} \.\.\. \(cut here, after 20 of 51 characters\)", case.error
    )
