"""Hidden tests of chapter 04: test groups and known bugs; see autograde/hidden/exercise.py."""

from typing import Any

import numpy as np
import torch

from autograde.hidden.exercise import untouched, with_cause
from autograde.hidden_tests.common import Exercise, prediction, quiz
from autograde.hidden_tests.distributions import share
from specdec_lib.lessons.ch04.lesson import NO_GRAD, expect_gradient, expect_loss, is_cut, loss_flaw
from specdec_lib.lessons.checking.describing import describe, distinct_texts
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.kinds import is_tensor

test_prediction_04 = prediction("prediction_04", 0, 6)
test_prediction_04_b = prediction("prediction_04_b", 0, 20)
test_prediction_04_c = prediction("prediction_04_c", 0.2, 1.2)
test_quiz_04 = quiz("quiz_04")
test_quiz_04_b = quiz("quiz_04_b")


def means(rng):
    """alpha and k, inside their ranges."""
    yield 0.5, 2
    for k in (2, 5, 8, 30):
        yield share(rng), k


def mean_ends(rng):
    """alpha 0 and 1, and k = 0; the last is neither."""
    for k in (0, 1, 5, 20):
        yield 0.0, k
        yield 1.0, k
    yield share(rng), 0
    yield share(rng), 3
    yield 0.995, 5


expected_tokens = Exercise("expected_tokens")

POWERS = "Draft token i counts with alpha to the power i, and the target adds one token."


@expected_tokens.group("the powers of alpha, and the target's token", cases=means)
def test_expected_tokens_means(student, solution, args):
    expected_tokens.assert_same(student, solution, args, POWERS)


@expected_tokens.group("alpha 0 and 1, and k = 0; a number", cases=mean_ends)
def test_expected_tokens_ends(student, solution, args):
    expected_tokens.assert_same(student, solution, args, POWERS, form=True)


walltime_speedup = Exercise("walltime_speedup")

PRICE = "It is expected_tokens(alpha, k) over the time c k + verify_cost, and may be below 1."


def speedups(rng):
    for k in (2, 5, 8):
        yield share(rng, 0.6), share(rng, 0.01, 0.2), k


@walltime_speedup.group("tokens over the time of a block", cases=speedups)
def test_walltime_speedup_speedups(student, solution, args):
    walltime_speedup.assert_same(student, solution, args, hint=PRICE)


def measured_costs(rng):
    yield 0.7, 0.0, 3, 1.25
    for k in (0, 2, 5, 8):
        yield share(rng, 0.6), share(rng, 0.01, 0.2), k, share(rng, 1.1, 2.0)


@walltime_speedup.group("the price of the verification", cases=measured_costs)
def test_walltime_speedup_measured_costs(student, solution, args):
    walltime_speedup.assert_same(student, solution, args, hint=PRICE)


def slow_downs(rng):
    yield 0.0, 0.1, 5, 1.0
    yield 1.0, 0.1, 5, 1.0
    yield share(rng), share(rng), 0, 1.0


@walltime_speedup.group("slow-downs and the ends; a number", cases=slow_downs)
def test_walltime_speedup_slow_downs(student, solution, args):
    walltime_speedup.assert_same(student, solution, args, hint=PRICE, form=True)


best_k = Exercise("best_k")


FLAT = [1.0] * 21
ALL_OF_THEM = "Compare all K, from 0 to len(v) - 1: the first or the last may be the best."
JUMPS = [1.0, 1.05, 1.6, 1.6, 1.6, 2.3, 2.3, 2.4, 2.4]


def flat_tables(rng):
    for c in (0.01, 0.02, 0.05, 0.1, 0.2):  # one alpha, several c
        yield 0.7, c, FLAT
    for _ in range(5):
        yield share(rng, 0.5), share(rng, 0.01, 0.2), FLAT


@best_k.group("the best K where v is 1", cases=flat_tables)
def test_best_k_flat_tables(student, solution, args):
    best_k.assert_same(student, solution, args, hint="Compare every K by walltime_speedup.")


def measured_tables(rng):
    yield 0.9, 0.05, JUMPS  # the first top is not the highest
    yield 0.85, 0.04, [1.0, 2.0, 2.0, 2.1, 2.1, 2.1]  # K = 1 does not pay, and others do
    for _ in range(5):
        table = 1 + rng.choice([0.0, 0.02, 0.1, 0.5], 12).cumsum()
        yield share(rng, 0.7), share(rng, 0.01, 0.1), [1.0, *table.round(2).tolist()]


