"""Hidden tests of chapter 02. Points attach to behaviours; see autograde/check.py."""

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
from autograde.chapters.laws import (
    autoregressive_law,
    pairs,
    reference_residual,
    step_law,
    token_law,
)
from autograde.check import Exercise, untouched
from specdec_lib.lessons.ch02 import quizzes
from specdec_lib.lessons.common.comparing import in_form_of
from specdec_lib.lessons.common.describing import describe, told_apart, type_name
from specdec_lib.lessons.common.examples import Different

P = np.array([0.45, 0.30, 0.15, 0.10])
Q = np.array([0.30, 0.45, 0.20, 0.05])
LARGEST = float(np.nextafter(1, 0))  # the largest uniform number there is


def row(token: int, probability: float, vocab_size: int = 6) -> np.ndarray:
    """A distribution with `probability` on `token` and the rest spread evenly."""
    probs = np.full(vocab_size, (1 - probability) / (vocab_size - 1))
    probs[token] = probability
    return probs


def rows(tokens: list[int], probabilities: list[float]) -> np.ndarray:
    """One `row` per token (L, 6)."""
    pairs = zip(tokens, probabilities, strict=True)
    return np.array([row(t, x) for t, x in pairs]).reshape(-1, 6)


test_prediction = prediction("prediction_02", 0, 1)
test_prediction_b = prediction("prediction_02_b", 0, 1)
test_quiz = quiz(quizzes.quiz_02)
test_quiz_b = quiz(quizzes.quiz_02_b)


acceptance_probability = Exercise("acceptance_probability")
ratio = acceptance_probability.behaviour("the ratio of target to draft")
never_above_1 = acceptance_probability.behaviour("never above 1", after=[ratio])


@ratio
@pytest.mark.parametrize("token, gives", [(1, 2 / 3), (2, 0.75)])
def test_ratio(student, token, gives):
    expect(student.acceptance_probability, P, Q, token, gives=gives, hint="Is it p over q?")


@ratio
@pytest.mark.parametrize("p, q", pairs(2, 5, 9, seed=11))
def test_ratio_of_random_pairs(student, p, q):
    token = int(np.argmin(p / q))
    expect(student.acceptance_probability, p, q, token, gives=float(p[token] / q[token]))


@ratio
@pytest.mark.parametrize("exponent, gives", [(38, 0.25), (39, 0.5)])
def test_ratio_of_tiny_probabilities(student, exponent, gives):
    check_tiny(student, exponent, gives)


def check_tiny(student, exponent, gives):
    p, q = (np.array([2.0**-n, 1 - 2.0**-n]) for n in (40, exponent))
    hint = "Tiny is not zero: nothing may be added to p or q, and only an exact 0 is a zero."
    expect(student.acceptance_probability, p, q, 0, gives=gives, hint=hint)


@never_above_1
@pytest.mark.parametrize("token, gives", [(0, 1.0), (3, 1.0), (1, 2 / 3)])
def test_cap(student, token, gives):
    hint = "A probability is at most 1."
    expect(student.acceptance_probability, P, Q, token, gives=gives, hint=hint)


@never_above_1
@pytest.mark.parametrize("exponent, gives", [(42, 1.0), (38, 0.25)])
def test_cap_of_tiny_probabilities(student, exponent, gives):
    check_tiny(student, exponent, gives)


@acceptance_probability.behaviour("the zeros, as numbers and without a warning")
@pytest.mark.parametrize("token, gives", [(0, 0.0), (1, 1.0), (2, 0.0), (3, 0.5)])
def test_zeros(student, token, gives):
    p = np.array([0.0, 0.75, 0.0, 0.25])
    q = np.array([0.5, 0.0, 0.0, 0.5])
    hint = f"Here p is {p[token]:g} and q is {q[token]:g}."
    expect_form(student.acceptance_probability, p, q, token, gives=gives, hint=hint)
    no_warning(student)
    untouched(student)


speculative_accept = Exercise("speculative_accept")


