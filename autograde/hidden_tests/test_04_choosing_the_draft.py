"""Hidden tests of chapter 04: test groups and known bugs; see autograde/hidden/exercise.py."""

from typing import Any

import numpy as np
import torch

from autograde.hidden.exercise import untouched, with_cause
from autograde.hidden_tests.common import Exercise, prediction, quiz
from autograde.hidden_tests.distributions import share
from specdec_lib.lessons.ch04.lesson import CUT, expect_gradient, expect_loss, is_cut, not_a_loss
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


expected_tokens = Exercise("expected_tokens")

POWERS = "Draft token i counts with alpha to the power i, and the target adds one token."


@expected_tokens.group("the powers of alpha, and the target's token", cases=means)
def test_expected_tokens_means(student, solution, args):
    expected_tokens.assert_same(student, solution, args, POWERS)


@expected_tokens.group("alpha 0 and 1, and k = 0; a number", cases=mean_ends)
def test_expected_tokens_ends(student, solution, args):
    expected_tokens.assert_same(student, solution, args, POWERS, form=True)


SUM = "sum(alpha**i for i in range(k + 1))"
for _zero in ("", " + 0.0"):  # without draft tokens, an int or a float
    expected_tokens.bug(
        (SUM, f"sum(alpha**i for i in range(1, k + 1)){_zero}"),
        think="a block writes its accepted tokens and no more.",
        because="the target's pass always adds one token, the correction or the bonus.",
    )
    expected_tokens.bug(
        (SUM, f"sum(alpha**i for i in range(k)){_zero}"),
        think="the sum has one power of alpha for each of the k draft tokens, from the power 0 on.",
        because="the power 0 is the target's own token, and the k draft tokens come on top.",
    )
expected_tokens.bug(
    (SUM, "k * alpha + 1.0"),
    think="each of the k draft tokens is accepted with alpha, so a block writes k alpha + 1.",
    because="later draft tokens count only where the earlier ones were accepted.",
)
expected_tokens.bug(
    (SUM, "(1 - alpha ** (k + 1)) / (1 - alpha)"),
    think="the closed form holds for every alpha.",
    because="at alpha = 1 it divides 0 by 0; k + 1 tokens come out there.",
)


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


walltime_speedup.bug(
    ("c * k", "c"),
    think="drafting a block takes c.",
    because="c is one draft step, and a block has k of them, one after the other.",
)
walltime_speedup.bug(
    ("verify_cost)", "1)"),
    think="a verification costs one pass, whatever was measured.",
    because="verify_cost is what the pass really takes, so it replaces the 1.",
)
walltime_speedup.bug(
    ("c * k", "c * (expected_tokens(alpha, k) - 1)"),
    think="only the accepted draft tokens are paid for.",
    because="all k were drafted, and a rejected one took as long as an accepted one.",
)
walltime_speedup.bug(
    (
        "expected_tokens(alpha, k) / (c * k + verify_cost)",
        "max(1.0, expected_tokens(alpha, k) / (c * k + verify_cost))",
    ),
    think="speculation can help and never hurts, so the least is 1.",
    because="quality is never hurt, time is: a block whose tokens are all rejected was paid for.",
)


best_k = Exercise("best_k")


def best_ones(rng):
    for c in (0.01, 0.02, 0.05, 0.1, 0.2):  # one alpha, several c
        yield 0.7, c, 20
    for _ in range(5):
        yield share(rng, 0.5), share(rng, 0.01, 0.2), 20


@best_k.group("the best K of the formula", weight=3, cases=best_ones)
def test_best_k_best_ones(student, solution, args):
    best_k.assert_same(student, solution, args, hint="Compare every K by walltime_speedup.")


def none_pays(rng):
    for alpha, c in ((0.05, 0.3), (0.0, 0.1), (0.3, 0.31), (0.3, 0.29), (0.9, 0.95), (0.5, 1.2)):
        yield alpha, c, 20


@best_k.group("0 where no K pays", cases=none_pays)
def test_best_k_none_pays(student, solution, args):
    hint = "Plain decoding is K = 0 with a speed-up of 1."
    best_k.assert_same(student, solution, args, hint)