@best_k.group("the best K with a measured v", weight=2, cases=measured_tables)
def test_best_k_measured_tables(student, solution, args):
    hint = "v[K] is the cost of verification with K draft tokens, and it may jump."
    best_k.assert_same(student, solution, args, hint)


def none_pays(rng):
    for alpha, c in ((0.05, 0.3), (0.0, 0.1), (0.3, 0.31), (0.3, 0.29), (0.9, 0.95), (0.5, 1.2)):
        yield alpha, c, FLAT
    yield 0.5, 0.1, [1.0, 1.5, 2.0, 2.5]  # a further token of a pass costs too much


@best_k.group("0 where no K pays", cases=none_pays)
def test_best_k_none_pays(student, solution, args):
    hint = "Plain decoding is K = 0 with a speed-up of 1."
    best_k.assert_same(student, solution, args, hint)


def whole_table(rng):
    for alpha, c, length in ((0.5, 0.0, 11), (0.0, 0.0, 6), (0.9, 0.01, 2), (1.0, 0.1, 21)):
        yield alpha, c, FLAT[:length]
    yield share(rng, 0.9, 0.99), 0.01, FLAT[:11]
    for length in (1, 4, 5, 21):  # without a draft, below the best K, up to it, above
        yield 0.7, 0.1, FLAT[:length]


@best_k.group("c = 0, and the ends of the table; a whole number", cases=whole_table)
def test_best_k_whole_table(student, solution, args):
    best_k.assert_same(student, solution, args, hint=ALL_OF_THEM, form=True)


prompt_lookup = Exercise("prompt_lookup")

FOLLOWED = "Take the longest suffix that occurs earlier, at its latest place; [] if none does."


def latest(rng):
    yield [4, 5, 6, 9, 5, 6], 3
    yield [1, 2, 7, 1, 2, 8, 1, 2, 9, 1, 2], 1
    for _ in range(4):  # three occurrences of one token, with others behind them
        a, *behind = rng.permutation(10).tolist()
        yield [a, behind[0], a, behind[1], a, behind[2], a], 2


@prompt_lookup.group("what followed the latest earlier occurrence", cases=latest)
def test_prompt_lookup_latest(student, solution, args):
    prompt_lookup.assert_same(student, solution, args, hint=FOLLOWED)


def longest(rng):
    for size in (1, 2, 3, 4, 10):  # a shorter suffix stands later than a longer one
        a, b, c, d, *behind = rng.permutation(10).tolist()
        text = [a, b, c, d, behind[0], b, c, d, behind[1], c, d, behind[2], d, behind[3]]
        yield [*text, a, b, c, d], 1, size
    yield [5, 6, 9, 4, 6], 2, 3  # only the suffix of one token is found


@prompt_lookup.group("the longest suffix first", cases=longest)
def test_prompt_lookup_longest(student, solution, args):
    prompt_lookup.assert_same(student, solution, args, hint="From max_ngram tokens down to 1.")


def following(rng):
    yield [7, 7, 7, 7, 7, 7], 3
    a, b, c, d = rng.permutation(10)[:4].tolist()
    yield [a, b, a, b, a, b], 4
    yield [a, b, a], 8
    yield [a, b, a, c, c, c, a, d, a], 3  # the latest of several has fewer than k behind it
    for k in (2, 4, 50):
        yield [a, c, b, c, d, 11, 12, 13, a, c, b], k


@prompt_lookup.group("up to k tokens, overlapping the suffix or not", cases=following)
def test_prompt_lookup_following(student, solution, args):
    hint = "The latest occurrence counts, also where it overlaps the suffix or few tokens follow."
    prompt_lookup.assert_same(student, solution, args, hint)


def nothing(rng):
    yield from (([1, 2, 3], 2), ([], 3), ([4], 3), ([9, 9, 8], 3), ([12, 5, 2], 1))
    yield [1, 2, 1, 2], 0
    yield [1, 2, 1, 2], 1  # there is something in this one


@prompt_lookup.group("nothing to be found; a list", cases=nothing)
def test_prompt_lookup_nothing(student, solution, args):
    prompt_lookup.assert_same(student, solution, args, hint=FOLLOWED, form=True)


