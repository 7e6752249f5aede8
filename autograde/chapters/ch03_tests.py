"""Hidden tests of chapter 03. Points attach to behaviours; see autograde/check.py."""

import math
from collections.abc import Callable

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
from autograde.chapters.laws import pairs
from autograde.check import MAX_GIVEN, Exercise, RemoteObject, by_cause, untouched
from specdec_lib.lessons.ch03 import quizzes
from specdec_lib.lessons.ch03.forgery import LARGE, LEAST, Forgery, examined, fault_of, short_of
from specdec_lib.lessons.ch03.rules import (
    IMPOSTORS,
    Named,
    Rule,
    coarse_coin,
    from_target,
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

P = np.array([0.45, 0.30, 0.15, 0.10])
Q = np.array([0.30, 0.45, 0.20, 0.05])
EQUAL = [(P, P.copy()), (np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0]))]
APART = (np.array([0.25, 0.75, 0.0]), np.array([0.0, 0.0, 1.0]))
ZEROS = (np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.0, 0.25, 0.0, 0.75]))


test_prediction = prediction("prediction_03", 0, 1_000_000)
test_prediction_b = prediction("prediction_03_b", 0, 1)
test_quiz = quiz(quizzes.quiz_03)
test_quiz_b = quiz(quizzes.quiz_03_b)


total_variation = Exercise("total_variation")

HALF = "Is it half the sum of all differences, each without its sign?"


@total_variation.behaviour("half of all differences")
@pytest.mark.parametrize("p, q", [(P, Q), (Q, P), *pairs(2, 5, 40, seed=31), ZEROS])
def test_total_variation(student, p, q):
    gives = float(1 - np.minimum(p, q).sum())
    expect(student.total_variation, p, q, gives=gives, hint=HALF)
    untouched(student)


@total_variation.behaviour("a number from 0, where equal, to 1, where nothing is shared")
@pytest.mark.parametrize("p, q, gives", [(*EQUAL[0], 0.0), (*EQUAL[1], 0.0), (*APART, 1.0)])
def test_total_variation_ends(student, p, q, gives):
    expect_form(student.total_variation, p, q, gives=gives, hint=HALF)
    expect_form(student.total_variation, q, p, gives=gives, hint=HALF)
    no_warning(student)


acceptance_rate = Exercise("acceptance_rate")


@acceptance_rate.behaviour("what both share")
@pytest.mark.parametrize("p, q", [(P, Q), (Q, P), *pairs(2, 5, 40, seed=32)])
def test_acceptance_rate(student, p, q):
    gives = float(1 - np.abs(p - q).sum() / 2)
    hint = "Token x is drafted with q(x) and then accepted with min(1, p/q)."
    expect(student.acceptance_rate, p, q, gives=gives, hint=hint)
    untouched(student)


@acceptance_rate.behaviour("the ends and the zeros, as a number and without a warning")
@pytest.mark.parametrize(
    "p, q, gives", [(*EQUAL[0], 1.0), (*EQUAL[1], 1.0), (*APART, 0.0), (*ZEROS, 0.25)]
)
def test_acceptance_rate_ends(student, p, q, gives):
    hint = "A token with q = 0 is never drafted, one with p = 0 never accepted."
    expect_form(student.acceptance_rate, p, q, gives=gives, hint=hint)
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
@pytest.mark.parametrize("p, q", [(P, Q), (Q, P), ZEROS, *pairs(2, 6, 30, seed=33)])
def test_accepted_mass(student, p, q):
    accepted, _ = two_masses(student, p, q)
    hint = "A token is drafted with q and then accepted with min(1, p/q)."
    same_mass(student, "accepted", accepted, np.minimum(p, q), p, q, hint)


@two_paths.behaviour("the corrected mass, second")
@pytest.mark.parametrize("p, q", [(P, Q), (Q, P), ZEROS, APART, *pairs(2, 6, 30, seed=34)])
def test_corrected_mass(student, p, q):
    _, corrected = two_masses(student, p, q)
    hint = "It is the rejected share times the residual: what p has beyond q."
    same_mass(student, "corrected", corrected, p - np.minimum(p, q), p, q, hint)


@two_paths.behaviour("the ends, without a warning, as a tuple of new arrays")
@pytest.mark.parametrize("p, q", [*EQUAL, APART, (P, Q)])
def test_two_paths_ends(student, p, q):
    hint = "With p equal to q everything is accepted; with nothing shared, nothing is."
    gives = (np.minimum(p, q), p - np.minimum(p, q))
    expect_form(student.two_paths, p, q, gives=gives, hint=hint)
    no_warning(student)
    untouched(student)


