"""Which cause is said of a wrong answer: never a wrong one, and both of two mistakes."""

import numpy as np
import pytest
from tqdm import tqdm
from wrong_answers import fresh, held_out, tuned
from wrong_answers.attempts import Attempt

from autograde.cause import Known, causes_of
from autograde.chapter import chapter_names
from autograde.check import Exercise
from autograde.grade import known_of
from autograde.runner import Case
from autograde.sandbox.session import Reply
from autograde.sandbox.student import Call
from autograde.tools.proof import grade_with
from autograde.wrong import Misconceptions, misconceptions_of

SETS = {"tuned": tuned.CHAPTERS, "held_out": held_out.CHAPTERS, "fresh": fresh.CHAPTERS}
# Attempts that were told of a mistake that they do not make, or of none where one is known.
ONCE_WRONG = (
    *("a_call_at_the_end", "bonus_by_another_pass", "drafts_what_is_left", "ratio_as_it_is"),
    *("one_where_q_is_zero", "ratio_first_with_warnings", "nearly_equal", "returns_p"),
    *("ratio_first", "at_most_eight", "coins_of_the_first_row", "feeds_the_newest"),
)


def told(chapter: str, attempt: Attempt) -> set[str]:
    """The causes that the author of an attempt reads of, by name."""
    result = grade_with(chapter, **{attempt.exercise: attempt.code})
    exercise = result.exercises[attempt.exercise]
    assert exercise.messages, f"{attempt.name} is taken for right"
    return {behaviour.cause for behaviour in exercise.behaviours if behaviour.cause}


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_the_true_cause_is_said_or_none(name: str):
    ((chapter, attempt),) = [
        (c.chapter, a) for c in tuned.CHAPTERS for a in c.all if a.name == name
    ]
    assert told(chapter, attempt) == set(attempt.causes)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_no_cause_is_wrong_and_most_are_found(name: str):
    known = [(c.chapter, attempt) for c in SETS[name] for attempt in c.all]
    said = [told(*each) for each in tqdm(known, desc=name)]
    wrong = [a.name for (_, a), causes in zip(known, said, strict=True) if causes - set(a.causes)]
    found = [bool(causes) for (_, a), causes in zip(known, said, strict=True) if a.causes]
    assert wrong == [] and sum(found) >= 0.75 * len(found)


def test_the_causes_of_attempts_are_registered():
    for chapter in (c for chapters in SETS.values() for c in chapters):
        names = {(w.exercise, w.name) for w in misconceptions_of(chapter.chapter).all}
        asked = {(a.exercise, cause) for a in chapter.all for cause in a.causes}
        assert asked - names == set()


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapter_names())
def test_every_wrong_answer_comes_back_from_every_hidden_call(chapter: str):
    """So none can keep the grader waiting: they run on the calls of the right answer alone."""
    for exercise in {wrong.exercise for wrong in misconceptions_of(chapter).all}:
        known = known_of(chapter, exercise)
        places = [(*call, part) for call, parts in known.right.items() for part in parts]
        for number in range(len(known.wrong)):
            assert len([known.guess(number, place) for place in places]) == len(places)


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


@successor.wrong(think="it may be halved.", because="it may not.")
def large_ones_stay_by_another_name(x):
    return x if x > 8 else x + 1


EXERCISE = Exercise("successor")
BEHAVIOURS = [EXERCISE.behaviour(name) for name in ("small", "zero", "large")]
NUMBERS = [(1.0, 2.0, 3.0), (0.0, 0.0, 4.0), (10.0, 20.0, 30.0)]


def call_of(function, x: float, warned: str = "") -> Call:
    """A recorded call, also of a function that raises."""
    try:
        reply = Reply(function(x), [warned] if warned else [], [], False)
    except Exception as error:
        return Call("successor", (x,), None, type(error).__name__)
    return Call("successor", (x,), reply, None)


def cases_of(function, warned: str = "", shift: float = 0.0) -> list[Case]:
    """A case for each number, failed unless the function adds 1 without a warning."""
    cases = []
    for behaviour, numbers in zip(BEHAVIOURS, NUMBERS, strict=True):
        for x in numbers:
            call = call_of(function, x + shift, warned)
            same = call.reply is not None and np.all(call.reply.value == x + shift + 1)
            error = None if same and not warned else "wrong"
            cases.append(Case("successor", behaviour, error, error, calls=[call]))
    return cases


@pytest.fixture
def known() -> Known:
    ASKED.clear()
    return Known(cases_of(lambda x: x + 1), REGISTRY.all)


def names_by_case(known: Known, cases: list[Case]) -> list[list[str]]:
    found = causes_of(known, cases)
    return [[cause.name for cause in found.get(i, [])] for i in range(len(cases))]


def test_one_mistake_is_said_wherever_it_shows(known: Known):
    said = names_by_case(known, cases_of(lambda x: x - 1.0))
    assert said == [["predecessor"]] * 9


def test_each_of_two_mistakes_is_said_where_it_shows(known: Known):
    only = Known(known_cases(), REGISTRY.all[1:3])
    said = names_by_case(only, cases_of(lambda x: 0.0 if x == 0 else x if x > 9 else x + 1))
    assert said[3:5] == [["none_of_zero"]] * 2 and said[6:] == [["large_ones_stay"]] * 3
    assert said[:3] == [[]] * 3 and said[5] == []


