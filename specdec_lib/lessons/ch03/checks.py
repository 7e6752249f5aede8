"""Chapter 03, lossless: its examples and the visible checks on them."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch02.checks import P, Q
from specdec_lib.lessons.ch03 import forgery, rules
from specdec_lib.lessons.ch03.computed import mixed_up, noise
from specdec_lib.lessons.ch03.forgery import GRID_P, GRID_Q
from specdec_lib.lessons.common.answers import answering, committed, revealing, truths_of
from specdec_lib.lessons.common.distributions import softmax, total_variation
from specdec_lib.lessons.common.examples import (
    Different,
    expect,
    expect_value_error,
    visible_check,
)
from specdec_lib.lessons.common.lending import fixed
from specdec_lib.lessons.common.wording import TOKENS

__all__ = ["P", "Q", "committed"]

# Two tokens, for everything that can be done in one's head.
COINS = fixed([0.5, 0.5]), fixed([0.6, 0.4])
APART = fixed([1.0, 0.0]), fixed([0.0, 1.0])
# Target and draft for the argmax draft: the coins, a report of the bug, and chapter 02's pair.
ARGMAX_PAIRS = (COINS, (fixed([0.6, 0.4]), fixed([0.8, 0.2])), (P, Q))

# Two tokens again, for the search over rules.
RULE_PAIRS = (COINS, (fixed([0.3, 0.7]), fixed([0.6, 0.4])), (fixed([0.8, 0.2]), fixed([0.5, 0.5])))

# Logits of five tokens, whose softmax is about 0.52, 0.31, 0.12, 0.05, 0.01.
LOGITS = fixed([2.0, 1.5, 0.5, -0.4, -2.0])
# Two flat models of eight tokens: a filter takes much away from them.
FLAT_TARGET = fixed([1.6, 1.0, 0.7, 0.4, 0.3, -0.1, -0.2, -0.8])
FLAT_DRAFT = fixed([1.0, 1.1, 0.8, 0.4, 0.2, 0.1, -0.2, -0.4])

# As on GRID_P and GRID_Q, ratios and residuals are multiples of 1/64; the draft is nearly right.
QUIET_P = fixed([0.5, 0.25, 0.21875, 0.03125])
QUIET_Q = fixed([0.46875, 0.25, 0.21875, 0.0625])

# Two models that look at one token only: row t follows token t, the last row the empty text.
TARGET = fixed([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.4, 0.4, 0.2]])
DRAFT = fixed([[0.3, 0.3, 0.4], [0.4, 0.2, 0.4], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]])

# The true values that predictions.toml does not hold.
TRUTHS = truths_of(
    __package__,
    prediction_03=0.2 * (noise(P, 200_000) / 1e-4) ** 2,
    prediction_03_b=float(COINS[0][0] / COINS[1][0]),
)

answered = answering(__package__)
reveal = revealing(TRUTHS)


@visible_check
def check_total_variation(function: Callable) -> None:
    """Two coins, the chapter's pair, equal and disjoint distributions."""
    expect(function, *COINS, gives=0.1, hint="The best question asks for token 1.")
    expect(function, P, Q, gives=0.2, hint="The best question asks for two tokens, A and D.")
    expect(function, P, P, gives=0.0, hint="Equal distributions are 0 apart.")
    expect(function, *APART, gives=1.0, hint="Distributions that share nothing are 1 apart.")


@visible_check
def check_acceptance_rate(function: Callable) -> None:
    """Two coins, the chapter's pair, equal and disjoint distributions."""
    expect(function, *COINS, gives=0.9, hint="Sum what both share, token by token.")
    expect(function, P, Q, gives=0.8, hint="Sum what both share, token by token.")
    expect(function, Q, Q, gives=1.0, hint="Equal distributions share everything.")
    expect(function, *APART, gives=0.0, hint="They share nothing.")


@visible_check
def check_two_paths(function: Callable) -> None:
    """The chapter's pair, also the other way round, equal distributions, and a token of neither."""
    gives = np.array([0.30, 0.30, 0.15, 0.05]), np.array([0.15, 0.0, 0.0, 0.05])
    expect(function, P, Q, gives=gives, hint="Token A: 0.30 by acceptance, 0.15 by correction.")
    gives = np.array([0.30, 0.30, 0.15, 0.05]), np.array([0.0, 0.15, 0.05, 0.0])
    expect(function, Q, P, gives=gives, hint="The second mass is what p has beyond q.")
    hint = "Nothing is rejected, so nothing is corrected."
    expect(function, P, P, gives=(P, np.zeros(4)), hint=hint)
    rare = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.75, 0.0])
    gives = np.array([0.25, 0.5, 0.0]), np.array([0.25, 0.0, 0.0])
    expect(function, *rare, gives=gives, hint="Token 2 is 0 in p and in q.")