def up_to_k_max(rng):
    yield 0.5, 0.0, 10
    yield 0.0, 0.0, 5
    yield 0.9, 0.01, 1
    yield 1.0, 0.1, 20
    yield share(rng, 0.9, 0.99), 0.01, 10
    for k_max in (3, 4, 20):  # below the best K, equal to it, above
        yield 0.7, 0.1, k_max


@best_k.group("c = 0, up to k_max, a whole number", cases=up_to_k_max)
def test_best_k_up_to_k_max(student, solution, args):
    best_k.assert_same(student, solution, args, hint="k_max may be the best K.", form=True)


SEARCH = "max(range(k_max + 1), key=lambda k: walltime_speedup(alpha, c, k))"
RULE = (
    "next((k for k in range(k_max) if not alpha ** (k + 1) > c * walltime_speedup(alpha, c, k)), "
    "k_max)"
)
best_k.bug(
    (SEARCH, "sum(alpha**k > c for k in range(1, k_max + 1))"),
    think="a draft token pays as long as it adds more than it costs.",
    because="it must yield more for its time than the block does already, not just alpha^k > c.",
)
best_k.bug(
    (SEARCH, "int(1 / (1 - alpha))"),
    (SEARCH, "min(k_max, int(1 / (1 - alpha))) if alpha < 1 else k_max"),
    (SEARCH, "min(k_max, round(1 / (1 - alpha))) if alpha < 1 else k_max"),
    think="the best K is 1/(1 - alpha), the tokens of a block without an end.",
    because="that does not ask what a draft token costs: the best K falls as c grows.",
)
best_k.bug(
    (SEARCH, "int(np.argmax([walltime_speedup(alpha, c, k) for k in range(1, k_max + 1)]))"),
    think="np.argmax gives the K.",
    because="it gives the place in a list, which is K only if the list begins with K = 0.",
)
best_k.bug(
    ("range(k_max + 1)", "range(1, k_max + 1)"),
    think="some K is always at least as good as none.",
    because="where alpha is not above c every K loses, and the answer is 0.",
)
best_k.bug(
    ("walltime_speedup(alpha, c, k))", "walltime_speedup(alpha, 0, k))"),
    think="the best K is the one that writes the most tokens per block.",
    because="a longer block takes longer too; what counts is tokens for the time.",
)
best_k.bug(
    (SEARCH, "max((k for k in range(k_max + 1) if walltime_speedup(alpha, c, k) > 1), default=0)"),
    think="the best K is the largest that is faster than plain decoding.",
    because="a smaller K may be faster still: the speed-up rises to a top and then falls.",
)
best_k.bug(
    (SEARCH, RULE.replace("k + 1", "k")),
    think="after K draft tokens the next one adds alpha^K.",
    because="it's token number K + 1, and adds alpha^(K + 1): your rule drafts one token too many.",
)
best_k.bug(
    (SEARCH, RULE.replace(" > c *", " / c >")),
    think="c is never 0, so both sides can be divided by it.",
    because="a draft may cost nothing. Compare alpha^(K + 1) with c times the speed-up instead.",
)


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
    yield from (([1, 2, 3], 2), ([], 3), ([4], 3), ([9, 9, 8], 3), ([1, 2, 1, 2], 0))
    yield [1, 2, 1, 2], 1  # there is something in this one


@prompt_lookup.group("nothing to be found; a list", cases=nothing)
def test_prompt_lookup_nothing(student, solution, args):
    prompt_lookup.assert_same(student, solution, args, hint=FOLLOWED, form=True)


