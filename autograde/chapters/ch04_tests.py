"""Hidden tests of chapter 04. Points attach to behaviours; see autograde/check.py.

Their numbers stand in numbers/ch04_numbers.py. The dtypes of logits, and how far a loss may be off,
are what the card of distillation_loss says.
"""

import numpy as np
import pytest
import torch

from autograde.chapters.ch04_wrong import WRONG  # noqa: F401  known to the grader by this name
from autograde.chapters.common import (
    expect,
    expect_form,
    no_warning,
    own_array,
    prediction,
    quiz,
)
from autograde.chapters.expected import ch04_expected as expected
from autograde.chapters.numbers import ch04_numbers as numbers
from autograde.chapters.parametrized import Exercise
from autograde.check import by_cause, untouched
from specdec_lib.lessons.ch04 import quizzes
from specdec_lib.lessons.ch04.checks import CUT, expect_gradient, expect_loss, is_cut, not_a_loss
from specdec_lib.lessons.common.describing import describe, told_apart
from specdec_lib.lessons.common.examples import Different
from specdec_lib.lessons.common.kinds import is_tensor

test_prediction = prediction("prediction_04", 0, 6)
test_prediction_b = prediction("prediction_04_b", 0, 2)
test_prediction_c = prediction("prediction_04_c", 0, 20)
test_prediction_d = prediction("prediction_04_d", 0.2, 1.2)
test_quiz = quiz(quizzes.quiz_04)
test_quiz_b = quiz(quizzes.quiz_04_b)


expected_accepted = Exercise("expected_accepted")


@expected_accepted.behaviour("the sum of the powers of alpha")
@pytest.mark.parametrize("alpha, k", numbers.MEANS)
def test_accepted(student, alpha, k):
    hint = "Token i counts with alpha to the power i, from 1 to k."
    expect(student.expected_accepted, alpha, k, gives=expected.accepted(alpha, k), hint=hint)


@expected_accepted.behaviour("the ends: alpha 0 and 1, and k = 0; a number")
@pytest.mark.parametrize("alpha, k", numbers.MEANS_ENDS)
def test_accepted_at_the_ends(student, alpha, k):
    hint = "At 1 the fraction has no value, and the sum has; without a draft nothing is accepted."
    expect_form(student.expected_accepted, alpha, k, gives=expected.accepted(alpha, k), hint=hint)
    no_warning(student)


expected_tokens = Exercise("expected_tokens")


@expected_tokens.behaviour("the accepted ones and one more")
@pytest.mark.parametrize("alpha, k", numbers.MEANS)
def test_tokens(student, alpha, k):
    hint = "Every block gets one token from the target, the correction or the bonus."
    expect(student.expected_tokens, alpha, k, gives=expected.tokens(alpha, k), hint=hint)


@expected_tokens.behaviour("the ends: alpha 0 and 1, and k = 0; a number")
@pytest.mark.parametrize("alpha, k", numbers.MEANS_ENDS)
def test_tokens_at_the_ends(student, alpha, k):
    hint = "A block writes at least 1 token and at most k + 1."
    expect_form(student.expected_tokens, alpha, k, gives=expected.tokens(alpha, k), hint=hint)
    no_warning(student)


walltime_speedup = Exercise("walltime_speedup")


@walltime_speedup.behaviour("tokens over the time of a block")
@pytest.mark.parametrize("alpha, c, k", numbers.SPEEDUPS)
def test_speedup(student, alpha, c, k):
    gives = expected.speedup(alpha, c, k)
    hint = "A block takes k draft steps of c each and one verification."
    expect(student.walltime_speedup, alpha, c, k, gives=gives, hint=hint)


@walltime_speedup.behaviour("the price of the verification")
@pytest.mark.parametrize("alpha, c, k, v", numbers.SPEEDUPS_WITH_V)
def test_speedup_with_measured_v(student, alpha, c, k, v):
    gives = expected.speedup(alpha, c, k, v)
    hint = "verify_cost is v(k + 1), the whole pass over k + 1 tokens."
    expect(student.walltime_speedup, alpha, c, k, v, gives=gives, hint=hint)


@walltime_speedup.behaviour("slow-downs and ends are told as they are")
@pytest.mark.parametrize("alpha, c, k, v", numbers.SPEEDUPS_ENDS)
def test_speedup_at_the_ends(student, alpha, c, k, v):
    gives = expected.speedup(alpha, c, k, v)
    hint = "Below 1 is a slow-down; k = 0 is plain decoding."
    expect_form(student.walltime_speedup, alpha, c, k, v, gives=gives, hint=hint)
    no_warning(student)


