"""Hidden tests of chapter 03. Points attach to behaviours; see autograde/check.py.

Their numbers stand in numbers/ch03_numbers.py. What cannot be changed is elsewhere: the card of
is_lossless promises 64 squares along a side, on whose lines the rules below decide, and the card of
impostor names its pair, its biases and its 200,000 samples (specdec_lib/lessons/ch03/forgery.py).
"""

from collections.abc import Callable

import numpy as np
import pytest

from autograde.chapters.ch03_wrong import WRONG  # noqa: F401  known to the grader by this name
from autograde.chapters.common import (
    expect,
    expect_form,
    no_warning,
    own_array,
    prediction,
    quiz,
)
from autograde.chapters.expected import ch03_expected as expected
from autograde.chapters.numbers import ch03_numbers as numbers
from autograde.chapters.parametrized import Exercise
from autograde.check import RemoteObject, untouched
from specdec_lib.lessons.ch03 import quizzes
from specdec_lib.lessons.ch03.forgery import LARGE, LEAST, Forgery, examined, fault_of, short_of
from specdec_lib.lessons.ch03.rules import (
    IMPOSTORS,
    Named,
    Rule,
    coarse_coin,
    one_coin,
    pick,
    published_rule,
    residual,
    right_rule,
    sampler_match,
)
from specdec_lib.lessons.common.comparing import difference, in_form_of
from specdec_lib.lessons.common.describing import describe, format_call, told_apart, type_name
from specdec_lib.lessons.common.examples import Different, expect_value_error

test_prediction = prediction("prediction_03", 0, 1_000_000)
test_prediction_b = prediction("prediction_03_b", 0, 1)
test_quiz = quiz(quizzes.quiz_03)
test_quiz_b = quiz(quizzes.quiz_03_b)


total_variation = Exercise("total_variation")

BEST = "The best question asks for every token that p has more of."


@total_variation.behaviour("half of all differences")
@pytest.mark.parametrize("p, q", numbers.VARIATION_PAIRS)
def test_total_variation(student, p, q):
    expect(student.total_variation, p, q, gives=expected.variation(p, q), hint=BEST)
    untouched(student)


@total_variation.behaviour("a number from 0, where equal, to 1, where nothing is shared")
@pytest.mark.parametrize("p, q", numbers.VARIATION_ENDS)
def test_total_variation_ends(student, p, q):
    gives = expected.variation(p, q)
    expect_form(student.total_variation, p, q, gives=gives, hint=BEST)
    expect_form(student.total_variation, q, p, gives=gives, hint=BEST)
    no_warning(student)


acceptance_rate = Exercise("acceptance_rate")


@acceptance_rate.behaviour("what both share")
@pytest.mark.parametrize("p, q", numbers.RATE_PAIRS)
def test_acceptance_rate(student, p, q):
    hint = "Token x is drafted with q(x) and then accepted with min(1, p/q)."
    expect(student.acceptance_rate, p, q, gives=expected.rate(p, q), hint=hint)
    untouched(student)


@acceptance_rate.behaviour("the ends and the zeros, as a number and without a warning")
@pytest.mark.parametrize("p, q", numbers.RATE_ENDS)
def test_acceptance_rate_ends(student, p, q):
    hint = "A token with q = 0 is never drafted, one with p = 0 never accepted."
    expect_form(student.acceptance_rate, p, q, gives=expected.rate(p, q), hint=hint)
    no_warning(student)


two_paths = Exercise("two_paths")