def check_accept(student, tokens, p, q, r, gives, hint, expect=expect):
    with np.errstate(all="ignore"):
        ratios = [float(p[i, t] / q[i, t]) for i, t in enumerate(tokens)]
    hint = f"Here p/q is {describe(ratios)}, position by position. {hint}"
    expect(student.speculative_accept, tokens, p, q, np.array(r), gives=gives, hint=hint)


@speculative_accept.behaviour("each token by its ratio and its coin")
@pytest.mark.parametrize(
    "p, q, r, gives",
    [
        ([0.5, 0.1, 0.6], [0.4, 0.5, 0.3], [0.7, 0.6, 0.1], [5]),
        ([0.5, 0.6, 0.7], [0.4, 0.5, 0.3], [0.99, 0.98, 0.97], [5, 2, 3]),
        ([0.1, 0.6, 0.7], [0.5, 0.5, 0.3], [0.9, 0.1, 0.1], []),
        ([0.25, 0.2, 0.3], [0.5, 0.5, 0.4], [0.3, 0.2, 0.7], [5, 2, 3]),
        ([0.25, 0.2, 0.3], [0.5, 0.5, 0.4], [0.3, 0.45, 0.1], [5]),
        ([0.3, 0.2, 0.3], [0.5, 0.5, 0.4], [0.55, 0.38, 0.8], [5, 2]),
        ([0.02, 0.2, 0.3], [0.5, 0.5, 0.4], [0.05, 0.1, 0.1], []),
        ([0.01, 0.2, 0.3], [0.5, 0.5, 0.4], [0.015, 0.1, 0.8], [5, 2]),
        ([0.5, 0.6, 0.7], [0.4, 0.5, 0.3], [LARGEST, LARGEST, LARGEST], [5, 2, 3]),
    ],
    ids=[
        *("reference", "dominates", "first rejected", "small coins", "between", "last rejected"),
        *("no floor", "a rare token", "largest coin"),
    ],
)
def test_accept_by_ratio(student, p, q, r, gives):
    tokens = [5, 2, 3]
    hint = "A token is accepted where its coin is at most p/q, also where p is below q."
    check_accept(student, tokens, rows(tokens, p), rows(tokens, q), r, gives, hint)


@speculative_accept.behaviour("stops at the first rejection")
@pytest.mark.parametrize(
    "r, gives",
    [
        ([0.5, 0.9, 0.1, 0.1], [0]),
        ([0.9, 0.1, 0.1, 0.1], []),
        ([0.1, 0.1, 0.9, 0.1], [0, 1]),
        ([0.1, 0.1, 0.1, 0.1], [0, 1, 4, 3]),
        ([0.1] * 8, [0, 1, 4, 3, 2, 5, 0, 1]),
    ],
)
def test_accept_stops(student, r, gives):
    tokens = [0, 1, 4, 3, 2, 5, 0, 1][: len(r)]
    p, q = rows(tokens, [0.3] * len(r)), rows(tokens, [0.5] * len(r))
    hint = "Did you go on after the first rejection?"
    check_accept(student, tokens, p, q, r, gives, hint)


@speculative_accept.behaviour("every position has its own row and its own coin")
@pytest.mark.parametrize(
    "p, q, r, gives",
    [
        ([0.3, 0.3, 0.3], [0.5, 0.5, 0.5], [0.5, 0.9, 0.5], [1]),
        ([0.3, 0.3, 0.3], [0.5, 0.5, 0.5], [0.1, 0.59, 0.61], [1, 1]),
        ([0.4, 0.1, 0.4], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [1]),
        ([0.3, 0.3, 0.3], [0.3, 0.6, 0.9], [0.4, 0.4, 0.4], [1, 1]),
        ([0.2, 0.4, 0.6], [0.2, 0.4, 0.9], [0.6, 0.6, 0.6], [1, 1, 1]),
    ],
    ids=["own coin", "own coin, last", "own p", "own q", "own p and q"],
)
def test_accept_row_by_row(student, p, q, r, gives):
    tokens = [1, 1, 1]
    hint = "Position i uses p[i], q[i] and r[i]."
    check_accept(student, tokens, rows(tokens, p), rows(tokens, q), r, gives, hint)


