"""Hidden tests of chapter 04. Points attach to behaviours; see autograde/check.py."""

import numpy as np
import pytest
import torch

from autograde.chapters.common import (
    expect,
    expect_form,
    no_warning,
    own_array,
    prediction,
    quiz,
)
from autograde.check import Exercise, by_cause, untouched
from specdec_lib.lessons.ch04 import quizzes
from specdec_lib.lessons.ch04.checks import CUT, expect_gradient, expect_loss, is_cut, not_a_loss
from specdec_lib.lessons.common.describing import describe, told_apart
from specdec_lib.lessons.common.examples import Different

test_prediction = prediction("prediction_04", 0, 6)
test_prediction_b = prediction("prediction_04_b", 0, 2)
test_prediction_c = prediction("prediction_04_c", 0, 20)
test_prediction_d = prediction("prediction_04_d", 0.2, 1.2)
test_quiz = quiz(quizzes.quiz_04)
test_quiz_b = quiz(quizzes.quiz_04_b)


def powers(alpha: float, low: int, high: int) -> float:
    """alpha^low + ... + alpha^high."""
    return float(sum(alpha**i for i in range(low, high + 1)))


MEANS = [(0.5, 1), (0.5, 2), (0.25, 3), (0.7, 5), (0.9, 2), (0.3, 8), (0.95, 30), (0.834, 5)]
ENDS = [(0.0, 1), (0.0, 5), (1.0, 1), (1.0, 5), (1.0, 20), (0.7, 0), (0.0, 0), (1.0, 0)]


expected_accepted = Exercise("expected_accepted")


@expected_accepted.behaviour("the sum of the powers of alpha")
@pytest.mark.parametrize("alpha, k", MEANS)
def test_accepted(student, alpha, k):
    hint = "Token i counts with alpha to the power i, from 1 to k."
    expect(student.expected_accepted, alpha, k, gives=powers(alpha, 1, k), hint=hint)


@expected_accepted.behaviour("the ends: alpha 0 and 1, and k = 0; a number")
@pytest.mark.parametrize("alpha, k", [*ENDS, (0.5, 3)])
def test_accepted_at_the_ends(student, alpha, k):
    hint = "At 1 the fraction has no value, and the sum has; without a draft nothing is accepted."
    expect_form(student.expected_accepted, alpha, k, gives=powers(alpha, 1, k), hint=hint)
    no_warning(student)


expected_tokens = Exercise("expected_tokens")


@expected_tokens.behaviour("the accepted ones and one more")
@pytest.mark.parametrize("alpha, k", MEANS)
def test_tokens(student, alpha, k):
    hint = "Every block gets one token from the target, the correction or the bonus."
    expect(student.expected_tokens, alpha, k, gives=powers(alpha, 0, k), hint=hint)


@expected_tokens.behaviour("the ends: alpha 0 and 1, and k = 0; a number")
@pytest.mark.parametrize("alpha, k", [*ENDS, (0.5, 3)])
def test_tokens_at_the_ends(student, alpha, k):
    hint = "A block writes at least 1 token and at most k + 1."
    expect_form(student.expected_tokens, alpha, k, gives=powers(alpha, 0, k), hint=hint)
    no_warning(student)


walltime_speedup = Exercise("walltime_speedup")


@walltime_speedup.behaviour("tokens over the time of a block")
@pytest.mark.parametrize(
    "alpha, c, k",
    [(0.5, 0.1, 2), (0.7, 0.02, 8), (0.8, 0.05, 5), (0.75, 0.0, 3), (0.62, 0.02, 7), (0.9, 0.3, 1)],
)
def test_speedup(student, alpha, c, k):
    gives = powers(alpha, 0, k) / (c * k + 1)
    hint = "A block takes k draft steps of c each and one verification."
    expect(student.walltime_speedup, alpha, c, k, gives=gives, hint=hint)


