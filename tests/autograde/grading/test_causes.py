"""Which cause is said of a wrong answer: the true one, or none."""

import numpy as np
import pytest
from attempts import ATTEMPTS, Attempt

from autograde.cause import Known, causes_of
from autograde.chapter import chapter_names
from autograde.check import Exercise
from autograde.grade import known_of
from autograde.runner import Case
from autograde.sandbox.session import Reply
from autograde.sandbox.student import Call
from autograde.tools.proof import judged
from autograde.wrong import Misconceptions, misconceptions_of


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda each: each.name)
def test_each_failed_behaviour_is_told_its_true_cause_or_none(attempt: Attempt):
    exercises = judged(attempt.chapter, **{attempt.exercise: attempt.code})
    behaviours = exercises[attempt.exercise].behaviours
    assert [each.cause for each in behaviours if not each.passed] == attempt.causes


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapter_names())
def test_every_wrong_answer_comes_back_from_every_hidden_call(chapter: str):
    """So none can keep the grader waiting: they run on the calls of the right answer alone."""
    for exercise in {wrong.exercise for wrong in misconceptions_of(chapter).all}:
        known = known_of(chapter, exercise)
        for number in range(len(known.wrong)):
            assert len([known.guess(number, key) for key in known.calls]) == len(known.calls)


# --- an exercise of numbers: the right answer adds 1 ------------------------------------------

REGISTRY = Misconceptions()
successor = REGISTRY.exercise("successor")
ASKED: list[float] = []  # with what the wrong answers were called


@successor.wrong(think="adding is subtracting.", because="it is not.")
def predecessor(x):
    ASKED.append(x)
    return x - 1


@successor.wrong(think="0 is special.", because="it is not.")
def none_of_zero(x):
    return 0.0 if x == 0 else x + 1


@successor.wrong(think="large numbers stay.", because="they do not.")
def large_ones_stay(x):
    return x if x > 9 else x + 1


@successor.wrong(think="what is above 8 stays.", because="it does not.")
def large_ones_stay_by_another_name(x):
    return x if x > 8 else x + 1


@successor.wrong(think="large numbers stay, and 0 becomes 2.", because="it does not.")
def large_ones_stay_and_more(x):
    return x if x > 9 else 2.0 if x == 0 else x + 1


EXERCISE = Exercise("successor")
BEHAVIOURS = [EXERCISE.behaviour(name) for name in ("small", "zero", "large")]
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
    for behaviour, numbers in zip(BEHAVIOURS, NUMBERS, strict=True):
        for x in numbers:
            call = call_of(function, x + shift)
            same = call.reply is not None and np.all(call.reply.value == right(x + shift))
            error = None if same else "wrong"
            cases.append(Case("successor", behaviour, error, error, calls=[call]))
    return cases


@pytest.fixture
def known() -> Known:
    ASKED.clear()
    return Known(cases_of(lambda x: x + 1), REGISTRY.all)


def names(known: Known, cases: list[Case]) -> list[str | None]:
    """The causes of small, zero and large."""
    found = causes_of(known, cases)
    return [found[each].name if each in found else None for each in BEHAVIOURS]


@pytest.mark.parametrize(
    "answer, causes",
    [
        (lambda x: x - 1.0, ["predecessor"] * 3),
        (lambda x: [x - 1], [None] * 3),
        (lambda x: 0.0 if x == 0 else x if x > 9 else x + 1, [None, "none_of_zero", None]),
        (lambda x: x + 1 if x == 3 else x - 1, [None] * 3),
        (lambda x: x if x in (0, 20) else x + 1, [None, "none_of_zero", None]),
        (lambda x: 0.0 if x == 0 else -1.0 if x != 4 else 5.0, [None] * 3),
        (lambda x: 1 / 0, [None] * 3),
    ],
    ids=["one", "form", "two", "right beside it", "and a slip", "most without a cause", "raises"],
)
def test_a_cause_is_what_nothing_speaks_against(known: Known, answer, causes: list):
    """Large numbers that stay have none: two explain them, and neither explains more."""
    assert names(known, cases_of(answer)) == causes


def test_of_two_the_one_that_explains_more_is_said(known: Known):
    answer = large_ones_stay_and_more
    assert names(known, cases_of(answer)) == [None] + ["large_ones_stay_and_more"] * 2


@pytest.mark.parametrize("error", ["CallTimedOut", "ProcessEnded", "NotDefined"])
def test_a_limit_is_no_evidence(known: Known, error: str):
    cases = cases_of(lambda x: x - 1)
    stopped = Call("successor", (1.0,), None, error)
    ended = [Case("successor", c.behaviour, "no", "no", calls=[stopped]) for c in cases]
    assert names(known, ended) == [None] * 3


def test_misconceptions_run_once_on_each_right_call_and_on_nothing_else(known: Known):
    for shift in (0.0, 0.0, 1e9):
        causes_of(known, cases_of(lambda x: x - 1, shift))
    assert sorted(ASKED) == sorted(x for numbers in NUMBERS for x in numbers)


def test_a_case_may_name_its_cause_itself(known: Known):
    cases = cases_of(lambda x: -5.0)
    cases[0].cause = "none_of_zero"
    assert names(known, cases) == ["none_of_zero", None, None]


def test_a_list_or_an_array_in_place_of_a_tuple_hides_no_cause():
    registry = Misconceptions()
    pair = registry.exercise("successor")

    @pair.wrong(think="both are x.", because="they are not.")
    def both_are_x(x):
        return x, x

    right = cases_of(lambda x: (x + 1, 2 * x), right=lambda x: (x + 1, 2 * x))
    for form in (tuple, list, np.array):
        cases = cases_of(lambda x, form=form: form([x, x]))
        assert names(Known(right, registry.all), cases) == ["both_are_x"] * 3


def test_a_form_shares_words_and_name_with_the_first():
    first, second = (
        w for w in misconceptions_of("02_rejection_sampling").all if w.name == "no_cap"
    )
    assert (first.think, first.because, first.thought) == (second.think, second.because, "no_cap")
    assert first.code != second.code


def test_a_form_of_nothing_is_refused():
    with pytest.raises(ValueError, match="that is no wrong answer to successor"):
        successor.form_of(print)(lambda x: x)