ZERO = np.array([0.0, 0.5, 0.5])
HALF = np.array([0.5, 0.25, 0.25])


@speculative_accept.behaviour("the edges: zeros, nearly the ratio, the empty draft; a list")
@pytest.mark.parametrize(
    "tokens, p, q, r, gives",
    [
        ([0, 1], [ZERO, HALF], [HALF, HALF], [0.0, 0.0], []),
        ([1, 0], [HALF, HALF], [[0.5, 0.0, 0.5], HALF], [0.9, 0.5], [1, 0]),
        ([1, 0], [HALF, ZERO], [HALF, ZERO], [0.9, 0.0], [1]),
        ([1], [HALF], [[0.25, 0.5, 0.25]], [0.4999999], [1]),
        ([1], [HALF], [[0.25, 0.5, 0.25]], [0.5000001], []),
        ([1], [HALF], [[0.25, 0.5, 0.25]], [0.0], [1]),
        ([], np.zeros((0, 3)), np.zeros((0, 3)), [], []),
    ],
    ids=["p=0, r=0", "q=0", "p=q=0", "just below the ratio", "just above it", "r=0", "empty"],
)
def test_accept_edges(student, tokens, p, q, r, gives):
    hint = "Look at the zeros: a coin may be 0 exactly."
    check_accept(student, tokens, np.array(p), np.array(q), r, gives, hint, expect_form)
    no_warning(student)
    untouched(student)


residual_distribution = Exercise("residual_distribution")


@residual_distribution.behaviour("what the draft proposes too rarely, normalised")
@pytest.mark.parametrize(
    "p, q, gives",
    [
        (P, Q, [0.75, 0, 0, 0.25]),
        (Q, P, [0, 0.75, 0.25, 0]),
        (np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.75, 0.0]), [0.5, 0, 0.5]),
    ],
)
def test_residual(student, p, q, gives):
    hint = "It is the part of p above q, divided by its sum."
    expect(student.residual_distribution, p, q, gives=np.array(gives, dtype=float), hint=hint)


@residual_distribution.behaviour("repairs the distribution of any pair")
@pytest.mark.parametrize("p, q", pairs(2, 3, 5, 8, 17, 40, seed=5))
def test_residual_repairs_the_law(student, p, q):
    hint = "With the accepted mass, the smaller of p and q, its share of the rest must make up p."
    gives = reference_residual(p, q)
    expect(student.residual_distribution, p, q, gives=gives, hint=hint)


@residual_distribution.behaviour("nothing missing, and nothing shared")
@pytest.mark.parametrize(
    "p, q, gives",
    [
        (P, P.copy(), P),
        (np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0])),
        (np.array([0.25, 0.75, 0, 0]), np.array([0, 0, 0.5, 0.5]), np.array([0.25, 0.75, 0, 0])),
        (np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5]), np.array([1.0, 0.0, 0.0])),
        (np.array([0.5 + 2**-20, 0.5 - 2**-20]), np.array([0.5, 0.5]), np.array([1.0, 0.0])),
    ],
    ids=["equal", "equal, one token", "disjoint", "half shared", "nearly equal"],
)
def test_residual_edges(student, p, q, gives):
    hint = "It is p itself only where exactly no mass is left; nearly equal is not equal."
    expect(student.residual_distribution, p, q, gives=gives, hint=hint)
    no_warning(student)


@residual_distribution.behaviour("a new array, the arguments as they were")
@pytest.mark.parametrize("p, q, gives", [(P, P.copy(), P), (P, Q, np.array([0.75, 0, 0, 0.25]))])
def test_residual_is_new(student, p, q, gives):
    expect_form(student.residual_distribution, p, q, gives=gives)
    own_array(student)
    untouched(student)


correct_token = Exercise("correct_token")


