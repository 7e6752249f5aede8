"""From cases to marks and words, on a toy exercise whose cases run in this process."""

import json
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from attempts import ATTEMPTS, Attempt
from classes.submitting import CHAPTER, right

from autograde.course import AuthorError
from autograde.grading import grade
from autograde.grading.judge import judge
from autograde.grading.result import Exercise
from autograde.hidden import exercise
from autograde.hidden.causes import Known
from autograde.hidden.exercise import is_close
from autograde.hidden.known_bugs import KnownBug
from autograde.hidden.reference import Reference
from autograde.hidden.runner import HiddenTests
from autograde.sandbox.session import Cell
from autograde.sandbox.student import Student
from autograde.tools.gates import judged

RIGHT = "return x + 1"
BUGS = {
    "predecessor": "return x - 1",
    "none of zero": "return 0.0 if x == 0 else x + 1",
    "large ones stay": "return x if x > 9 else x + 1",
    "large ones stay by another name": "return x if x > 8 else x + 1",
    "large ones stay and more": "return x if x > 9 else 2.0 if x == 0 else x + 1",
}


def toy() -> exercise.Exercise:
    """An exercise of three groups, one of which counts twice."""
    f = exercise.Exercise("f")
    f.group("small")(lambda rng: iter((1.0, 2.0, 3.0)))
    f.group("zero")(lambda rng: iter((0.0, 4.0)))
    f.group("large", weight=2, hint="Look at ten.")(lambda rng: iter((10.0, 20.0, 30.0)))
    return f


def collected(*exercises: exercise.Exercise, graded: tuple[str, ...] = ("f",)) -> HiddenTests:
    module = SimpleNamespace(**{f"e{i}": each for i, each in enumerate(exercises)})
    module.__file__ = "test_00_bottleneck.py"
    return HiddenTests(module, graded, lambda: student_of(RIGHT))


def student_of(body: str) -> Student:
    return Student(Reference([Cell("f", f"def f(x):\n    {body}", 1.0)]), {"f": ["x"]})


def test_an_exercise_without_a_test_is_told():
    with pytest.raises(AuthorError, match="^test_00_bottleneck.py: g has points and no test"):
        collected(toy(), graded=("f", "g"))


@pytest.fixture(scope="module")
def marked() -> Callable[[str], Exercise]:
    """What a function `f` whose body is given gets in the toy exercise."""
    tests, own = collected(toy()), Reference([])
    bugs = [KnownBug("f", think, "it is not so.", body) for think, body in BUGS.items()]
    functions = [own.defined("f", f"def f(x):\n    {bug.code}") for bug in bugs]
    known = Known(tests.run(student_of(RIGHT)), bugs, functions)

    def mark(body: str) -> Exercise:
        exercises = {"f": Exercise(4.0)}
        judge(tests.run(student_of(body)), exercises, lambda name: known)
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
    assert "You may have assumed that predecessor But it is not so." in first
    assert "You may" not in second + third and "f(x=0.0) gave -1.0, and not 1.0." in second


@pytest.mark.parametrize("value", ["[]", "[x + 1]", "'x'", "None", "{x: 1}", "[[1], 2]"])
def test_what_is_no_number_passes_where_a_number_is_asked_for_nowhere(marked, value: str):
    """NumPy takes an empty row, or a row of equal numbers, for any number."""
    assert marked(f"return {value}").passed == 0


@pytest.mark.parametrize("wrap", [np.array, np.atleast_1d, torch.tensor, lambda x: [x]])
@pytest.mark.parametrize("narrow", [np.float16, np.float32])
def test_a_narrow_type_does_not_loosen_the_comparison(narrow: type, wrap):
    assert not is_close(wrap(narrow(0.51)), wrap(np.float64(0.5)))
    assert not is_close(wrap(narrow(0.5005)), wrap(narrow(0.5)))
    assert is_close(wrap(np.float32(0.1)), wrap(np.float32(0.1) + np.float32(1e-8)))


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 8 bytes")],
    ids=["Python", "torch"],
)
def test_what_the_grader_has_no_memory_for_is_not_remembered_as_a_bugs_outcome(error: Exception):
    outcomes = iter([error])

    def bug(x: float) -> float:
        for each in outcomes:
            raise each
        return x

    known = Known(collected(toy()).run(student_of(RIGHT)), [], [bug])
    key = next(iter(known.calls))
    with pytest.raises(MemoryError):
        known.guesses(key)
    (outcome,) = known.guesses(key)
    assert outcome.error is None


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda each: each.name)
def test_each_failed_group_of_a_chapter_is_told_its_true_cause_or_none(attempt: Attempt):
    exercises = judged(attempt.chapter, **{attempt.exercise: attempt.code})
    failed = [each.cause for each in exercises[attempt.exercise].groups if not each.passed]
    told = [cause for cause in failed if cause]
    assert failed and all(any(words in each for words in attempt.causes) for each in told), told
    assert bool(told) == bool(attempt.causes), failed


HUGE = {
    "quiz_02": 'quiz_02 = "x" * 900_000',
    "acceptance_probability": "def acceptance_probability(*_): return {'x' * 900_000: 1}",
    "speculative_accept": "def speculative_accept(*_):\n    return [['x' * 99] * 40] * 40",
}


def test_a_students_value_of_any_size_makes_a_short_report():
    """nbgrader writes the messages into the notebook and twice into each page."""
    result = grade.grade_now(right(**HUGE), CHAPTER)
    assert not any(result.exercises[name].score for name in HUGE)
    assert "'xxxxx" in str(result.exercises["acceptance_probability"].messages)
    assert len(json.dumps(result.to_json())) < 150_000