def two_masses(student, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What two_paths returns, if it is two rows of V numbers."""
    came = student.two_paths(p, q)
    got = in_form_of((p, q), came)
    ok = isinstance(got, tuple) and len(got) == 2
    if not ok or not all(isinstance(a, np.ndarray) and a.shape == p.shape for a in got):
        raise Different(
            f"{format_call(student.two_paths, (p, q))} returned {describe(came)}, "
            f"{type_name(came)}; expected a tuple of two arrays of shape {p.shape}."
        )
    return got


def same_mass(student, which: str, got: np.ndarray, gives: np.ndarray, p, q, hint: str) -> None:
    """Raise Different if one of the two masses is not the expected one."""
    if difference(got, gives, form=False) is not None:
        came, wanted = told_apart(got, gives)
        raise Different(
            f"{format_call(student.two_paths, (p, q))} returned {came} for the {which} mass, "
            f"expected {wanted}. {hint}"
        )


@two_paths.behaviour("the accepted mass, first")
@pytest.mark.parametrize("p, q", numbers.ACCEPTED_PAIRS)
def test_accepted_mass(student, p, q):
    accepted, _ = two_masses(student, p, q)
    hint = "A token is drafted with q and then accepted with min(1, p/q)."
    same_mass(student, "accepted", accepted, expected.paths(p, q)[0], p, q, hint)


@two_paths.behaviour("the corrected mass, second")
@pytest.mark.parametrize("p, q", numbers.CORRECTED_PAIRS)
def test_corrected_mass(student, p, q):
    _, corrected = two_masses(student, p, q)
    hint = "It is the rejected share times the residual: what p has beyond q."
    same_mass(student, "corrected", corrected, expected.paths(p, q)[1], p, q, hint)


@two_paths.behaviour("the ends, without a warning, as a tuple of new arrays")
@pytest.mark.parametrize("p, q", numbers.PATHS_ENDS)
def test_two_paths_ends(student, p, q):
    hint = "With p equal to q everything is accepted; with nothing shared, nothing is."
    expect_form(student.two_paths, p, q, gives=expected.paths(p, q), hint=hint)
    no_warning(student)
    untouched(student)


argmax_draft_law = Exercise("argmax_draft_law")


ARGMAX = "The draft token is argmax q every time; ratio and residual use all of q."


@argmax_draft_law.behaviour("one token is always drafted, the residual does the rest")
@pytest.mark.parametrize("p, q", numbers.ARGMAX_PAIRS)
def test_argmax(student, p, q):
    p, q = np.array(p), np.array(q)
    expect(student.argmax_draft_law, p, q, gives=expected.argmax_law(p, q), hint=ARGMAX)
    untouched(student)


@argmax_draft_law.behaviour("always accepted where the ratio is 1 or more")
@pytest.mark.parametrize("p, q", numbers.ARGMAX_ACCEPTED)
def test_argmax_accepted(student, p, q):
    p, q = np.array(p), np.array(q)
    hint = "The acceptance probability is at most 1, and then nothing is left for the residual."
    expect(student.argmax_draft_law, p, q, gives=expected.argmax_law(p, q), hint=hint)
    no_warning(student)


@argmax_draft_law.behaviour("ties, zeros, a new array")
@pytest.mark.parametrize("p, q", numbers.ARGMAX_EDGES)
def test_argmax_edges(student, p, q):
    p, q = np.array(p), np.array(q)
    hint = "Of several largest entries the lowest index is drafted."
    expect_form(student.argmax_draft_law, p, q, gives=expected.argmax_law(p, q), hint=hint)
    no_warning(student)
    own_array(student)
    untouched(student)


warp = Exercise("warp")
temperature_step = warp.behaviour("the temperature")
zero_temperature = warp.behaviour("temperature 0, and below")
top_k_step = warp.behaviour("top-k")
top_p_step = warp.behaviour("top-p")


@temperature_step
@pytest.mark.parametrize("temperature", numbers.TEMPERATURES)
def test_temperature(student, temperature):
    hint = "The temperature divides the logits, before the softmax."
    check_warp(student, numbers.LOGITS, temperature, hint=hint)
    no_warning(student)
    untouched(student)


def check_warp(student, logits, *steps, hint, expect=expect):
    gives = expected.warped(logits, *steps)
    expect(student.warp, logits, *steps, gives=gives, hint=hint)


@temperature_step
@pytest.mark.parametrize("shift", numbers.SHIFTS)
def test_large_logits(student, shift):
    hint = "Subtract the largest logit first: exp overflows above 709."
    check_warp(student, numbers.LOGITS + shift, hint=hint)
    no_warning(student)


@zero_temperature
@pytest.mark.parametrize("logits", numbers.ZERO_TEMPERATURE)
def test_temperature_zero(student, logits):
    hint = "Everything on the largest logit; of several, on the lowest index."
    for steps in numbers.ZERO_STEPS:
        check_warp(student, logits, *steps, hint=hint)
    no_warning(student)


@zero_temperature
@pytest.mark.parametrize("temperature", numbers.BELOW_ZERO)
def test_negative_temperature(student, temperature):
    why = "a temperature below 0 has no meaning"
    expect_value_error(student.warp, numbers.LOGITS, temperature, why=why)


@top_k_step
@pytest.mark.parametrize("top_k", numbers.TOP_K)
def test_top_k(student, top_k):
    hint = "The k largest logits stay and are renormalised; None and 0 keep all."
    check_warp(student, numbers.LOGITS, numbers.FILTERS_AT, top_k, hint=hint)
    no_warning(student)
    untouched(student)


@top_k_step
@pytest.mark.parametrize("top_k", numbers.TIED_TOP_K)
def test_top_k_ties(student, top_k):
    logits = numbers.TIED
    tied = [i for i, x in enumerate(logits) if sum(logits == x) > 1]
    hint = f"The logits of the tokens {tied} are equal: all of them stay, or none."
    check_warp(student, logits, numbers.FILTERS_AT, top_k, hint=hint)


@top_p_step
@pytest.mark.parametrize("top_p", numbers.TOP_P)
def test_top_p(student, top_p):
    hint = "A token is kept while the mass before it, from the most probable down, is below top_p. "
    hint += "The first is always kept."
    check_warp(student, numbers.SPREAD, numbers.FILTERS_AT, None, top_p, hint=hint)
    no_warning(student)
    untouched(student)


@top_p_step
@pytest.mark.parametrize("top_p", numbers.EQUAL_TOP_P)
def test_top_p_ties(student, top_p):
    hint = "Equal probabilities rank lowest index first, and only as many as needed stay."
    check_warp(student, numbers.EQUAL, numbers.FILTERS_AT, None, top_p, hint=hint)


@top_p_step
@pytest.mark.parametrize("size, top_p", numbers.REACHED)
def test_top_p_reached_exactly(student, size, top_p):
    kept = round(size * top_p)
    hint = f"After {kept} of the tokens the mass is {top_p:g}, which is not below top_p."
    check_warp(student, np.zeros(size), numbers.FILTERS_AT, None, top_p, hint=hint)


@warp.behaviour("the order of the steps; an array")
@pytest.mark.parametrize("temperature, top_k, top_p", numbers.ORDERS)
def test_order(student, temperature, top_k, top_p):
    hint = "Temperature first, then top-k, then top-p on what top-k has left, renormalised."
    check_warp(student, numbers.LOGITS, temperature, top_k, top_p, hint=hint, expect=expect_form)


is_lossless = Exercise("is_lossless")


def other_side_of_the_coin(p, q, tokens, r, u):
    """Accepts with the upper end of the coin and turns u over, too: exact."""
    kept = (1 - r) * q[tokens] < p[tokens]
    return np.where(kept, tokens, pick(residual(p, q), 1 - u))


def exchanged_numbers(p, q, tokens, r, u):
    """Takes u for the coin and r for the replacement: exact."""
    return right_rule(p, q, tokens, u, r)


def shuffled_number(p, q, tokens, r, u):
    """Adds r to u, modulo 1, before the replacement: still uniform, so exact."""
    return right_rule(p, q, tokens, r, (r + u) % 1)


def swapped_residual(p, q, tokens, r, u):
    """Takes the residual from q - p."""
    return np.where(r * q[tokens] < p[tokens], tokens, pick(residual(q, p), u))


def from_draft(p, q, tokens, r, u):
    """After a rejection, draws from the draft again."""
    return np.where(r * q[tokens] < p[tokens], tokens, pick(q, u))


def one_cell(p, q, tokens, r, u):
    """Is wrong in one cell of the grid, for one draft token."""
    corner = (r > 63 / 64) & (u > 63 / 64) & (tokens == len(p) - 1)
    return np.where(corner, 0, right_rule(p, q, tokens, r, u))


class Bounded:
    """The rule, for numbers in the shapes that the exercise names, and about as many.

    It runs in the grader's own process, where a row of coins against a column of numbers would make
    a table of any size, and a list or a tuple times a number one of any length. `trace` has the
    smallest and the largest coin and number that it was asked with, to tell wrong answers apart.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule, self.trace = rule, (2.0, -1.0, 2.0, -1.0)

    def __call__(self, p, q, tokens, r, u):
        given = [x if type(x) in (int, float) else np.asarray(x) for x in (p, q, tokens, r, u)]
        if any(np.asarray(x).dtype.kind not in "biuf" for x in given):
            raise TypeError("a rule takes arrays of numbers")
        if [np.ndim(x) for x in given[:2]] != [1, 1]:
            raise ValueError("a rule takes p and q of shape (V,)")
        out = self.rule(*given[:2], *np.broadcast_arrays(*given[2:]))
        self._note(*given[3:])
        return out

    def _note(self, r: object, u: object) -> None:
        if not np.size(r) or not np.size(u):
            return
        low_r, high_r, low_u, high_u = self.trace
        for_r = min(low_r, float(np.min(r))), max(high_r, float(np.max(r)))
        for_u = min(low_u, float(np.min(u))), max(high_u, float(np.max(u)))
        self.trace = (*for_r, *for_u)


def judged(student, rule: Callable, pair: tuple, expect=expect) -> None:
    """Expect a verdict on a rule, which a message shows by its name and its text."""

    def is_lossless(rule, p, q):
        return student.is_lossless(RemoteObject(Bounded(rule.rule), call=True), p, q)

    hint = f"This rule {rule.__doc__[0].lower()}{rule.__doc__[1:].rstrip('.')}."
    gives = expected.lossless(rule, *pair)
    expect(is_lossless, Named(rule), *pair, gives=gives, hint=hint)
    untouched(student)


@is_lossless.behaviour("every impostor is seen, and no right rule taken for one")
@pytest.mark.parametrize("rule", [*IMPOSTORS, swapped_residual, from_draft, right_rule])
def test_impostors(student, rule):
    judged(student, rule, numbers.GRID)


@is_lossless.behaviour("the law counts, not how the rule is written")
@pytest.mark.parametrize("pair", numbers.EXACT_PAIRS)
@pytest.mark.parametrize(
    "rule",
    [sampler_match, published_rule, other_side_of_the_coin, exchanged_numbers, shuffled_number],
)
def test_right_rules(student, rule, pair):
    judged(student, rule, pair)
    judged(student, one_coin, pair)


@is_lossless.behaviour("judged on this pair, with draft tokens from q")
@pytest.mark.parametrize("rule, pair", numbers.JUDGED)
def test_pairs(student, rule, pair):
    judged(student, rule, pair)


small_biases = is_lossless.behaviour("exact: no small bias is let through; True or False")


@small_biases
@pytest.mark.parametrize("pair", numbers.COARSE_PAIRS)
def test_small_bias(student, pair):
    judged(student, coarse_coin, pair, expect=expect_form)
    judged(student, right_rule, pair, expect=expect_form)


@small_biases
@pytest.mark.parametrize("pair", numbers.ONE_CELL_PAIRS)
def test_bias_of_one_cell(student, pair):
    judged(student, one_cell, pair, expect=expect_form)
    judged(student, right_rule, pair, expect=expect_form)


impostor = Exercise("impostor")
hidden = impostor.behaviour("counting sees it, 200,000 samples do not", weight=2)


def forged(student, seed: int) -> Forgery:
    """What is known of the student's impostor, if it hides."""
    found = examined(student.impostor, seed)
    if why := fault_of(found):
        raise Different(f"impostor, on lesson.GRID_P and lesson.GRID_Q: {why}")
    return found


def at_least(bias: float, found: Forgery) -> None:
    """Raise Different if the hidden bias is smaller."""
    if said := short_of(found, bias):
        raise Different(f"impostor, on lesson.GRID_P and lesson.GRID_Q: {said}")


@hidden
@pytest.mark.parametrize("seed", numbers.SEEDS)
def test_impostor_hides(student, seed):
    forged(student, seed)
    untouched(student)


@impostor.behaviour("a bias of at least 0.0003")
@pytest.mark.parametrize("seed", numbers.BIAS_SEEDS)
def test_impostor_is_biased(student, seed):
    at_least(LEAST, forged(student, seed))


@impostor.behaviour("a bias of at least 0.0012")
@pytest.mark.parametrize("seed", numbers.BIAS_SEEDS)
def test_impostor_is_nearly_seen(student, seed):
    at_least(LARGE, forged(student, seed))