@correct_token.behaviour("accepts by the coin")
@pytest.mark.parametrize(
    "token, r, gives",
    [
        (0, 0.99, (0, True)),
        (1, 0.6, (1, True)),
        (1, 0.7, (3, False)),
        (2, 0.7, (2, True)),
        (2, 0.8, (3, False)),
        (3, 0.99, (3, True)),
    ],
)
def test_correct_keeps(student, token, r, gives):
    hint = "Accepted tokens come back with True, replaced ones with False."
    expect(student.correct_token, P, Q, token, r, 0.9, gives=gives, hint=hint)


@correct_token.behaviour("replaces from the residual")
@pytest.mark.parametrize(
    "u, gives", [(0.0, 0), (0.3, 0), (0.45, 0), (0.74, 0), (0.76, 3), (0.99, 3)]
)
def test_correct_replaces(student, u, gives):
    hint = "The residual is [0.75, 0, 0, 0.25], and u picks from it."
    expect(student.correct_token, P, Q, 1, 0.9, u, gives=(gives, False), hint=hint)


@correct_token.behaviour("the distribution is the target's")
@pytest.mark.parametrize("p, q", [(P, Q), (Q, P), (P, P), *pairs(2, 3, 5, seed=23)])
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
@pytest.mark.parametrize(
    "p, q, token, r, u, gives",
    [
        (np.array([0.0, 0.5, 0.5]), HALF, 0, 0.0, 0.9, (2, False)),
        (np.array([0.5, 0.0, 0.5]), HALF, 1, 0.0, 0.2, (2, False)),
        (HALF, np.array([0.5, 0.0, 0.5]), 1, 0.99, 0.2, (1, True)),
        (HALF, HALF, 2, 0.999, 0.1, (2, True)),
        (HALF, HALF, 2, LARGEST, 0.1, (2, True)),
        (HALF, np.array([0.25, 0.5, 0.25]), 1, 0.0, 0.9, (1, True)),
        (np.array([0.0, 0.5, 0.5]), HALF, 0, 0.9, 0.0, (1, False)),
        (np.array([0.5, 0.25, 0.25, 0]), np.array([0.25, 0, 0.25, 0.5]), 3, 0.9, 0.5, (1, False)),
    ],
    ids=[
        *("p=0, r=0", "p=0 again", "q=0", "equal", "largest coin", "r=0"),
        *("u=0", "u between two tokens"),
    ],
)
def test_correct_edges(student, p, q, token, r, u, gives):
    expect_form(student.correct_token, p, q, token, r, u, gives=gives)
    no_warning(student)
    untouched(student)


speculative_step = Exercise("speculative_step")
bonus_token = speculative_step.behaviour("the bonus token from row K")

FLAT = np.array([0.25, 0.25, 0.25, 0.25])


def check_step(student, tokens, p, q, r, u, gives, hint="", expect=expect):
    q = np.array(q, dtype=float).reshape(-1, 4)
    expect(student.speculative_step, tokens, np.array(p), q, np.array(r), u, gives=gives, hint=hint)


@speculative_step.behaviour("accepted prefix, then the replacement")
@pytest.mark.parametrize(
    "tokens, p, q, r, u, gives",
    [
        ([0, 1], [P, P, FLAT], [Q, Q], [0.5, 0.9], 0.8, [0, 3]),
        ([1, 1], [P, P, FLAT], [Q, Q], [0.7, 0.1], 0.5, [0]),
        ([0, 2, 1], [P, Q, P, FLAT], [Q, P, Q], [0.9, 0.2, 0.7], 0.9, [0, 2, 3]),
        ([0, 0, 1], [P, Q, P, FLAT], [Q, P, Q], [0.9, 0.7, 0.1], 0.1, [0, 1]),
        ([0, 0, 1], [P, Q, P, FLAT], [Q, P, Q], [0.9, 0.7, 0.1], 0.8, [0, 2]),
    ],
)
def test_step_corrects(student, tokens, p, q, r, u, gives):
    hint = "The replacement comes from the residual of the rejected row, and ends the step."
    check_step(student, tokens, p, q, r, u, gives, hint)


