"""Hidden tests of chapter 02. Points attach to behaviours; see autograde/check.py.

Their numbers stand in numbers/ch02_numbers.py, but for LAW_BLOCKS: three tokens have an exact law
after one step of these lengths.
"""

import numpy as np
import pytest

from autograde.chapters.common import (
    expect,
    expect_form,
    no_warning,
    own_array,
    prediction,
    quiz,
)
from autograde.chapters.expected import ch02_expected as expected
from autograde.chapters.expected import rejection
from autograde.chapters.laws import (
    LARGEST,
    autoregressive_law,
    step_law,
    token_law,
)
from autograde.chapters.numbers import ch02_numbers as numbers
from autograde.check import Exercise, untouched
from specdec_lib.lessons.ch02 import quizzes
from specdec_lib.lessons.common.comparing import in_form_of
from specdec_lib.lessons.common.describing import describe, told_apart, type_name
from specdec_lib.lessons.common.examples import Different


def row(token: int, probability: float, vocab_size: int = 6) -> np.ndarray:
    """A distribution with `probability` on `token` and the rest spread evenly.

    Rounded, because students read these numbers: 0.14 and not 0.13999999999999999.
    """
    probs = np.full(vocab_size, round((1 - probability) / (vocab_size - 1), 12))
    probs[token] = probability
    return probs


def rows(tokens: list[int], probabilities: list[float]) -> np.ndarray:
    """One `row` per token (L, 6)."""
    each = zip(tokens, probabilities, strict=True)
    return np.array([row(t, x) for t, x in each]).reshape(-1, 6)


test_prediction = prediction("prediction_02", 0, 1)
test_prediction_b = prediction("prediction_02_b", 0, 1)
test_quiz = quiz(quizzes.quiz_02)
test_quiz_b = quiz(quizzes.quiz_02_b)


acceptance_probability = Exercise("acceptance_probability")
ratio = acceptance_probability.behaviour("the ratio of target to draft")
never_above_1 = acceptance_probability.behaviour("never above 1")


@ratio
def test_ratio(student):
    p, q, hint = numbers.P, numbers.Q, "Is it p over q?"
    for token in map(int, np.flatnonzero(p < q)):
        gives = rejection.ratio(p, q, token)
        expect(student.acceptance_probability, p, q, token, gives=gives, hint=hint)


@ratio
@pytest.mark.parametrize("p, q", numbers.RATIO_PAIRS)
def test_ratio_of_random_pairs(student, p, q):
    token = int(np.argmin(p / q))
    gives = rejection.ratio(p, q, token)
    expect(student.acceptance_probability, p, q, token, gives=gives)


@ratio
@pytest.mark.parametrize("exponent", numbers.TINY_BELOW_1)
def test_ratio_of_tiny_probabilities(student, exponent):
    check_tiny(student, exponent)


def check_tiny(student, exponent):
    p, q = (np.array([2.0**-n, 1 - 2.0**-n]) for n in (numbers.TINY, exponent))
    hint = "Tiny is not zero: nothing may be added to p or q, and only an exact 0 is a zero."
    token = int(np.argmin(p))
    gives = rejection.ratio(p, q, token)
    expect(student.acceptance_probability, p, q, token, gives=gives, hint=hint)


@never_above_1
def test_cap(student):
    p, q, hint = numbers.P, numbers.Q, "A probability is at most 1."
    for token in range(len(p)):
        gives = rejection.ratio(p, q, token)
        expect(student.acceptance_probability, p, q, token, gives=gives, hint=hint)


@never_above_1
@pytest.mark.parametrize("exponent", numbers.TINY_AROUND_1)
def test_cap_of_tiny_probabilities(student, exponent):
    check_tiny(student, exponent)


@acceptance_probability.behaviour("the zeros, as numbers and without a warning")
@pytest.mark.parametrize("token", range(len(numbers.ZEROS_P)))
def test_zeros(student, token):
    p, q = numbers.ZEROS_P, numbers.ZEROS_Q
    gives = rejection.ratio(p, q, token)
    hint = f"Here p is {p[token]:g} and q is {q[token]:g}."
    expect_form(student.acceptance_probability, p, q, token, gives=gives, hint=hint)
    no_warning(student)
    untouched(student)


speculative_accept = Exercise("speculative_accept")


def check_accept(student, tokens, p, q, r, hint, expect=expect):
    r = np.array(r)
    with np.errstate(all="ignore"):
        ratios = [float(p[i, t] / q[i, t]) for i, t in enumerate(tokens)]
    hint = f"Here p/q is {describe(ratios)}, position by position. {hint}"
    gives = expected.accepted(tokens, p, q, r)
    expect(student.speculative_accept, tokens, p, q, r, gives=gives, hint=hint)


