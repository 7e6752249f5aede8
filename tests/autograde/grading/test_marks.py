"""From cases to marks and words, on a toy exercise whose cases run in this process."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from attempts import ATTEMPTS, Attempt
from classes.submitting import CHAPTER, right

from autograde import grade as engine
from autograde.bugs import KnownBug, bugs_of
from autograde.cause import Known
from autograde.chapter import AuthorError, Chapter, chapter_names
from autograde.judge import judge
from autograde.result import Exercise
from autograde.runner import HiddenTests, collected
from autograde.sandbox.session import Cell
from autograde.sandbox.student import Student
from autograde.sandbox.trusted import Trusted
from autograde.tools.proof import judged
from autograde.tools.samples import sample

HEAD = """from autograde.check import Exercise

f = Exercise("f")
"""
GOOD = f"""{HEAD}
@f.check("first")
def one(student, solution, rng):
    assert False, "2 is not 1"
"""
NUMBERS = f"""{HEAD}
@f.group("small")
def small(rng):
    yield from (1.0, 2.0, 3.0)

@f.group("zero")
def zero(rng):
    yield from (0.0, 4.0)

@f.group("large", weight=2, hint="Look at ten.")
def large(rng):
    yield from (10.0, 20.0, 30.0)
"""
RIGHT = "def f(x):\n    return x + 1"


@pytest.fixture
def tests_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., HiddenTests]:
    """Collects a text as the hidden tests of a chapter that grades `exercises`."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(Chapter, "import_tests", lambda self: __import__(self.tests.stem))
    monkeypatch.setattr(Chapter, "tests", tmp_path / f"ch00_{tmp_path.name}.py")

    def collect(text: str, *exercises: str) -> HiddenTests:
        Chapter("00").tests.write_text(text)
        return collected(Chapter("00"), exercises or ("f",), lambda: student_of(RIGHT))

    return collect


def student_of(answer: str) -> Student:
    return Student(Trusted([Cell("f", answer, 1.0)]), {"f": ["x"]})


# --- what an author may write -----------------------------------------------------------------

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
    RuntimeError("what?"), pytest.fail.Exception("no"), AssertionError("x" * 9_000),
):
    ending(end)