def expect_law(function: Callable, *args: object, gives: np.ndarray, hint: str) -> None:
    """`expect` for distributions (..., V): of one that does not sum to 1 its sum is the hint."""
    try:
        expect(function, *args, gives=gives, hint=hint)
    except Different as wrong:
        sums = np.ravel(np.sum(function(*args), axis=-1)) if wrong.hint else np.ones(1)
        off = [f"{total:.3g}" for total in sums if not abs(total - 1) < 1e-6]
        one = "It" if len(sums) == 1 else "A row"
        said = f"{one} sums to {off[0]}, and not to 1." if off else wrong.hint
        raise Different(wrong.seen, said) from None


@visible_check
def check_argmax_draft_law(function: Callable) -> None:
    """Two coins, drafts that are too modest, the chapter's pair, equal models, and a tie."""
    hint = "Token 0 is drafted every time and stays with 5/6; the residual is [0, 1]."
    expect_law(function, *COINS, gives=np.array([5 / 6, 1 / 6]), hint=hint)
    modest = np.array([0.6, 0.4]), np.array([0.55, 0.45])
    hint = "p/q is above 1 on the drafted token, so it is always accepted."
    expect(function, *modest, gives=np.array([1.0, 0.0]), hint=hint)
    gives = np.array([0.25, 2 / 3, 0.0, 1 / 12])
    expect(function, P, Q, gives=gives, hint="Token B is drafted every time, and its ratio is 2/3.")
    gives = np.array([1.0, 0.0, 0.0, 0.0])
    expect(function, P, P, gives=gives, hint="The ratio is 1, and the residual is empty.")
    tie = np.array([0.2, 0.8]), np.array([0.5, 0.5])
    hint = "Two entries of q are the largest: the draft token is the first, and its ratio is 0.4."
    expect(function, *tie, gives=np.array([0.4, 0.6]), hint=hint)


@visible_check
def check_warp(function: Callable) -> None:
    """Temperatures, each filter alone and two steps together; large logits and a wrong number."""
    logits = np.log([0.5, 0.25, 0.125, 0.125])
    expect(function, logits, gives=np.exp(logits), hint="Without any filter it is the softmax.")
    roots = np.sqrt(np.exp(logits))
    gives = roots / roots.sum()
    expect(function, logits, 2.0, gives=gives, hint="The temperature divides the logits.")
    hint = "Temperature 0 puts everything on the largest logit."
    first = np.array([1.0, 0.0, 0.0, 0.0])
    expect(function, logits, 0.0, gives=first, hint=hint)
    hint = "Of the largest logits the first gets everything at temperature 0."
    expect(function, np.array([1.0, 3.0, 3.0]), 0.0, gives=np.array([0.0, 1.0, 0.0]), hint=hint)
    gives = np.array([2 / 3, 1 / 3, 0.0, 0.0])
    expect_law(function, logits, 1.0, 2, gives=gives, hint="Top-k keeps the two largest logits.")
    hint = "Token 1 is kept: the mass before it is 0.5, below 0.6."
    expect(function, logits, 1.0, None, 0.6, gives=gives, hint=hint)
    hint = "Before token 2 stands 0.5, which is not below 0.5."
    even, gives = np.zeros(4), np.array([0.5, 0.5, 0.0, 0.0])
    expect(function, even, 1.0, None, 0.5, gives=gives, hint=hint)
    hint = "Tokens 2 and 3 both equal the third largest logit, so top_k = 3 keeps both."
    expect(function, logits, 1.0, 3, gives=np.exp(logits), hint=hint)
    hint = "Top-k leaves [2/3, 1/3]: before token 1 stands 2/3 then, which is not below 0.6."
    expect(function, logits, 1.0, 2, 0.6, gives=first, hint=hint)
    hint = "At temperature 0.5 token 0 has 0.73, and before token 1 stands more than 0.6."
    expect(function, logits, 0.5, None, 0.6, gives=first, hint=hint)
    hint = "exp(1000) is infinite: subtract the largest logit first."
    expect(function, np.array([1000.0, 1000.0]), gives=np.array([0.5, 0.5]), hint=hint)
    expect_value_error(function, logits, -1.0, why="a temperature below 0 has no meaning")


