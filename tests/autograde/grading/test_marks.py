"""From cases to marks and words, on a toy exercise whose cases run in this process."""

import json
from collections.abc import Callable

import pytest
from attempts import chapter_of, with_slips
from classes.chapter_cases import judge_each
from classes.submitting import CHAPTER, right
from data_files import table

from autograde.grading import grade, result
from autograde.grading.judge import judge
from autograde.hidden.causes import Known, KnownBug
from autograde.hidden.exercise import Case, Exercise, Group
from autograde.hidden.material import Reference
from autograde.hidden.plugin import case_of
from autograde.sandbox.session import Cell
from autograde.sandbox.student import Student
from specdec_lib.lessons.checking import expect

RIGHT = "return x + 1"
TOY = table("toy_marks.toml")
BUGS = TOY["bugs"]


def student_of(body: str) -> Student:
    return Student(Reference([Cell("f", f"def f(x):\n    {body}", 1.0)]), {"f": ["x"]})


F = Exercise("f")
GROUPS = {
    "small": (Group(F, "small"), (1.0, 2.0, 3.0)),
    "zero": (Group(F, "zero"), (0.0, 4.0)),
    "large": (Group(F, "large", weight=2), (10.0, 20.0, 30.0)),
}


def run(body: str) -> list[Case]:
    """The cases of three groups, one of which counts twice, for a function `f` of one argument."""
    cases = []
    for group, values in GROUPS.values():
        for value in values:
            student, error = student_of(body), None
            try:
                expect(student.f, value, gives=value + 1, hint="Look at ten.", form=False)
            except Exception as raised:
                error = raised
            cases.append(case_of(group, error, student))
    return cases


@pytest.fixture(scope="module")
def marked() -> Callable[[str], result.Exercise]:
    """What a function `f` whose body is given gets in the toy exercise."""
    own = Reference([])
    bugs = [KnownBug("f", think, "it is not so.", body) for think, body in BUGS.items()]
    functions = [own.defined("f", f"def f(x):\n    {bug.code}") for bug in bugs]
    known = Known(run(RIGHT), bugs, functions)
    return lambda body: judge(run(body), {"f": 4.0}, {"f": known}, {})["f"]


@pytest.mark.parametrize("body, causes", TOY["causes"].values(), ids=TOY["causes"])
def test_a_cause_is_what_nothing_speaks_against(marked, body: str, causes: list[str]):
    assert [each.cause or "" for each in marked(body).groups if not each.passed] == causes


def test_a_group_counts_whole_and_says_call_values_and_cause_once(marked):
    exercise = marked("return x + 1 if x < 20 else x - 1")
    assert (exercise.score, exercise.passed, exercise.max_score) == (2.0, 2, 4.0)
    assert exercise.messages == ["large: f(x=20.0) returned 19, expected 21. Look at ten."]
    first, second, third = marked(BUGS["predecessor"]).messages
    assert "You may have assumed that predecessor But it is not so." in first
    assert "You may" not in second + third and "f(x=0.0) returned -1, expected 1." in second


@pytest.mark.parametrize("value", ["[]", "[x + 1]", "'x'", "None", "{x: 1}", "[[1], 2]"])
def test_what_is_no_number_passes_where_a_number_is_asked_for_nowhere(marked, value: str):
    """NumPy takes an empty row, or a row of equal numbers, for any number."""
    assert marked(f"return {value}").passed == 0


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

    known = Known(run(RIGHT), [], [bug])
    key = next(iter(known.calls))
    with pytest.raises(MemoryError):
        known.outcomes(key)
    (outcome,) = known.outcomes(key)
    assert outcome.error is None


ATTEMPTS = table("attempts.toml")  # by exercise: wrong answers, and words of their causes


@pytest.mark.parametrize("exercise", ATTEMPTS)
def test_each_failed_group_is_told_its_true_cause_or_none(exercise: str):
    rows = ATTEMPTS[exercise]
    codes = [row.get("code") or with_slips(exercise, *row["slips"]) for row in rows]
    results = judge_each(chapter_of(exercise), *({exercise: code} for code in codes))
    for row, exercises in zip(rows, results, strict=True):
        groups = exercises[exercise].groups
        failed = [each.cause for each in groups if not each.passed]
        assert not any("function(" in each.message for each in groups)  # a call has its own name
        told = [cause for cause in failed if cause]
        assert failed and all(any(w in each for w in row["causes"]) for each in told), (row, told)
        assert bool(told) == bool(row["causes"]), (row, failed)


HUGE = {
    "quiz_02": 'quiz_02 = "x" * 900_000',
    "acceptance_probability": "def acceptance_probability(*_): return {'x' * 900_000: 1}",
    "speculative_accept": "def speculative_accept(*_):\n    return [['x' * 99] * 40] * 40",
}


def test_a_students_value_of_any_size_makes_a_short_report():
    """nbgrader writes the messages into the notebook and twice into each page."""
    graded = grade.grade_now(right(**HUGE), CHAPTER)
    assert not any(graded.exercises[name].score for name in HUGE)
    assert "'xxxxx" in str(graded.exercises["acceptance_probability"].messages)
    assert len(json.dumps(graded.to_json())) < 150_000