@walltime_speedup.behaviour("the price of the verification")
@pytest.mark.parametrize(
    "alpha, c, k, v",
    [(0.5, 0.1, 2, 1.3), (0.8, 0.05, 5, 2.0), (0.7, 0.0, 3, 1.25), (0.6, 0.2, 4, 0.9)],
)
def test_speedup_with_measured_v(student, alpha, c, k, v):
    gives = powers(alpha, 0, k) / (c * k + v)
    hint = "verify_cost is v(k + 1), the whole pass over k + 1 tokens."
    expect(student.walltime_speedup, alpha, c, k, v, gives=gives, hint=hint)


@walltime_speedup.behaviour("slow-downs and ends are told as they are")
@pytest.mark.parametrize(
    "alpha, c, k, v",
    [
        (0.0, 0.1, 5, 1.0),
        (0.3, 0.1, 5, 1.0),
        (0.05, 0.3, 1, 1.0),
        (1.0, 0.1, 5, 1.0),
        (1.0, 1.0, 4, 1.0),
        (0.7, 0.1, 0, 1.0),
        (0.7, 0.1, 0, 1.25),
    ],
)
def test_speedup_at_the_ends(student, alpha, c, k, v):
    gives = powers(alpha, 0, k) / (c * k + v)
    hint = "Below 1 is a slow-down; k = 0 is plain decoding."
    expect_form(student.walltime_speedup, alpha, c, k, v, gives=gives, hint=hint)
    no_warning(student)


best_k = Exercise("best_k")


@best_k.behaviour("the best K of the formula")
@pytest.mark.parametrize(
    "alpha, c, gives",
    [
        (0.7, 0.01, 9),
        (0.7, 0.02, 8),
        (0.7, 0.05, 6),
        (0.7, 0.1, 4),
        (0.7, 0.2, 3),
        (0.9, 0.02, 19),
        (0.9, 0.2, 7),
        (0.95, 0.02, 31),
        (0.5, 0.1, 2),
    ],
)
def test_best_k(student, alpha, c, gives):
    hint = "It depends on c as much as on alpha: compare every K by walltime_speedup."
    expect(student.best_k, alpha, c, 60, gives=gives, hint=hint)


@best_k.behaviour("0 where no K pays")
@pytest.mark.parametrize(
    "alpha, c, gives",
    [(0.05, 0.3, 0), (0.0, 0.1, 0), (0.3, 0.31, 0), (0.0, 0.0, 0), (0.3, 0.29, 1), (0.9, 1.0, 0)],
)
def test_best_k_may_be_none(student, alpha, c, gives):
    hint = "Plain decoding is K = 0 with a speed-up of 1; a K pays only where alpha is above c."
    expect(student.best_k, alpha, c, 20, gives=gives, hint=hint)


@best_k.behaviour("of equal speed-ups the smallest K")
@pytest.mark.parametrize(
    "alpha, c, gives",
    [
        (0.5, 0.2, 1),
        (0.25, 0.0625 / 1.1875, 1),
        (0.75, 0.5625 / 1.1875, 1),
        (0.375, 0.140625 / 1.234375, 1),
        (0.5, 0.5, 0),
        (0.3, 0.3, 0),
        (1.0, 1.0, 0),
        (0.5, 0.1, 2),
    ],
)
def test_best_k_of_equal_ones(student, alpha, c, gives):
    hint = "Speed-ups within 1e-12 of each other are equal; of equal ones the smallest K wins."
    expect(student.best_k, alpha, c, 12, gives=gives, hint=hint)


@best_k.behaviour("looks at 1 to k_max and no further; a whole number")
@pytest.mark.parametrize(
    "alpha, c, k_max, gives",
    [
        (0.9, 0.01, 10, 10),
        (0.9, 0.01, 1, 1),
        (1.0, 0.1, 20, 20),
        (0.5, 0.0, 7, 7),
        (0.7, 0.1, 3, 3),
        (0.7, 0.1, 4, 4),
        (0.7, 0.1, 50, 4),
        (0.99, 0.001, 90, 90),
    ],
)
def test_best_k_up_to_k_max(student, alpha, c, k_max, gives):
    hint = "Every K from 1 to k_max is looked at, k_max too, and none beyond."
    expect_form(student.best_k, alpha, c, k_max, gives=gives, hint=hint)