best_k = Exercise("best_k")


def check_best(student, alpha, c, k_max, hint, expect=expect):
    gives = expected.best_k(alpha, c, k_max)
    expect(student.best_k, alpha, c, k_max, gives=gives, hint=hint)


@best_k.behaviour("the best K of the formula")
@pytest.mark.parametrize("alpha, c", numbers.BEST)
def test_best_k(student, alpha, c):
    hint = "It depends on c as much as on alpha: compare every K by walltime_speedup."
    check_best(student, alpha, c, numbers.BEST_UP_TO, hint)


@best_k.behaviour("0 where no K pays")
@pytest.mark.parametrize("alpha, c", numbers.NONE_PAYS)
def test_best_k_may_be_none(student, alpha, c):
    hint = "Plain decoding is K = 0 with a speed-up of 1; a K pays only where alpha is above c."
    check_best(student, alpha, c, numbers.NONE_PAYS_UP_TO, hint)


@best_k.behaviour("of equal speed-ups the smallest K")
@pytest.mark.parametrize("alpha, c", numbers.TIES)
def test_best_k_of_equal_ones(student, alpha, c):
    hint = "Speed-ups within 1e-12 of each other are equal; of equal ones the smallest K wins."
    check_best(student, alpha, c, numbers.TIES_UP_TO, hint)


@best_k.behaviour("looks at 1 to k_max and no further; a whole number")
@pytest.mark.parametrize("alpha, c, k_max", numbers.K_MAX)
def test_best_k_up_to_k_max(student, alpha, c, k_max):
    hint = "Every K from 1 to k_max is looked at, k_max too, and none beyond."
    check_best(student, alpha, c, k_max, hint, expect_form)


prompt_lookup = Exercise("prompt_lookup")


@prompt_lookup.behaviour("what followed the latest earlier occurrence")
@pytest.mark.parametrize("tokens, k", numbers.LATEST)
def test_lookup(student, tokens, k):
    hint = "Of several occurrences the latest one before the suffix itself counts."
    gives = expected.lookup(tokens, k)
    expect(student.prompt_lookup, tokens, k, gives=gives, hint=hint)


@prompt_lookup.behaviour("the longest suffix first, up to max_ngram")
@pytest.mark.parametrize("tokens, k, size", numbers.LONGEST)
def test_lookup_prefers_the_longest(student, tokens, k, size):
    hint = f"Here max_ngram is {size}: from that length down to 1."
    gives = expected.lookup(tokens, k, size)
    expect(student.prompt_lookup, tokens, k, size, gives=gives, hint=hint)


@prompt_lookup.behaviour("up to k tokens, overlapping the suffix or not")
@pytest.mark.parametrize("tokens, k", numbers.FOLLOWING)
def test_lookup_length(student, tokens, k):
    hint = "The latest occurrence counts, also where it overlaps the suffix or few tokens follow."
    gives = expected.lookup(tokens, k)
    expect(student.prompt_lookup, tokens, k, gives=gives, hint=hint)


@prompt_lookup.behaviour("nothing to be found; a list; nothing changed")
@pytest.mark.parametrize("tokens, k", numbers.NOTHING)
def test_lookup_of_nothing(student, tokens, k):
    hint = "A suffix that does not stand earlier gives an empty list, and so does k = 0."
    gives = expected.lookup(tokens, k)
    expect_form(student.prompt_lookup, tokens, k, gives=gives, hint=hint)
    untouched(student)


bigram_probs = Exercise("bigram_probs")


@bigram_probs.behaviour("row: the token before, column: the token after")
@pytest.mark.parametrize("tokens, vocab_size", numbers.BIGRAMS)
def test_bigrams(student, tokens, vocab_size):
    gives = expected.bigrams(tokens, vocab_size)
    hint = "Row i is what follows token i, each pair counted as often as it occurs, plus 1."
    expect(student.bigram_probs, tokens, vocab_size, gives=gives, hint=hint)