prompt_lookup.bug(
    ("range(len(tokens) - size - 1, -1, -1)", "range(len(tokens) - size)"),
    think="the first occurrence in the text is as good as any.",
    because="the latest one is asked for: what was said last is closest to what is said now.",
)
prompt_lookup.bug(
    ("size - 1, -1", "size, -1"),
    think="the search may start at the suffix itself.",
    because="the suffix always equals itself, and nothing follows it.",
)
prompt_lookup.bug(
    ("(min(max_ngram, len(tokens) - 1), 0, -1)", "(1, min(max_ngram, len(tokens) - 1) + 1)"),
    think="a single token is enough to look for.",
    because="a longer suffix is surer of what follows, so the longest one that occurs is taken.",
)
prompt_lookup.bug(
    ("range(min(max_ngram, len(tokens) - 1), 0, -1)", "[max_ngram]"),
    think="a suffix has max_ngram tokens.",
    because="that is the most. If the long one is not found, a shorter one may be.",
)
prompt_lookup.bug(
    ("size - 1, -1, -1", "size - 1, 0, -1"),
    think="the search ends with range(..., 0, -1).",
    because="a range leaves out its end, here position 0, where an occurrence may stand.",
)
prompt_lookup.bug(
    ("len(tokens) - size - 1", "len(tokens) - 2 * size"),
    think="an occurrence must not overlap the suffix.",
    because="in a text that repeats itself the latest occurrence does, and it is a good one.",
)


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
    if remark := not_a_loss(value):
        raise Different(f"distillation_loss returned {describe(value)} ({remark}).")
    student.calls, before = [], student.calls
    try:
        return student.loss_and_gradient(p, q, dtype)
    except Exception as error:
        if is_cut(error) or "ScalarType" in str(error):  # NumPy has no bfloat16
            raise with_cause(Different(CUT), CUT_OFF) from None
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
            said = f"with bfloat16 logits {shape} distillation_loss returned {came}, not {wanted}."
            by_rounding = abs(float(wide) - right) <= 1e-6
            raise with_cause(Different(said), NARROW) if by_rounding else Different(said)


SHARED = "torch.minimum(p, q).sum(-1).mean()"
WHOLE = f"softmax(-1)\n    q = draft_logits.float().softmax(-1)\n    return 1 - {SHARED}"
AXIS = "that is the last one. Softmax goes over it, so that each row sums to 1."
for _loss in (f"1 - {SHARED}", "(p - q).abs().sum(-1).mean() / 2"):  # one only if rows sum to 1
    for _first, _think, _because in (
        ("softmax(0)", "the first axis of the logits is the vocabulary.", AXIS),
        ("softmax(1)", "the second axis of the logits is the vocabulary.", AXIS),
        ("clone()", "logits are probabilities.", "they may be negative: softmax first."),
    ):
        _code = f"{_first}\n    q = draft_logits.float().{_first}\n    return {_loss}"
        distillation_loss.bug((WHOLE, _code), think=_think, because=_because)

KL = (
    "distillation is the Kullback-Leibler divergence.",
    "that is another distance; the share of rejected tokens is the total variation.",
)
VOCABULARY = (
    "mean() over everything is the mean over positions.",
    "it divides by the size of the vocabulary as well: sum over the last axis first.",
)
SUMMED = (
    "the positions are added up.",
    "the mean over them is asked for: take the sum over the vocabulary alone.",
)
for _loss, (_think, _because) in {
    SHARED: ("the loss is alpha.", "training makes a loss smaller, and alpha should grow."),
    "(p * (p.log() - q.log())).sum(-1).mean()": KL,
    "(q * (q.log() - p.log())).sum(-1).mean()": KL,
    "torch.nn.functional.kl_div(q.log(), p, reduction='batchmean')": KL,
    "(p - q).abs().sum(-1).mean()": (
        "the sum of |p - q| is the total variation.",
        "it counts each moved bit of mass twice, where it is missing and where it is too much.",
    ),
    "(p - q).abs().mean() / 2": VOCABULARY,
    "(p - q).abs().mean()": VOCABULARY,
    "1 - torch.minimum(p, q).mean()": VOCABULARY,
    "(1 - torch.minimum(p, q).sum(-1)).sum()": SUMMED,
    "1 - torch.minimum(p, q).sum()": SUMMED,
}.items():
    distillation_loss.bug((f"1 - {SHARED}", _loss), think=_think, because=_because)
distillation_loss.bug(
    ("draft_logits.float()", "draft_logits.detach().float()"),
    think=CUT_OFF,
    because="training needs its gradient: item(), detach(), NumPy and a new tensor cut it off.",
)
distillation_loss.bug(
    (".float().softmax(-1)\n    q = draft_logits.float()", ".softmax(-1)\n    q = draft_logits"),
    think=NARROW,
    because="bfloat16 has three digits, and thousands of small probabilities are added up.",
)