prompt_lookup = Exercise("prompt_lookup")


@prompt_lookup.behaviour("what followed the latest earlier occurrence")
@pytest.mark.parametrize(
    "tokens, k, gives",
    [
        ([4, 5, 6, 9, 5, 6], 3, [9, 5, 6]),
        ([1, 2, 7, 1, 2, 8, 1, 2], 1, [8]),
        ([1, 7, 1, 8, 1, 9, 1], 2, [9, 1]),
        ([3, 0, 3, 0, 4, 3, 0], 2, [4, 3]),
        ([0, 0, 1, 0, 2, 0], 2, [2, 0]),
        ([6, 1, 2, 3, 8, 5, 1, 2, 3, 9, 4, 1, 2, 3], 2, [9, 4]),
    ],
)
def test_lookup(student, tokens, k, gives):
    hint = "Of several occurrences the latest one before the suffix itself counts."
    expect(student.prompt_lookup, tokens, k, gives=gives, hint=hint)


@prompt_lookup.behaviour("the longest suffix first, up to max_ngram")
@pytest.mark.parametrize(
    "tokens, k, size, gives",
    [
        ([1, 2, 3, 7, 2, 3, 8, 3, 9, 1, 2, 3], 1, 3, [7]),
        ([1, 2, 3, 7, 2, 3, 8, 3, 9, 1, 2, 3], 1, 2, [8]),
        ([1, 2, 3, 7, 2, 3, 8, 3, 9, 1, 2, 3], 1, 1, [9]),
        ([1, 2, 3, 4, 7, 9, 2, 3, 4, 8, 1, 2, 3, 4], 1, 3, [8]),
        ([1, 2, 3, 4, 7, 9, 2, 3, 4, 8, 1, 2, 3, 4], 1, 4, [7]),
        ([5, 6, 9, 4, 6], 2, 3, [9, 4]),
        ([5, 9, 5], 2, 10, [9, 5]),
    ],
)
def test_lookup_prefers_the_longest(student, tokens, k, size, gives):
    hint = f"Here max_ngram is {size}: from that length down to 1."
    expect(student.prompt_lookup, tokens, k, size, gives=gives, hint=hint)


@prompt_lookup.behaviour("up to k tokens, overlapping the suffix or not")
@pytest.mark.parametrize(
    "tokens, k, gives",
    [
        ([7, 7, 7], 2, [7]),
        ([7, 7, 7, 7, 7], 3, [7]),
        ([1, 2, 1, 2, 1, 2], 4, [1, 2]),
        ([5, 6, 5], 8, [6, 5]),
        ([3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4], 4, [1, 5, 9, 2]),
        ([3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4], 2, [1, 5]),
        ([3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4], 50, [1, 5, 9, 2, 6, 3, 1, 4]),
        ([2, 4, 2, 6, 6, 6, 6, 2, 5, 2], 3, [5, 2]),
    ],
)
def test_lookup_length(student, tokens, k, gives):
    hint = "The latest occurrence counts, also where it overlaps the suffix or few tokens follow."
    expect(student.prompt_lookup, tokens, k, gives=gives, hint=hint)


@prompt_lookup.behaviour("nothing to be found; a list; nothing changed")
@pytest.mark.parametrize(
    "tokens, k, gives",
    [
        ([1, 2, 3], 2, []),
        ([], 3, []),
        ([4], 3, []),
        ([9, 9, 8], 3, []),
        ([1, 2, 1, 2], 0, []),
        ([1, 2, 1, 2], 1, [1]),
        ([0, 5, 0], 2, [5, 0]),
    ],
)
def test_lookup_of_nothing(student, tokens, k, gives):
    hint = "A suffix that does not stand earlier gives an empty list, and so does k = 0."
    expect_form(student.prompt_lookup, tokens, k, gives=gives, hint=hint)
    untouched(student)