@bigram_probs.behaviour("the smoothing is added to every count")
@pytest.mark.parametrize("smoothing", numbers.SMOOTHINGS)
def test_bigrams_smoothed(student, smoothing):
    tokens, size = numbers.ONCE, numbers.ONCE_SIZE
    gives = expected.bigrams(tokens, size, smoothing)
    hint = f"Every cell starts at {smoothing:g}, and then the row is divided by its sum."
    expect(student.bigram_probs, tokens, size, smoothing, gives=gives, hint=hint)


@bigram_probs.behaviour("rows without mass are uniform; short texts; a new array")
@pytest.mark.parametrize("tokens, vocab_size, smoothing", numbers.BIGRAMS_EDGES)
def test_bigrams_at_the_edges(student, tokens, vocab_size, smoothing):
    gives = expected.bigrams(tokens, vocab_size, smoothing)
    hint = "Every row sums to 1; where nothing was counted it is 1/V throughout."
    expect_form(student.bigram_probs, tokens, vocab_size, smoothing, gives=gives, hint=hint)
    no_warning(student)
    own_array(student)
    untouched(student)


distillation_loss = Exercise("distillation_loss")
rejected_share = distillation_loss.behaviour("the share of draft tokens that is rejected")


def check_loss(student, p, q, hint, dtype=torch.float64):
    tensors = torch.tensor(p, dtype=dtype), torch.tensor(q, dtype=dtype)
    gives = expected.loss(p, q)
    expect_loss(student.distillation_loss, *tensors, gives=gives, hint=hint, form=False)


@rejected_share
@pytest.mark.parametrize("p, q", numbers.LOSSES)
def test_loss(student, p, q):
    hint = "Softmax over the last axis, the vocabulary; then 1 minus the sum of min(p, q)."
    check_loss(student, p, q, hint)


@distillation_loss.behaviour("the mean over all positions, whatever the shape")
@pytest.mark.parametrize("p, q", numbers.POSITIONS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_loss_over_positions(student, p, q, dtype):
    hint = f"The logits are {p.shape}: the vocabulary is the last axis, all others are positions."
    check_loss(student, p, q, hint, dtype)
    untouched(student)


def given_loss(student, p, q, dtype, form=False):
    """The notebook's `loss_and_gradient` on the student's function: (value, gradient)."""
    tensors = torch.tensor(p), torch.tensor(q)
    value = student.distillation_loss(*tensors)  # unwritten, wrong and odd ones end here
    if not form and is_tensor(value) and value.numel() == 1:
        value = value.reshape(())
    if remark := not_a_loss(value):
        raise Different(f"distillation_loss returned {describe(value)} ({remark}).")
    student.calls, before = [], student.calls
    try:
        return student.loss_and_gradient(*tensors, dtype)
    except Exception as error:
        if is_cut(error) or "ScalarType" in str(error):  # NumPy has no bfloat16
            raise by_cause(Different(CUT), "the value is right, so the loss is.") from None
        raise
    finally:
        student.calls = before


@distillation_loss.behaviour("a gradient reaches the draft's logits")
@pytest.mark.parametrize("p, q", numbers.GRADIENTS)
def test_loss_gradient(student, p, q):
    _, gradient = given_loss(student, p, q, "float64", form=True)
    expect_gradient(gradient.numpy(), p, q)


@distillation_loss.behaviour("float32 or better for narrow logits")
@pytest.mark.parametrize("p, q", numbers.NARROW)
def test_loss_of_narrow_logits(student, p, q):
    value, _ = given_loss(student, p, q, "bfloat16")
    right = expected.loss(p, q)
    if not abs(value - right) <= 1e-6:
        came, wanted = told_apart(value, right)
        error = Different(
            f"with logits {p.shape} in bfloat16 distillation_loss returned {came}, expected "
            f"{wanted}. Turn logits into float32 before the softmax."
        )
        raise (
            by_cause(error, "the dtype of the logits is good enough.")
            if value in narrow_losses(p, q)
            else error
        )


def narrow_losses(p: np.ndarray, q: np.ndarray) -> list[float]:
    """What comes out if bfloat16 is kept throughout, by each way to write the loss."""
    p, q = (torch.tensor(each, dtype=torch.bfloat16).softmax(-1) for each in (p, q))
    ways = (1 - torch.minimum(p, q).sum(-1), (p - q).clamp(min=0).sum(-1))
    ways += ((p - q).abs().sum(-1) / 2,)
    return [way.mean().item() for way in ways] + [((p - q).abs().sum(-1).mean() / 2).item()]