@pytest.mark.parametrize("kind, said", [(int, []), (float, ["below_ten", "two_to_ten"])])
def test_one_whole_number_that_agrees_is_no_second_mistake(kind: type, said: list[str]):
    registry = Misconceptions()
    both = registry.exercise("successor")

    @both.wrong(think="numbers below 10 stay.", because="they do not.")
    def below_ten(x):
        return kind(x if x < 10 else x + 1)

    @both.wrong(think="2 is added from 2 to 10.", because="it is not.")
    def two_to_ten(x):
        return kind(x + 2 if 2 <= x <= 10 else x + 1)

    def answer(x):  # at 4 it does what neither does
        return kind(-1 if x == 4 else x if x < 10 else 12 if x == 10 else x + 1)

    evidence = Known(cases_of(lambda x: kind(x + 1)), registry.all)
    names = names_by_case(evidence, cases_of(answer))
    assert sorted({name for each in names for name in each}) == said


def known_cases() -> list[Case]:
    return cases_of(lambda x: x + 1)


def test_a_mistake_that_two_misconceptions_explain_has_no_cause(known: Known):
    said = names_by_case(known, cases_of(lambda x: x if x > 9 else x + 1))
    assert said == [[]] * 9


def test_one_right_call_where_the_misconception_is_wrong_refutes_it(known: Known):
    said = names_by_case(known, cases_of(lambda x: x + 1 if x == 3 else x - 1))
    assert said == [[]] * 9


def test_a_warning_is_no_evidence(known: Known):
    assert names_by_case(known, cases_of(lambda x: x + 1, warned="dear student")) == [[]] * 9


@pytest.mark.parametrize("error", ["CallTimedOut", "ProcessEnded", "NotDefined"])
def test_a_limit_is_no_evidence(known: Known, error: str):
    cases = cases_of(lambda x: x - 1)
    stopped = Call("successor", (1.0,), None, error)
    ended = [Case("successor", c.behaviour, "no", "no", calls=[stopped]) for c in cases]
    assert names_by_case(known, ended) == [[]] * 9


def test_an_exception_alone_is_no_misconception(known: Known):
    def raising(x):
        raise TypeError

    assert names_by_case(known, cases_of(raising)) == [[]] * 9


def test_misconceptions_run_once_on_each_right_call_and_on_nothing_else(known: Known):
    for shift in (0.0, 0.0, 1e9):
        causes_of(known, cases_of(lambda x: x - 1, shift=shift))
    assert sorted(ASKED) == sorted(x for numbers in NUMBERS for x in numbers)


def test_a_case_may_name_its_cause_itself(known: Known):
    cases = cases_of(lambda x: x + 1, warned="w")
    cases[0].cause = "none_of_zero"
    assert names_by_case(known, cases)[:2] == [["none_of_zero"], []]


def test_parts_of_a_tuple_have_causes_of_their_own():
    registry = Misconceptions()
    both = registry.exercise("successor")

    @both.wrong(think="the first is x.", because="it is not.")
    def first_is_x(x):
        return x, 2 * x

    @both.wrong(think="the second is x.", because="it is not.")
    def second_is_x(x):
        return x + 1, x

    pairs = Known(cases_of(lambda x: (x + 1, 2 * x)), registry.all)
    for form in (tuple, list, np.array):
        (said, *_) = names_by_case(pairs, cases_of(lambda x, form=form: form([x, x])))
        assert said == ["first_is_x", "second_is_x"]


def test_numbers_are_compared_to_rounding_and_kinds_exactly():
    right = cases_of(lambda x: x + 1)
    for near in (lambda x: x + 1 + 1e-13, lambda x: np.float64(x + 1)):
        said = names_by_case(Known(right, REGISTRY.all), cases_of(near))
        assert said == [[]] * 9


def test_a_form_shares_words_and_name_with_the_first():
    first, second = (
        w for w in misconceptions_of("02_rejection_sampling").all if w.name == "no_cap"
    )
    assert (first.think, first.because, first.thought) == (second.think, second.because, "no_cap")
    assert first.code != second.code


def test_a_form_of_nothing_is_refused():
    with pytest.raises(ValueError, match="that is no wrong answer to successor"):
        successor.form_of(print)(lambda x: x)


def test_two_causes_are_refuted_each_in_its_own_words():
    ((attempt),) = [a for a in tuned.CH02.all if a.name == "filter_of_all"]
    exercise = grade_with(tuned.CH02.chapter, **{attempt.exercise: attempt.code}).exercises
    messages = "\n".join(exercise[attempt.exercise].messages)
    known = misconceptions_of(tuned.CH02.chapter).of(attempt.exercise)
    words = [w.think for w in known if w.name in attempt.causes]
    assert len(words) == 2 and all(think in messages for think in words)


def test_the_sets_are_large_and_of_all_chapters():
    assert [c.chapter for c in held_out.CHAPTERS] == chapter_names()
    all_of = [a for chapters in SETS.values() for c in chapters for a in c.all]
    assert len(all_of) >= 125 and len([a for a in all_of if len(a.causes) == 2]) >= 25