bigram_probs = Exercise("bigram_probs")


def counted(tokens: list[int], vocab_size: int, smoothing: float) -> np.ndarray:
    """The table, pair by pair."""
    table = np.full((vocab_size, vocab_size), smoothing)
    for before, after in zip(tokens, tokens[1:], strict=False):
        table[before, after] += 1
    for row in table:
        row[:] = row / row.sum() if row.sum() else 1 / vocab_size
    return table


TEXT = [0, 1, 2, 0, 1, 1, 3, 0, 1, 2, 2, 0]
ONCE = [0, 1, 2, 0, 3, 1, 1, 4]  # no pair occurs twice: who counts each pair once is right here


@bigram_probs.behaviour("row: the token before, column: the token after")
@pytest.mark.parametrize(
    "tokens, vocab_size",
    [([0, 1, 0, 1, 1], 2), (TEXT, 4), (TEXT, 6), ([2, 0, 2, 0, 2, 1], 3), ([1, 1, 1, 1, 0], 2)],
)
def test_bigrams(student, tokens, vocab_size):
    gives = counted(tokens, vocab_size, 1.0)
    hint = "Row i is what follows token i, each pair counted as often as it occurs, plus 1."
    expect(student.bigram_probs, tokens, vocab_size, gives=gives, hint=hint)


@bigram_probs.behaviour("the smoothing is added to every count")
@pytest.mark.parametrize("smoothing", [0.5, 0.01, 3.0, 1.0])
def test_bigrams_smoothed(student, smoothing):
    gives = counted(ONCE, 5, smoothing)
    hint = f"Every cell starts at {smoothing:g}, and then the row is divided by its sum."
    expect(student.bigram_probs, ONCE, 5, smoothing, gives=gives, hint=hint)


@bigram_probs.behaviour("rows without mass are uniform; short texts; a new array")
@pytest.mark.parametrize(
    "tokens, vocab_size, smoothing",
    [
        ([0, 1], 2, 0.0),
        (ONCE, 6, 0.0),
        ([], 3, 1.0),
        ([2], 3, 0.0),
        ([2], 3, 1.0),
        ([3, 3], 4, 0.0),
        ([0, 1, 1], 2, 0.0),
    ],
)
def test_bigrams_at_the_edges(student, tokens, vocab_size, smoothing):
    gives = counted(tokens, vocab_size, smoothing)
    hint = "Every row sums to 1; where nothing was counted it is 1/V throughout."
    expect_form(student.bigram_probs, tokens, vocab_size, smoothing, gives=gives, hint=hint)
    no_warning(student)
    own_array(student)
    untouched(student)


distillation_loss = Exercise("distillation_loss")
rejected_share = distillation_loss.behaviour("the share of draft tokens that is rejected")


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def right_loss(p: np.ndarray, q: np.ndarray) -> float:
    """Half the mean L1 distance of the softmaxes, in float64."""
    return float(0.5 * np.abs(softmax(p) - softmax(q)).sum(-1).mean())


def logits(*shape: int, seed: int, step: float = 0.25) -> np.ndarray:
    """Random logits, multiples of `step`: bfloat16 holds those of 0.25 exactly."""
    return step * np.random.default_rng(seed).integers(-10, 11, shape).astype(float)


def check_loss(student, p, q, hint, dtype=torch.float64):
    tensors = torch.tensor(p, dtype=dtype), torch.tensor(q, dtype=dtype)
    gives = right_loss(p, q)
    expect_loss(student.distillation_loss, *tensors, gives=gives, hint=hint, form=False)


