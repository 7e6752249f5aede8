"""Chapter 02, rejection sampling: its examples and the visible checks on them."""

from collections.abc import Callable

from specdec_lib.lessons.common.answers import answering, committed, revealing, truths_of
from specdec_lib.lessons.common.examples import expect, visible_check
from specdec_lib.lessons.common.kinds import array
from specdec_lib.lessons.common.lending import fixed, handed_out

__all__ = ["committed"]

# The pair that the whole chapter works on.
P = fixed([0.45, 0.30, 0.15, 0.10])
Q = fixed([0.30, 0.45, 0.20, 0.05])

# The true values that predictions.toml does not hold.
TRUTHS = truths_of(__package__, prediction_02_b=float(sum(map(min, P, Q))))

# Three drafted tokens of a vocabulary of four. The first has a ratio of 0.5/0.4, the second of
# 0.1/0.5, the third of 0.6/0.3.
_BLOCK = [3, 1, 2]
__getattr__ = handed_out(BLOCK=_BLOCK)
BLOCK_P = fixed([[0.2, 0.2, 0.1, 0.5], [0.3, 0.1, 0.3, 0.3], [0.1, 0.1, 0.6, 0.2]])
BLOCK_Q = fixed([[0.2, 0.2, 0.2, 0.4], [0.2, 0.5, 0.2, 0.1], [0.3, 0.2, 0.3, 0.2]])
BLOCK_R = fixed([0.7, 0.6, 0.1])

answered = answering(__package__)
reveal = revealing(TRUTHS)


@visible_check
def check_acceptance_probability(function: Callable) -> None:
    """Two ratios below one, one above, the three zeros, and one of tiny probabilities."""
    over = "Is it the target over the draft?"
    expect(function, P, Q, 1, gives=0.3 / 0.45, asks=[(1.0, over), (1.5, over)])
    expect(function, P, Q, 2, gives=0.75)
    expect(function, P, Q, 0, gives=1.0, hint="A probability is at most 1.")
    never, impossible = array([0.0, 1.0, 0.0]), array([1.0, 0.0, 0.0])
    expect(function, never, impossible, 0, gives=0.0, hint="What if the target gives it nothing?")
    expect(function, impossible, never, 0, gives=1.0, hint="What if the draft gives it nothing?")
    hint = "Neither gives it anything: what the target never writes is not accepted."
    expect(function, never, impossible, 2, gives=0.0, hint=hint)
    p, q = (array([2.0**-n, 1 - 2.0**-n]) for n in (40, 38))
    hint = "Tiny is not zero: nothing may be added to p or q."
    expect(function, p, q, 0, gives=0.25, hint=hint)


@visible_check
def check_speculative_accept(function: Callable) -> None:
    """The block of the card, with coins that reject its second token, none, the first; a zero."""
    p, q, r = BLOCK_P, BLOCK_Q, BLOCK_R
    hint = "Ratios 1.25, 0.2, 2; coins 0.7, 0.6, 0.1."
    asks = (
        ([3, 2], "Did you go on after the first rejection?"),
        ([], "The first coin is below its ratio: does that accept the token?"),
        ([3, 1], "Token 1 is rejected: does it stay?"),
        ([3, 1, 2], "The second coin is above its ratio, p over q: does that reject the token?"),
    )
    expect(function, _BLOCK, p, q, r, gives=[3], hint=hint, asks=asks)
    hint = "Ratios 1.25, 0.2, 2; coins 0.7, 0.15, 0.1. Below q a small enough coin accepts, too."
    expect(function, _BLOCK, p, q, array([0.7, 0.15, 0.1]), gives=[3, 1, 2], hint=hint)
    hint = "Ratios 0.2, 2; coins 0.6, 0.1. If the first token is rejected, nothing is accepted."
    expect(function, _BLOCK[1:], p[1:], q[1:], r[1:], gives=[], hint=hint)
    p, q = array([[0.0, 0.5, 0.5], [0.5, 0.5, 0.0]]), array([[0.5, 0.25, 0.25], [0.5, 0.0, 0.5]])
    hint = "A coin may be 0 exactly, and what the target never writes is not accepted even then."
    expect(function, [0, 0], p, q, array([0.0, 0.5]), gives=[], hint=hint)
    hint = "Token 1 of row 1 has q = 0: its ratio has no upper end, so it is accepted."
    expect(function, [1], p[1:], q[1:], array([0.9]), gives=[1], hint=hint)


@visible_check
def check_residual_distribution(function: Callable) -> None:
    """The chapter's pair, the pair the other way round, equal and nearly equal distributions."""
    rarely, other = "Which tokens has the draft proposed too rarely?", array([0.0, 0.75, 0.25, 0.0])
    asks = (
        (array([0.15, 0.0, 0.0, 0.05]), "It sums to 0.2. Did you divide by the mass that is left?"),
        (array([0.375, 0.375, 0.125, 0.125]), rarely),
        (other, rarely),
    )
    expect(function, P, Q, gives=array([0.75, 0.0, 0.0, 0.25]), asks=asks)
    expect(function, Q, P, gives=other)
    expect(function, P, P, gives=P, hint="If no mass is left, return a copy of p.")
    nearly, half = array([0.5 + 2**-20, 0.5 - 2**-20]), array([0.5, 0.5])
    hint = "Nearly equal is not equal: a little mass is missing, and all of it from token 0."
    expect(function, nearly, half, gives=array([1.0, 0.0]), hint=hint)


@visible_check
def check_correct_token(function: Callable) -> None:
    """Token 1 of the pair, ratio 2/3, kept by a small coin, replaced after a large one; a zero."""
    asks = [((0, False), "Is r the coin, and u what the residual is drawn with?")]
    hint = "Its ratio is 2/3, and a coin of 0.6 accepts it."
    expect(function, P, Q, 1, 0.6, 0.9, gives=(1, True), hint=hint, asks=asks)
    hint = "A coin of 0.7 rejects it: then comes a token of the residual, [0.75, 0, 0, 0.25]."
    expect(function, P, Q, 1, 0.7, 0.1, gives=(0, False), hint=hint)
    expect(function, P, Q, 1, 0.7, 0.8, gives=(3, False), hint=hint)
    never, half = array([0.0, 0.5, 0.5]), array([0.5, 0.5, 0.0])
    hint = "p is 0 on token 0, and a coin may be 0 exactly: it is replaced even then."
    expect(function, never, half, 0, 0.0, 0.9, gives=(2, False), hint=hint)


@visible_check
def check_speculative_step(function: Callable) -> None:
    """Blocks stopped in the middle and at once, a block accepted whole, and an empty block."""
    p, q = array([P, Q, [0.1, 0.2, 0.3, 0.4]]), array([Q, P])
    hint = "Is speculative_accept right? Then: the residual of the row that was rejected."
    expect(function, [0, 0], p, q, array([0.5, 0.9]), 0.9, gives=[0, 2], hint=hint)
    hint = "The first token is rejected: one token takes its place, and the step is over."
    expect(function, [1, 0], p, q, array([0.9, 0.1]), 0.8, gives=[3], hint=hint)
    hint = "Is speculative_accept right? Then: all accepted, so u draws from the last row of p."
    expect(function, [0, 1], p, q, array([0.5, 0.5]), 0.5, gives=[0, 1, 2], hint=hint)
    hint = "With no draft tokens the bonus token is all there is."
    expect(function, [], p[:1], q[:0], array([]), 0.5, gives=[1], hint=hint)