@visible_check
def check_is_lossless(function: Callable) -> None:
    """Three right rules and three wrong ones; the last of them is nearly right."""
    grid, quiet = (GRID_P, GRID_Q), (QUIET_P, QUIET_Q)
    for rule, pair, gives, hint in (
        (rules.right_rule, grid, True, "This is chapter 02's rule, and its law is p."),
        (rules.sampler_match, grid, True, "It draws from p, whatever the draft says: p comes out."),
        (rules.from_target, grid, False, "After a rejection it draws from p: some are paid twice."),
        (rules.one_coin, grid, False, "It uses r again for u, and here its law is not p."),
        (rules.published_rule, grid, True, "In the middle of a cell r is never equal to p/q."),
        (rules.coarse_coin, quiet, False, "It is off by a thousandth: all above 1e-12 counts."),
        (rules.right_rule, (P, Q, 60), True, "Here 60 squares along a side count exactly."),
    ):
        expect(function, rule, *pair, gives=gives, hint=hint)


@visible_check
def check_impostor(function: Callable) -> None:
    """Counted on GRID_P and GRID_Q, and sampled 200,000 times with seed 0."""
    found = forgery.examined(function)
    if fault := forgery.fault_of(found):
        raise Different(fault)
    for bias, earned in ((forgery.LEAST, 2), (forgery.LARGE, 3)):
        if said := forgery.short_of(found, bias):
            raise Different(f"{said} So far it earns {earned} of 4 points.")
    print(
        f"Counted: {found.counted:.5f} from p. {forgery.DRAWS:,} samples: {found.seen:.5f} from p, "
        f"and the alarm is at {forgery.ALARM:.5f}.\nThe sampling check passes your rule. Counting "
        "sees it."
    )


def rounding(vocab_size: int = 32_000, seed: int = 3) -> None:
    """Print how far rounding moves what comes out, on one random pair of `vocab_size` tokens."""
    import torch

    rng = np.random.default_rng(seed)
    target = 3 * rng.normal(size=vocab_size)
    draft = target + rng.normal(size=vocab_size)
    p, q = softmax(target), softmax(draft)
    p32, q32 = (softmax(logits.astype(np.float32)).astype(float) for logits in (target, draft))
    drawn = softmax(torch.tensor(draft).bfloat16().double().numpy())
    for what, *given in (
        ("rule and models in float32", p32, q32, q32 / q32.sum()),
        ("draft drawn in bfloat16, q handed over in float32", p, q, drawn),
        ("draft in bfloat16, and that q handed over", p, drawn, drawn),
    ):
        off = total_variation(mixed_up(*given)[0], p)
        print(f"{vocab_size} tokens, {what}: off by TV {off:.1e}")


def overflow(shift: float = 900.0) -> None:
    """Print the weights exp(logit) of two tokens, as they are and with the largest logit at 0."""
    logits = np.array([shift, shift - 1])
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(logits)
        print(f"logits {logits}: weights {weights}, softmax {weights / weights.sum()}")
    moved = np.exp(logits - logits.max())
    print(f"logits {logits - logits.max()}: weights {moved.round(3)}, ", end="")
    print(f"softmax {(moved / moved.sum()).round(3)}")


def look() -> None:
    """Print the numbers of "What you may read elsewhere", worked out."""
    written, _ = mixed_up(*COINS, np.array([1.0, 0.0]))
    _, rate = mixed_up(P, Q, np.eye(4)[np.argmax(Q)])
    plain, speculative = one_seed(P, Q, tokens=20)
    print(f"argmax draft: {np.round(written, 3)} comes out; on the pair {rate:.3f} is accepted")
    print(f"one seed, plain:       {plain}\none seed, speculative: {speculative}")


def one_seed(p: np.ndarray, q: np.ndarray, tokens: int, seed: int = 1) -> tuple[str, str]:
    """`tokens` letters by plain sampling of p, and by the rule with drafts from q, one seed each.

    The models look at no token before, so every position has the same p and q (V,).
    """
    plain, drafted = np.random.default_rng(seed), np.random.default_rng(seed)
    texts = plain.choice(len(p), tokens, p=p), drafted.choice(len(q), tokens, p=q)
    speculative = rules.right_rule(p, q, texts[1], drafted.random(tokens), drafted.random(tokens))
    return tuple("".join(TOKENS[t] for t in text) for text in (texts[0], speculative))