PAIR = np.log([[0.45, 0.30, 0.15, 0.10]]), np.log([[0.30, 0.45, 0.20, 0.05]])


@rejected_share
@pytest.mark.parametrize(
    "p, q",
    [
        PAIR,
        (PAIR[0] + 2.5, PAIR[1] - 4.0),
        (PAIR[0], PAIR[0] + 1.0),
        (np.array([[40.0, 0.0, 0.0]]), np.array([[0.0, 40.0, 0.0]])),
        (logits(1, 5, seed=1), logits(1, 5, seed=2)),
        (logits(1, 40, seed=3), logits(1, 40, seed=4)),
    ],
    ids=["pair", "shifted", "equal", "disjoint", "random", "larger"],
)
def test_loss(student, p, q):
    hint = "It is half of the sum of |p - q|, or 1 minus the sum of min(p, q), of the softmaxes."
    check_loss(student, p, q, hint)


@distillation_loss.behaviour("the mean over all positions, whatever the shape")
@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (4, 7), (1, 9, 3), (3, 2, 5), (2, 6, 11)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_loss_over_positions(student, shape, dtype):
    p, q = logits(*shape, seed=sum(shape)), logits(*shape, seed=sum(shape) + 100)
    hint = f"The logits are {shape}: the vocabulary is the last axis, all others are positions."
    check_loss(student, p, q, hint, dtype)
    untouched(student)


VALUE = "the share of draft tokens that is rejected"


def given_loss(student, p, q, dtype):
    """The notebook's `loss_and_gradient` on the student's function: (value, gradient)."""
    tensors = torch.tensor(p), torch.tensor(q)
    value = student.distillation_loss(*tensors)  # unwritten, wrong and odd ones end here
    if remark := not_a_loss(value):
        raise Different(f"distillation_loss returned {describe(value)} ({remark}).")
    student.calls, before = [], student.calls
    try:
        return student.loss_and_gradient(*tensors, dtype)
    except Exception as error:
        if is_cut(error):
            raise by_cause(Different(CUT), "no_gradient") from None
        raise
    finally:
        student.calls = before


@distillation_loss.behaviour("a gradient reaches the draft's logits", after=[rejected_share])
@pytest.mark.parametrize(
    "p, q",
    [
        PAIR,
        (logits(3, 4, seed=5), logits(3, 4, seed=6, step=0.3)),
        (logits(2, 3, 5, seed=7), logits(2, 3, 5, seed=8, step=0.3)),
    ],
)
def test_loss_gradient(student, p, q):
    _, gradient = given_loss(student, p, q, "float64")
    expect_gradient(gradient.numpy(), p, q)


@distillation_loss.behaviour("float32 or better for narrow logits", after=[rejected_share])
@pytest.mark.parametrize("shape", [(6, 8), (2, 5, 16), (3, 300)])
def test_loss_of_narrow_logits(student, shape):
    p, q = logits(*shape, seed=11), logits(*shape, seed=12)
    value, _ = given_loss(student, p, q, "bfloat16")
    if not abs(value - right_loss(p, q)) <= 1e-6:
        came, wanted = told_apart(value, right_loss(p, q))
        error = Different(
            f"with logits {shape} in bfloat16 distillation_loss returned {came}, expected "
            f"{wanted}. Turn logits into float32 before the softmax."
        )
        raise by_cause(error, "narrow") if value in narrow_losses(p, q) else error


def narrow_losses(p: np.ndarray, q: np.ndarray) -> list[float]:
    """What comes out if bfloat16 is kept throughout, by each way to write the loss."""
    p, q = (torch.tensor(each, dtype=torch.bfloat16).softmax(-1) for each in (p, q))
    ways = (1 - torch.minimum(p, q).sum(-1), (p - q).clamp(min=0).sum(-1))
    ways += ((p - q).abs().sum(-1) / 2,)
    return [way.mean().item() for way in ways] + [((p - q).abs().sum(-1).mean() / 2).item()]