@speculative_accept.behaviour("each token by its ratio and its coin")
@pytest.mark.parametrize("p, q, r", numbers.ACCEPT_BY_RATIO)
def test_accept_by_ratio(student, p, q, r):
    tokens = numbers.BLOCK
    hint = "A token is accepted where its coin is at most p/q, also where p is below q."
    check_accept(student, tokens, rows(tokens, p), rows(tokens, q), r, hint)


@speculative_accept.behaviour("stops at the first rejection")
@pytest.mark.parametrize("r", numbers.STOPS)
def test_accept_stops(student, r):
    tokens = numbers.STOPS_BLOCK[: len(r)]
    p, q = (rows(tokens, [each] * len(r)) for each in (numbers.STOPS_P, numbers.STOPS_Q))
    hint = "The first rejection ends the block."
    check_accept(student, tokens, p, q, r, hint)


@speculative_accept.behaviour("every position has its own row and its own coin")
@pytest.mark.parametrize("p, q, r", numbers.ROW_BY_ROW)
def test_accept_row_by_row(student, p, q, r):
    tokens = numbers.SAME_TOKEN
    hint = "Position i uses p[i], q[i] and r[i]."
    check_accept(student, tokens, rows(tokens, p), rows(tokens, q), r, hint)


@speculative_accept.behaviour("the edges: zeros, nearly the ratio, the empty draft; a list")
@pytest.mark.parametrize("tokens, p, q, r", numbers.ACCEPT_EDGES)
def test_accept_edges(student, tokens, p, q, r):
    hint = "Look at the zeros: a coin may be 0 exactly."
    check_accept(student, tokens, np.array(p), np.array(q), r, hint, expect_form)
    no_warning(student)
    untouched(student)


residual_distribution = Exercise("residual_distribution")


@residual_distribution.behaviour("what the draft proposes too rarely, normalised")
@pytest.mark.parametrize("p, q", numbers.RESIDUAL)
def test_residual(student, p, q):
    hint = "It is the part of p above q, divided by its sum."
    expect(student.residual_distribution, p, q, gives=rejection.residual(p, q), hint=hint)


@residual_distribution.behaviour("repairs the distribution of any pair")
@pytest.mark.parametrize("p, q", numbers.RESIDUAL_PAIRS)
def test_residual_repairs_the_law(student, p, q):
    hint = "With the accepted mass, the smaller of p and q, its share of the rest must make up p."
    gives = rejection.residual(p, q)
    expect(student.residual_distribution, p, q, gives=gives, hint=hint)


@residual_distribution.behaviour("nothing missing, and nothing shared")
@pytest.mark.parametrize("p, q", numbers.RESIDUAL_EDGES)
def test_residual_edges(student, p, q):
    hint = "It is p itself only where exactly no mass is left; nearly equal is not equal."
    expect(student.residual_distribution, p, q, gives=rejection.residual(p, q), hint=hint)
    no_warning(student)


@residual_distribution.behaviour("a new array, the arguments as they were")
@pytest.mark.parametrize("p, q", numbers.RESIDUAL_FORMS)
def test_residual_is_new(student, p, q):
    expect_form(student.residual_distribution, p, q, gives=rejection.residual(p, q))
    own_array(student)
    untouched(student)


correct_token = Exercise("correct_token")


@correct_token.behaviour("accepts by the coin")
@pytest.mark.parametrize("token", range(len(numbers.P)))
def test_correct_keeps(student, token):
    p, q, u = numbers.P, numbers.Q, numbers.UNUSED_U
    chance = rejection.ratio(p, q, token)
    for r in expected.coins_around(chance):
        gives = expected.corrected(p, q, token, r, u)
        hint = f"A coin up to {describe(chance)} accepts it."
        expect(student.correct_token, p, q, token, r, u, gives=gives, hint=hint)


replaces = correct_token.behaviour("replaces from the residual")


@replaces
@pytest.mark.parametrize("u", numbers.REPLACING)
def test_correct_replaces(student, u):
    check_replaced(student, u)


@replaces
@pytest.mark.parametrize("beside", numbers.BESIDE_A_CUT)
def test_correct_replaces_beside_a_cut(student, beside):
    missing = rejection.residual(numbers.P, numbers.Q)
    cut = float(missing[np.argmax(missing > 0)])
    check_replaced(student, min(max(0.0, round(cut + beside, 6)), LARGEST))


def check_replaced(student, u):
    p, q, r = numbers.P, numbers.Q, numbers.REJECTING
    token = int(np.argmin(p / q))
    hint = f"The residual is {describe(rejection.residual(p, q))}, and u picks from it."
    gives = expected.corrected(p, q, token, r, u)
    expect(student.correct_token, p, q, token, r, u, gives=gives, hint=hint)