"""


def test_a_case_ends_in_one_of_the_ways_that_check_py_lists(tests_in):
    cases = tests_in(ENDS).run(student_of(""))
    assert [case.unwritten for case in cases] == [False, False, True, False, False, False]
    *said, long = [case.error for case in cases]
    judged = "the result could not be judged ({}).".format
    unsaid, failed = judged("AssertionError: "), judged("RuntimeError: what?")
    assert said == ["3 is not 4", unsaid, "f: not written yet", failed, judged("Failed: no")]
    assert "cut here, after 4000 of 9000 characters" in long and len(long) < 4_100


def test_an_interruption_ends_the_run(tests_in):
    with pytest.raises(KeyboardInterrupt):
        tests_in(GOOD.replace('assert False, "2 is not 1"', "raise KeyboardInterrupt")).run(
            student_of("")
        )


# --- points and causes ------------------------------------------------------------------------

BUGS = {
    "predecessor": "return x - 1",
    "none of zero": "return 0.0 if x == 0 else x + 1",
    "large ones stay": "return x if x > 9 else x + 1",
    "large ones stay by another name": "return x if x > 8 else x + 1",
    "large ones stay and more": "return x if x > 9 else 2.0 if x == 0 else x + 1",
}


@pytest.fixture
def marked(tests_in) -> Callable[[str], Exercise]:
    """What a function `f` whose body is given gets, in the toy exercise of three groups."""
    tests, own = tests_in(NUMBERS), Trusted([])
    bugs = [KnownBug("f", think, "it is not so.", body) for think, body in BUGS.items()]
    functions = [own.defined("f", f"def f(x):\n    {bug.code}") for bug in bugs]
    known = Known(tests.run(student_of(RIGHT)), bugs, functions)

    def mark(body: str) -> Exercise:
        exercises = {"f": Exercise(4.0)}
        judge(tests.run(student_of(f"def f(x):\n    {body}")), exercises, lambda name: known)
        return exercises["f"]

    return mark


@pytest.mark.parametrize(
    "body, causes",
    [
        (BUGS["predecessor"], ["predecessor"] * 3),
        ("return [x - 1]", [None] * 3),
        ("return 0.0 if x == 0 else x if x > 9 else x + 1", ["none of zero", None]),
        ("return x + 1 if x == 3 else x - 1", [None] * 3),
        ("return x if x in (0, 20) else x + 1", ["none of zero", None]),
        ("return 0.0 if x == 0 else -1.0 if x != 4 else 5.0", [None, "none of zero", None]),
        (BUGS["large ones stay"], [None]),
        (BUGS["large ones stay and more"], ["large ones stay and more"] * 2),
        ("return 1 / 0", [None] * 3),
    ],
    ids=["one", "form", "two", "beside it", "a slip", "three", "either", "most", "raises"],
)
def test_a_cause_is_what_nothing_speaks_against(marked, body: str, causes: list):
    assert [each.cause for each in marked(body).groups if not each.passed] == causes


def test_a_group_counts_whole_and_says_call_values_and_cause_once(marked):
    exercise = marked("return x + 1 if x < 20 else x - 1")
    assert (exercise.score, exercise.passed, exercise.max_score) == (2.0, 2, 4.0)
    assert exercise.messages == ["large: f(x=20.0) gave 19.0, and not 21.0. Look at ten."]
    first, second, third = marked(BUGS["predecessor"]).messages
    assert first == (
        "small: You may have assumed that predecessor But it is not so. For example: "
        "f(x=1.0) gave 0.0, and not 2.0."
    )
    assert second == 'zero: f(x=0.0) gave -1.0, and not 1.0. (Same cause as under "small".)'
    assert marked("return 1 / 0").messages[1] == "zero: Same error as above."
    assert marked('raise NotImplementedError("f: not written yet")').messages == [
        "f: not written yet"
    ]


@pytest.mark.parametrize(
    "body",
    [
        "return []",
        "return [x + 1]",
        "return 'x'",
        "return None",
        "return {x: 1}",
        "return [[1], 2]",
    ],
)
def test_what_is_no_number_passes_where_a_number_is_asked_for_nowhere(marked, body: str):
    """NumPy takes an empty row, or a row of equal numbers, for any number."""
    assert marked(body).passed == 0


def test_a_list_an_array_and_float32_are_as_good_as_the_value(marked):
    assert marked("import numpy; return numpy.float32(x + 1)").passed == 3
    assert marked("import numpy; return numpy.array(x + 1)").passed == 3


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda each: each.name)
def test_each_failed_group_of_a_chapter_is_told_its_true_cause_or_none(attempt: Attempt):
    exercises = judged(attempt.chapter, **{attempt.exercise: attempt.code})
    causes = [each.cause for each in exercises[attempt.exercise].groups if not each.passed]
    assert len(causes) == len(attempt.causes)
    pairs = zip(causes, attempt.causes, strict=True)
    assert all(c is w is None or (w and c and c.startswith(w)) for c, w in pairs), causes


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapter_names())
def test_every_known_bug_comes_back_from_every_hidden_call(chapter: str):
    """So none can keep the grader waiting: they run on the calls of the right answer alone."""
    for exercise in {bug.exercise for bug in bugs_of(chapter)}:
        known = engine.known_of(chapter, exercise)
        assert all(len(known.guesses(key)) == len(known.bugs) for key in known.calls)


# --- one submission after the other -----------------------------------------------------------


def test_no_submission_leaves_anything_to_the_next():
    """The same right submission has the same result before and after a wrong one."""
    right_one, wrong_one = sample("ada-right", CHAPTER), sample("cleo-misconceived", CHAPTER)
    before = engine.grade_now(right_one, CHAPTER).to_json()
    engine.grade_now(wrong_one, CHAPTER)
    assert engine.grade_now(right_one, CHAPTER).to_json() == before


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