argmax_draft_law = Exercise("argmax_draft_law")


def by_cases(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The distribution, token by token: one draft token, written itself or replaced."""
    drafted = max(range(len(q)), key=lambda token: (q[token], -token))
    stays = min(q[drafted], p[drafted]) / q[drafted]
    missing = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
    total = sum(missing) or 1.0
    law = np.array([(1 - stays) * mass / total for mass in missing])
    law[drafted] += stays
    return law


HF = (np.array([0.6, 0.4]), np.array([0.8, 0.2]))
ARGMAX = "The draft token is argmax q every time; ratio and residual use all of q."


@argmax_draft_law.behaviour("one token is always drafted, the residual does the rest")
@pytest.mark.parametrize(
    "p, q", [(P, Q), ([0.5, 0.5], [0.6, 0.4]), HF, *pairs(3, 8, 8, 20, seed=36)]
)
def test_argmax(student, p, q):
    p, q = np.array(p), np.array(q)
    expect(student.argmax_draft_law, p, q, gives=by_cases(p, q), hint=ARGMAX)
    untouched(student)


@argmax_draft_law.behaviour("always accepted where the ratio is 1 or more")
@pytest.mark.parametrize(
    "p, q, gives",
    [
        ([0.6, 0.4], [0.55, 0.45], [1, 0]),
        ([0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0, 0, 1]),
        (Q, P, [0.5, 1 / 2, 0, 0]),
        ([0.25, 0.25, 0.5], [0.25, 0.25, 0.5], [0, 0, 1]),
        ([1.0, 0.0], [1.0, 0.0], [1, 0]),
    ],
    ids=["modest draft", "modest, last token", "the pair exchanged", "equal", "equal, one token"],
)
def test_argmax_accepted(student, p, q, gives):
    p, q = np.array(p), np.array(q)
    hint = "The acceptance probability is at most 1, and then nothing is left for the residual."
    expect(student.argmax_draft_law, p, q, gives=by_cases(p, q), hint=hint)
    no_warning(student)


@argmax_draft_law.behaviour("ties, zeros, a new array")
@pytest.mark.parametrize(
    "p, q",
    [
        ([0.2, 0.3, 0.5], [0.4, 0.4, 0.2]),
        ([0.5, 0.2, 0.3], [0.25, 0.375, 0.375]),
        ([0.0, 0.5, 0.5], [0.5, 0.25, 0.25]),
        ([0.0, 1.0, 0.0], [0.75, 0.0, 0.25]),
    ],
    ids=["tie", "tie further on", "p = 0 on the drafted token", "q = 0 where p is 1"],
)
def test_argmax_edges(student, p, q):
    p, q = np.array(p), np.array(q)
    hint = "Of several largest entries the lowest index is drafted."
    expect_form(student.argmax_draft_law, p, q, gives=by_cases(p, q), hint=hint)
    no_warning(student)
    own_array(student)
    untouched(student)


warp = Exercise("warp")
temperature_step = warp.behaviour("the temperature")
zero_temperature = warp.behaviour("temperature 0, and below")
top_k_step = warp.behaviour("top-k", after=[temperature_step])
top_p_step = warp.behaviour("top-p", after=[temperature_step])

LOGITS = np.array([1.5, -0.5, 2.0, 0.25, 1.0, -2.0])
PROBS = np.array([0.05, 0.4, 0.1, 0.25, 0.2])
ORDER = [1, 3, 4, 2, 0]


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def only(kept: list[int], probs: np.ndarray) -> np.ndarray:
    """`probs` (V,) on the tokens `kept`, renormalised."""
    law = np.zeros(len(probs))
    law[kept] = probs[kept] / probs[kept].sum()
    return law


def by_ranks(logits: np.ndarray, temperature: float, top_k: int | None, top_p: float) -> np.ndarray:
    """All three steps, from the ranks of logits without ties."""
    order = np.argsort(-logits, kind="stable")[: top_k or None]
    probs = softmax(logits[order] / temperature)
    kept = max(1, sum(probs[:i].sum() < top_p for i in range(len(probs))))
    return only(order[:kept].tolist(), softmax(logits / temperature))


@temperature_step
@pytest.mark.parametrize("temperature", [1.0, 0.5, 3.0, 0.01])
def test_temperature(student, temperature):
    hint = "The temperature divides the logits, before the softmax."
    expect(student.warp, LOGITS, temperature, gives=softmax(LOGITS / temperature), hint=hint)
    no_warning(student)
    untouched(student)


@temperature_step
@pytest.mark.parametrize("shift", [0.0, 900.0, -900.0])
def test_large_logits(student, shift):
    hint = "Subtract the largest logit first: exp overflows above 709."
    expect(student.warp, LOGITS + shift, gives=softmax(LOGITS), hint=hint)
    no_warning(student)


@zero_temperature
@pytest.mark.parametrize(
    "logits, best", [(LOGITS, 2), (np.array([0.0, 3.0, 3.0]), 1), (np.array([-1.0, -2.0]), 0)]
)
def test_temperature_zero(student, logits, best):
    hint = "Everything on the largest logit; of several, on the lowest index."
    expect(student.warp, logits, 0.0, gives=np.eye(len(logits))[best], hint=hint)
    expect(student.warp, logits, 0, 2, 0.9, gives=np.eye(len(logits))[best], hint=hint)
    no_warning(student)


@zero_temperature
@pytest.mark.parametrize("temperature", [-0.5, -1e-9])
def test_negative_temperature(student, temperature):
    why = "a temperature below 0 has no meaning"
    expect_value_error(student.warp, LOGITS, temperature, why=why)


@top_k_step
@pytest.mark.parametrize(
    "top_k, kept",
    [
        (1, [2]),
        (2, [0, 2]),
        (3, [0, 2, 4]),
        (5, [0, 1, 2, 3, 4]),
        *((k, [0, 1, 2, 3, 4, 5]) for k in (6, 50, 0, None)),
    ],
)
def test_top_k(student, top_k, kept):
    hint = "The k largest logits stay and are renormalised; None, 0 and more than V keep all."
    expect(student.warp, LOGITS, 1.0, top_k, gives=only(kept, softmax(LOGITS)), hint=hint)
    no_warning(student)
    untouched(student)


@top_k_step
@pytest.mark.parametrize("top_k, kept", [(1, [1]), (2, [0, 1, 2, 3]), (3, [0, 1, 2, 3])])
def test_top_k_ties(student, top_k, kept):
    probs = np.array([0.2, 0.3, 0.2, 0.2, 0.1])
    hint = "Three tokens equal the second largest logit, so all of them stay."
    expect(student.warp, np.log(probs), 1.0, top_k, gives=only(kept, probs), hint=hint)


@top_p_step
@pytest.mark.parametrize(
    "top_p, kept",
    [(0.3, 1), (0.55, 2), (0.8, 3), (0.9, 4), (0.97, 5), (0.01, 1), (0.0, 1)]
    + [(top_p, 5) for top_p in (1.0, 1.5, None)],
)
def test_top_p(student, top_p, kept):
    hint = "A token is kept while the mass before it, from the most probable down, is below top_p."
    gives = only(ORDER[:kept], PROBS)
    expect(student.warp, np.log(PROBS), 1.0, None, top_p, gives=gives, hint=hint)
    no_warning(student)
    untouched(student)


@top_p_step
@pytest.mark.parametrize(
    "top_p, kept", [(0.3, [0, 1]), (0.2, [0]), (0.6, [0, 1, 2]), (0.5, [0, 1])]
)
def test_top_p_ties(student, top_p, kept):
    probs = np.full(4, 0.25)
    hint = "Equal probabilities rank lowest index first, and only as many as needed stay."
    expect(student.warp, np.log(probs), 1.0, None, top_p, gives=only(kept, probs), hint=hint)


@top_p_step
@pytest.mark.parametrize(
    "size, top_p, kept", [(4, 0.5, 2), (4, 0.25, 1), (4, 0.75, 3), (2, 0.5, 1)]
)
def test_top_p_reached_exactly(student, size, top_p, kept):
    hint = f"After {kept} of the tokens the mass is {top_p:g}, which is not below top_p."
    gives = only(list(range(kept)), np.full(size, 1 / size))
    expect(student.warp, np.zeros(size), 1.0, None, top_p, gives=gives, hint=hint)


@warp.behaviour(
    "the order of the steps; an array", after=[temperature_step, top_k_step, top_p_step]
)
@pytest.mark.parametrize(
    "temperature, top_k, top_p",
    [(2.0, 4, 0.7), (0.5, 3, 0.9), (4.0, None, 0.5), (0.25, 3, 0.8), (1.0, 2, 0.6), (3.0, 3, 0.75)],
)
def test_order(student, temperature, top_k, top_p):
    gives = by_ranks(LOGITS, temperature, top_k, top_p)
    hint = "Temperature first, then top-k, then top-p on what top-k has left, renormalised."
    expect_form(student.warp, LOGITS, temperature, top_k, top_p, gives=gives, hint=hint)


is_lossless = Exercise("is_lossless")

# Ratios and residuals of all of them are multiples of 1/64.
GRID = (np.array([0.375, 0.25, 0.125, 0.25]), np.array([0.1875, 0.5, 0.0625, 0.25]))
ODD = (np.array([33 / 128, 0.5, 31 / 128]), np.array([0.5, 0.5, 0.0]))
SPLIT = (np.array([0.125, 0.34375, 0.53125]), np.array([0.5, 0.25, 0.25]))
QUIET = (np.array([0.5, 0.25, 0.21875, 0.03125]), np.array([0.46875, 0.25, 0.21875, 0.0625]))
TWO = (np.array([0.25, 0.75]), np.array([0.5, 0.5]))
SAME = (TWO[0], TWO[0].copy())


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
        if math.prod(np.broadcast_shapes(*map(np.shape, given[2:]))) > MAX_GIVEN:
            raise ValueError(f"a rule takes {MAX_GIVEN:,} draft tokens at once, not more")
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


def judged(student, rule: Callable, pair: tuple, gives: bool, expect=expect) -> None:
    """Expect a verdict on a rule, which a message shows by its name and its text."""

    def is_lossless(rule, p, q):
        return student.is_lossless(RemoteObject(Bounded(rule.rule), call=True), p, q)

    hint = f"This rule {rule.__doc__[0].lower()}{rule.__doc__[1:].rstrip('.')}."
    expect(is_lossless, Named(rule), *pair, gives=gives, hint=hint)
    untouched(student)


@is_lossless.behaviour("every impostor is seen, and no right rule taken for one")
@pytest.mark.parametrize("rule", [*IMPOSTORS, swapped_residual, from_draft, right_rule])
def test_impostors(student, rule):
    judged(student, rule, GRID, gives=rule is right_rule)


@is_lossless.behaviour("the law counts, not how the rule is written")
@pytest.mark.parametrize("pair", [GRID, SPLIT], ids=["four tokens", "three tokens"])
@pytest.mark.parametrize(
    "rule",
    [sampler_match, published_rule, other_side_of_the_coin, exchanged_numbers, shuffled_number],
)
def test_right_rules(student, rule, pair):
    judged(student, rule, pair, gives=True)
    judged(student, one_coin, pair, gives=False)


@is_lossless.behaviour("judged on this pair, with draft tokens from q")
@pytest.mark.parametrize(
    "rule, pair, gives",
    [
        (from_target, SAME, True),
        (from_target, TWO, False),
        (one_coin, TWO, True),
        (one_coin, SPLIT, False),
        (right_rule, ODD, True),
        (published_rule, ODD, True),
        (coarse_coin, ODD, False),
        (right_rule, QUIET, True),
    ],
)
def test_pairs(student, rule, pair, gives):
    judged(student, rule, pair, gives)


@is_lossless.behaviour("exact: no small bias is let through; True or False")
@pytest.mark.parametrize(
    "rule, pair", [(coarse_coin, QUIET), (one_cell, GRID), (one_cell, SPLIT), (one_cell, TWO)]
)
def test_small_biases(student, rule, pair):
    judged(student, rule, pair, gives=False, expect=expect_form)
    judged(student, right_rule, pair, gives=True, expect=expect_form)


impostor = Exercise("impostor")
hidden = impostor.behaviour("counting sees it, 200,000 samples do not", weight=2)


def forged(student, seed: int) -> Forgery:
    """What is known of the student's impostor, if it hides."""
    found = examined(student.impostor, seed)
    fault = fault_of(found)
    if fault:
        cause, why = fault
        raise by_cause(Different(f"impostor, on lesson.GRID_P and lesson.GRID_Q: {why}"), cause)
    return found


def at_least(bias: float, found: Forgery) -> None:
    """Raise Different if the hidden bias is smaller."""
    if said := short_of(found, bias):
        wrong = Different(f"impostor, on lesson.GRID_P and lesson.GRID_Q: {said}")
        raise by_cause(wrong, "one_square") if found.counted < LEAST else wrong


@hidden
@pytest.mark.parametrize("seed", [0, 1])
def test_impostor_hides(student, seed):
    forged(student, seed)
    untouched(student)


@impostor.behaviour("a bias of at least 0.0003", after=[hidden])
@pytest.mark.parametrize("seed", [0])
def test_impostor_is_biased(student, seed):
    at_least(LEAST, forged(student, seed))


@impostor.behaviour("a bias of at least 0.0012", after=[hidden])
@pytest.mark.parametrize("seed", [0])
def test_impostor_is_nearly_seen(student, seed):
    at_least(LARGE, forged(student, seed))