@correct_token.behaviour("the distribution is the target's")
@pytest.mark.parametrize("p, q", numbers.CORRECT_PAIRS)
def test_correct_law(student, p, q):
    def checked(many):
        for (*_, token, _, _), out in zip(many, student.correct_token.each(many), strict=True):
            if not _is_token_and_flag(out := in_form_of((0, True), out), len(p)):
                what = f"{describe(out)}, {type_name(out)}"
                raise Different(
                    f"correct_token returned {what}, not a tuple of a token and a bool."
                )
            if out[1] and out[0] != token:
                raise Different(f"correct_token returned {describe(out)} for draft token {token}.")
            yield out

    law = token_law(checked, p, q)
    if not np.abs(law.sum(axis=0) - p).max() <= 1e-12:
        came, wanted = told_apart(law.sum(axis=0), p)
        raise Different(
            f"over all draft tokens and uniforms the distribution that comes out is {came}, the "
            f"target is {wanted} and the draft {describe(q)}."
        )
    if not np.abs(law[0] - np.minimum(p, q)).max() <= 1e-12:
        came, wanted = told_apart(law[0], np.minimum(p, q))
        raise Different(
            f"the mass that comes back with True is {came}; accepted is the smaller of p and q, "
            f"{wanted}."
        )


def _is_token_and_flag(out: object, vocab_size: int) -> bool:
    if not isinstance(out, tuple) or len(out) != 2:
        return False
    token, flag = out
    return type(token) is int and 0 <= token < vocab_size and isinstance(flag, bool)


@correct_token.behaviour("the edges: zeros and equal models; a tuple")
@pytest.mark.parametrize("p, q, token, r, u", numbers.CORRECT_EDGES)
def test_correct_edges(student, p, q, token, r, u):
    gives = expected.corrected(p, q, token, r, u)
    expect_form(student.correct_token, p, q, token, r, u, gives=gives)
    no_warning(student)
    untouched(student)


speculative_step = Exercise("speculative_step")
bonus_token = speculative_step.behaviour("the bonus token from row K")
LAW_BLOCKS = (1, 2)


def check_step(student, tokens, p, q, r, u, hint="", expect=expect):
    p, q, r = np.array(p), np.array(q, dtype=float).reshape(-1, 4), np.array(r)
    gives = expected.step(tokens, p, q, r, u)
    expect(student.speculative_step, tokens, p, q, r, u, gives=gives, hint=hint)


@speculative_step.behaviour("accepted prefix, then the replacement")
@pytest.mark.parametrize("tokens, p, q, r, u", numbers.STEP_CORRECTS)
def test_step_corrects(student, tokens, p, q, r, u):
    hint = "The replacement comes from the residual of the rejected row, and ends the step."
    check_step(student, tokens, p, q, r, u, hint)


@bonus_token
@pytest.mark.parametrize("last, r, u", numbers.STEP_BONUS)
def test_step_bonus(student, last, r, u):
    p, q = numbers.P, numbers.Q
    hint = "With all draft tokens accepted, row K of p gives one more; otherwise it is not used."
    check_step(student, numbers.BONUS_BLOCK, [p, p, last], [q, q], r, u, hint)


@bonus_token
@pytest.mark.parametrize("k", numbers.LONGER_BLOCKS)
def test_step_bonus_of_longer_blocks(student, k):
    p, q, last = numbers.P, numbers.Q, numbers.CERTAIN_LAST
    tokens, coins = numbers.LONGEST_BLOCK[:k], [numbers.ACCEPTING] * k
    hint = "A block may have any length K."
    check_step(student, tokens, [p] * k + [last], [q] * k, coins, numbers.LAST_U, hint)


@speculative_step.behaviour("the joint distribution of three tokens")
@pytest.mark.parametrize("k", LAW_BLOCKS)
def test_step_law(student, k):
    def checked(many):
        for out in student.speculative_step.each(many):
            out = in_form_of([0] * (k + 1), out)
            ok = isinstance(out, list) and 1 <= len(out) <= k + 1
            if not ok or not all(type(t) is int and 0 <= t < 3 for t in out):
                what = f"{describe(out)}, {type_name(out)}, not a list of 1 to {k + 1} tokens"
                raise Different(f"speculative_step returned {what}.")
            yield out

    target = numbers.TARGET
    difference = np.abs(
        step_law(checked, target, numbers.DRAFT, k) - autoregressive_law(target)
    ).max()
    if not difference <= 1e-12:
        raise Different(
            f"with K = {k} a sequence of three tokens comes out with a probability that is off by "
            f"{difference:.3g} from the target's."
        )


@speculative_step.behaviour("an empty draft, zeros; a list; nothing modified")
@pytest.mark.parametrize("tokens, p, q, r, u", numbers.STEP_EDGES)
def test_step_edges(student, tokens, p, q, r, u):
    check_step(student, tokens, p, q, r, u, expect=expect_form)
    no_warning(student)
    untouched(student)