@bonus_token
@pytest.mark.parametrize(
    "last, r, u, gives",
    [
        ([0.0, 0.0, 1.0, 0.0], [0.5, 0.5], 0.5, [0, 1, 2]),
        ([0.0, 0.5, 0.0, 0.5], [0.5, 0.5], 0.6, [0, 1, 3]),
        (FLAT, [0.5, 0.5], 0.3, [0, 1, 1]),
        (Q, [0.5, 0.5], 0.96, [0, 1, 3]),
        (FLAT, [0.5, 0.9], 0.8, [0, 3]),
    ],
)
def test_step_bonus(student, last, r, u, gives):
    hint = "With all draft tokens accepted, row K of p gives one more; otherwise it is not used."
    check_step(student, [0, 1], [P, P, last], [Q, Q], r, u, gives, hint)


@bonus_token
@pytest.mark.parametrize("k", [3, 5])
def test_step_bonus_of_longer_blocks(student, k):
    tokens, last = [0, 3, 0, 3, 0][:k], [0.0, 0.0, 1.0, 0.0]
    hint = "A block may have any length K."
    check_step(student, tokens, [P] * k + [last], [Q] * k, [0.9] * k, 0.5, [*tokens, 2], hint)


TARGET = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.4, 0.4, 0.2]])
DRAFT = np.array([[0.3, 0.3, 0.4], [0.4, 0.2, 0.4], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]])


@speculative_step.behaviour("the joint distribution of three tokens")
@pytest.mark.parametrize("k", [1, 2])
def test_step_law(student, k):
    def checked(many):
        for out in student.speculative_step.each(many):
            out = in_form_of([0] * (k + 1), out)
            ok = isinstance(out, list) and 1 <= len(out) <= k + 1
            if not ok or not all(type(t) is int and 0 <= t < 3 for t in out):
                what = f"{describe(out)}, {type_name(out)}, not a list of 1 to {k + 1} tokens"
                raise Different(f"speculative_step returned {what}.")
            yield out

    difference = np.abs(step_law(checked, TARGET, DRAFT, k) - autoregressive_law(TARGET)).max()
    if not difference <= 1e-12:
        raise Different(
            f"with K = {k} a sequence of three tokens comes out with a probability that is off by "
            f"{difference:.3g} from the target's."
        )


@speculative_step.behaviour("an empty draft, zeros; a list; nothing modified")
@pytest.mark.parametrize(
    "tokens, p, q, r, u, gives",
    [
        ([], [P], [], [], 0.5, [1]),
        ([], [FLAT], [], [], 0.99, [3]),
        ([0], [[0.0, 0.5, 0.5, 0.0], FLAT], [FLAT], [0.0], 0.9, [2]),
        ([2], [P, FLAT], [P], [0.999], 0.1, [2, 0]),
        ([1], [FLAT, FLAT], [[0.5, 0.0, 0.25, 0.25]], [0.9], 0.3, [1, 1]),
        ([1], [[0.5, 0.25, 0.25, 0.0], FLAT], [[0.25, 0.5, 0.25, 0.0]], [0.0], 0.3, [1, 1]),
        ([0], [[0.0, 0.5, 0.5, 0.0], FLAT], [[0.5, 0.25, 0.25, 0.0]], [0.9], 0.0, [1]),
        ([2], [[0.49, 0.49, 0.01, 0.01], FLAT], [FLAT], [0.08], 0.9, [1]),
        ([0], [P, FLAT], [Q], [LARGEST], 0.1, [0, 0]),
    ],
    ids=[
        *("K=0", "K=0, flat", "p=0, r=0", "equal models", "q=0", "r=0", "u=0"),
        *("no floor", "largest coin"),
    ],
)
def test_step_edges(student, tokens, p, q, r, u, gives):
    check_step(student, tokens, p, q, r, u, gives, expect=expect_form)
    no_warning(student)
    untouched(student)