def expect_number(*call: Any, gives: torch.Tensor, **how: Any) -> None:
    """A loss is compared as its card says: to 1e-6, and not by its dtype."""
    expect_loss(*call, gives=float(gives), **how)


distillation_loss = Exercise("distillation_loss", expect_number)

LOG_P = torch.tensor([[-0.8, -1.2, -1.9, -2.3]], dtype=torch.float64)
LOG_Q = torch.tensor([[-1.2, -0.8, -1.6, -3.0]], dtype=torch.float64)


def logits(rng: np.random.Generator, *shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits of a target and of a draft in quarters, which bfloat16 holds exactly."""
    return tuple(torch.from_numpy(rng.integers(-10, 11, shape) / 4) for _ in range(2))


def one_position(rng):
    yield LOG_P, LOG_Q
    yield LOG_P + 2.5, LOG_Q - 4.0  # shifted
    yield torch.zeros(1, 4), torch.ones(1, 4)  # equal, without rounding
    yield torch.tensor([[40.0, 0.0, 0.0]]), torch.tensor([[0.0, 40.0, 0.0]])  # nothing is shared
    yield logits(rng, 1, 5)


@distillation_loss.group("the share of draft tokens that is rejected", cases=one_position)
def test_distillation_loss_one_position(student, solution, args):
    hint = "Softmax over the last axis, the vocabulary; then 1 minus the sum of min(p, q)."
    distillation_loss.assert_same(student, solution, args, hint)


def positions(rng):
    for shape in ((2, 3), (3, 3), (1, 4, 3), (2, 2, 3), (3, 2, 4), (4, 7)):
        p, q = logits(rng, *shape)
        yield p, q
        yield p.float(), q.float()


@distillation_loss.group("the mean over all positions, whatever the shape", cases=positions)
def test_distillation_loss_positions(student, solution, args):
    hint = "The vocabulary is the last axis, all others are positions."
    distillation_loss.assert_same(student, solution, args, hint)


CUT_OFF = "the value is right, so the loss is."
NARROW = "the dtype of the logits is good enough."


def given_loss(student, p: torch.Tensor, q: torch.Tensor, dtype: str, form: bool = False) -> tuple:
    """The notebook's `loss_and_gradient` on the student's function: (value, gradient)."""
    value = student.distillation_loss(p, q)  # unwritten, wrong and odd ones end here
    if not form and is_tensor(value) and value.numel() == 1:
        value = value.reshape(())
    if remark := loss_flaw(value):
        raise Different(f"distillation_loss returned {describe(value)} ({remark}).")
    student.calls, before = [], student.calls
    try:
        return student.loss_and_gradient(p, q, dtype)
    except Exception as error:
        # NumPy has no bfloat16, and logits that no gradient reaches have None.
        if is_cut(error) or "ScalarType" in str(error) or "NoneType" in str(error):
            raise with_cause(Different(NO_GRAD), CUT_OFF) from None
        raise
    finally:
        student.calls = before


@distillation_loss.group("a gradient reaches the draft's logits")
def test_distillation_loss_gradient_arrives(student, rng):
    for p, q in ((LOG_P, LOG_Q), logits(rng, 3, 4), logits(rng, 2, 2, 3)):
        q = 1.2 * q  # no p equals its q: the loss has no gradient there
        _, gradient = given_loss(student, p, q, "float64", form=True)
        expect_gradient(gradient.numpy(), p.numpy(), q.numpy())
        untouched(student)


@distillation_loss.group("float32 or better for narrow logits")
def test_distillation_loss_narrow_logits(student, solution, rng):
    for shape in ((6, 8), (2, 5, 16), (3, 300)):
        p, q = logits(rng, *shape)
        right = float(solution.distillation_loss(p, q))
        wide, (narrow, _) = student.distillation_loss(p, q), given_loss(student, p, q, "bfloat16")
        if not abs(narrow - right) <= 1e-6:
            came, wanted = distinct_texts(narrow, right)
            call = f"with bfloat16 logits {shape} distillation_loss"
            message = f"{call} returned {came}, not {wanted}."
            by_rounding = abs(float(wide) - right) <= 1e-6
            raise with_cause(Different(message), NARROW) if by_rounding else Different(message)
