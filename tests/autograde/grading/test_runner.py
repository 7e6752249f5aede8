"""The hidden tests: collected once, run on one submission after the other, refused if they err."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, right

from autograde import grade as engine
from autograde import runner
from autograde.chapter import AuthorError, Chapter, chapter_names
from autograde.runner import Case, HiddenTests, collected
from autograde.sandbox.session import Session
from autograde.sandbox.student import Student
from autograde.sandbox.trusted import Trusted
from autograde.tools.samples import sample

HEAD = """from autograde.check import Exercise

f = Exercise("f")
"""
GOOD = f"""{HEAD}
@f.check("first")
def one(student, solution, rng):
    assert False, "2 is not 1"
"""


@pytest.fixture
def tests_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., HiddenTests]:
    """Collects a text as the hidden tests of a chapter that grades `exercises`."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(Chapter, "import_tests", lambda self: __import__(self.tests.stem))
    monkeypatch.setattr(Chapter, "tests", tmp_path / f"ch00_{tmp_path.name}.py")
    solution = Student(Trusted([]), {})

    def collect(text: str, *exercises: str) -> HiddenTests:
        Chapter("00").tests.write_text(text)
        return collected(Chapter("00"), exercises or ("f",), lambda: solution)

    return collect


def outcomes(tests: HiddenTests) -> list[Case]:
    """The cases on a submission without any code."""
    return tests.run(Student(Session([]), {}))


NO_CASE = """
@f.group("second")
def none(rng):
    yield from ()
"""


@pytest.mark.parametrize(
    "text, exercises, words",
    [
        (GOOD.replace('"f"', '"F_typo"'), ("f",), "F_typo.* grades no such name: f"),
        (GOOD.replace('"first"', '"first", weight=0'), ("f",), "5: .*the weight 0"),
        (GOOD + 'g = Exercise("f")', ("f",), "two Exercise"),
        (HEAD + '@f.check("first")\ndef one(student)', ("f",), "5: SyntaxError"),
        ("import nothing_of_that_name", ("f",), "1: .*No module named"),
        (GOOD, ("f", "g"), "g has points and no test"),
        (GOOD + NO_CASE, ("f",), "the group 'second' of f has no case"),
        ("", ("f",), "f has points and no test"),
    ],
)
def test_a_mistake_in_hidden_tests_is_told(tests_in, text, exercises, words):
    with pytest.raises(AuthorError, match=f"^{Chapter('00').tests.name}:.*{words}"):
        tests_in(text, *exercises)


ENDS = f"""import pytest
{HEAD}
def ending(end):
    @f.check("first")
    def one(student, solution, rng):
        raise end

for end in (
    AssertionError("3 is not 4"), AssertionError(), NotImplementedError("f: not written yet"),
    RuntimeError("what?"), pytest.fail.Exception("no"), SystemExit(1),
):
    ending(end)
"""


def test_a_case_ends_in_one_of_the_ways_that_check_py_lists(tests_in):
    cases = outcomes(tests_in(ENDS))
    assert [case.unwritten for case in cases] == [False, False, True, False, False, False]
    judged = "the result could not be judged ({}).".format
    assert [case.error for case in cases] == [
        "3 is not 4",
        judged("AssertionError: "),
        "f: not written yet",
        judged("RuntimeError: what?"),
        judged("Failed: no"),
        judged("SystemExit: 1"),
    ]


def test_an_interruption_ends_the_run(tests_in):
    tests = tests_in(ENDS.replace("SystemExit(1)", "KeyboardInterrupt()"))
    with pytest.raises(KeyboardInterrupt):
        outcomes(tests)


@pytest.mark.parametrize("chapter", chapter_names())
def test_no_submission_leaves_anything_to_the_next(chapter: str):
    """The same right submission has the same result before and after a wrong one."""
    right_one, wrong_one = sample("ada-right", chapter), sample("cleo-misconceived", chapter)
    before = engine.grade_now(right_one, chapter).to_json()
    engine.grade_now(wrong_one, chapter)
    assert engine.grade_now(right_one, chapter).to_json() == before


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
    (case,) = outcomes(tests_in(GOOD.replace("is not 1", f"is not {'1' * 42}")))
    assert re.fullmatch(
        r"2 is not 1{11} \.\.\. \(cut here, after 20 of 51 characters\)", case.error
    )
