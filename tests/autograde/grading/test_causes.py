"""Which cause is said of a wrong answer: the true one, or none."""

import numpy as np
import pytest
from attempts import ATTEMPTS, Attempt

from autograde.bugs import KnownBug, bugs_of
from autograde.cause import Known, causes_of
from autograde.chapter import chapter_names
from autograde.check import Exercise, Group
from autograde.grade import known_of
from autograde.runner import Case
from autograde.sandbox.session import Reply
from autograde.sandbox.student import Call
from autograde.tools.proof import judged


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda each: each.name)
def test_each_failed_behaviour_is_told_its_true_cause_or_none(attempt: Attempt):
    exercises = judged(attempt.chapter, **{attempt.exercise: attempt.code})
    causes = [each.cause for each in exercises[attempt.exercise].behaviours if not each.passed]
    assert len(causes) == len(attempt.causes)
    pairs = zip(causes, attempt.causes, strict=True)
    assert all(c is w is None or (w and c and c.startswith(w)) for c, w in pairs), causes


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapter_names())
def test_every_wrong_answer_comes_back_from_every_hidden_call(chapter: str):
    """So none can keep the grader waiting: they run on the calls of the right answer alone."""
    for exercise in {bug.exercise for bug in bugs_of(chapter)}:
        known = known_of(chapter, exercise)
        for number in range(len(known.wrong)):
            assert len([known.guess(number, key) for key in known.calls]) == len(known.calls)


# --- an exercise of numbers: the right answer adds 1 ------------------------------------------

ASKED: list[float] = []  # with what the wrong answers were called


def predecessor(x):
    ASKED.append(x)
    return x - 1


def large_ones_stay_and_more(x):
    return x if x > 9 else 2.0 if x == 0 else x + 1


WRONG = {
    "predecessor": predecessor,
    "none of zero": lambda x: 0.0 if x == 0 else x + 1,
    "large ones stay": lambda x: x if x > 9 else x + 1,
    "large ones stay by another name": lambda x: x if x > 8 else x + 1,
    "large ones stay and more": large_ones_stay_and_more,
}
BUGS = [KnownBug("successor", name, "it is not so.", "") for name in WRONG]
GROUPS = [Group(Exercise("successor"), name) for name in ("small", "zero", "large")]
NUMBERS = [(1.0, 2.0, 3.0), (0.0, 0.0, 4.0), (10.0, 20.0, 30.0)]


def call_of(function, x: float) -> Call:
    """A recorded call, also of a function that raises."""
    try:
        return Call("successor", (x,), Reply(function(x), [], [], False), None)
    except Exception as error:
        return Call("successor", (x,), None, type(error).__name__)


def cases_of(function, shift: float = 0.0, right=lambda x: x + 1) -> list[Case]:
    """A case for each number, failed unless the function gives what is right."""
    cases = []
    for group, numbers in zip(GROUPS, NUMBERS, strict=True):
        for x in numbers:
            call = call_of(function, x + shift)
            same = call.reply is not None and np.all(call.reply.value == right(x + shift))
            error = None if same else "wrong"
            cases.append(Case("successor", group, error, error, calls=[call]))
    return cases


@pytest.fixture
def known() -> Known:
    ASKED.clear()
    return Known(cases_of(lambda x: x + 1), BUGS, list(WRONG.values()))


def names(known: Known, cases: list[Case]) -> list[str | None]:
    """The causes of small, zero and large."""
    found = causes_of(known, cases)
    return [found[each].think if each in found else None for each in GROUPS]


@pytest.mark.parametrize(
    "answer, causes",
    [
        (lambda x: x - 1.0, ["predecessor"] * 3),
        (lambda x: [x - 1], [None] * 3),
        (lambda x: 0.0 if x == 0 else x if x > 9 else x + 1, [None, "none of zero", None]),
        (lambda x: x + 1 if x == 3 else x - 1, [None] * 3),
        (lambda x: x if x in (0, 20) else x + 1, [None, "none of zero", None]),
        (lambda x: 0.0 if x == 0 else -1.0 if x != 4 else 5.0, [None, "none of zero", None]),
        (lambda x: 1 / 0, [None] * 3),
    ],
    ids=["one", "form", "two", "right beside it", "and a slip", "three", "raises"],
)
def test_a_cause_is_what_nothing_speaks_against(known: Known, answer, causes: list):
    """Large numbers that stay have none: two explain them, and neither explains more."""
    assert names(known, cases_of(answer)) == causes


def test_of_two_the_one_that_explains_more_is_said(known: Known):
    answer = large_ones_stay_and_more
    assert names(known, cases_of(answer)) == [None] + ["large ones stay and more"] * 2


@pytest.mark.parametrize("error", ["CallTimedOut", "ProcessEnded", "NotDefined"])
def test_a_limit_is_no_evidence(known: Known, error: str):
    cases = cases_of(lambda x: x - 1)
    stopped = Call("successor", (1.0,), None, error)
    ended = [Case("successor", c.group, "no", "no", calls=[stopped]) for c in cases]
    assert names(known, ended) == [None] * 3


def test_misconceptions_run_once_on_each_right_call_and_on_nothing_else(known: Known):
    for shift in (0.0, 0.0, 1e9):
        causes_of(known, cases_of(lambda x: x - 1, shift))
    assert sorted(ASKED) == sorted(x for numbers in NUMBERS for x in numbers)


def test_a_case_may_name_its_cause_itself(known: Known):
    cases = cases_of(lambda x: -5.0)
    cases[0].cause = "none of zero"
    assert names(known, cases) == ["none of zero", None, None]


def test_a_list_or_an_array_in_place_of_a_tuple_hides_no_cause():
    right = cases_of(lambda x: (x + 1, 2 * x), right=lambda x: (x + 1, 2 * x))
    known = Known(right, [KnownBug("successor", "both are x", "", "")], [lambda x: (x, x)])
    for form in (tuple, list, np.array):
        cases = cases_of(lambda x, form=form: form([x, x]))
        assert names(known, cases) == ["both are x"] * 3
