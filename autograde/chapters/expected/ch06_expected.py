"""What the hidden tests of chapter 06 expect, each by another way than the chapter's solution."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

ENOUGH = 0.85  # of the most tokens in a millisecond: the card asks this of one row alone


def accepted(alpha: float, r: Sequence[float]) -> int:
    """The draft tokens before the first coin that fails: how many coins all are below alpha."""
    return max(n for n in range(len(r) + 1) if all(coin < alpha for coin in r[:n]))


def decoded(
    alpha: float, c: float, k: int, n_tokens: int, coins: Sequence[float]
) -> tuple[int, int, float]:
    """(tokens, target_passes, time): block i takes the coins from number i k on.

    Raises ValueError if there are too few coins.
    """
    tokens = passes = 0
    while tokens < n_tokens:
        block = coins[passes * k : (passes + 1) * k]
        if len(block) < k:
            raise ValueError(f"{len(coins)} coins are too few for {n_tokens} tokens with k = {k}")
        tokens, passes = tokens + accepted(alpha, block) + 1, passes + 1
    return tokens, passes, passes + float(c) * passes * k


def quantile(laws: Sequence[Sequence[float]], weights: Sequence[float], share: float) -> int:
    """In exact fractions, from the largest number down, while enough requests are left below it."""
    kinds = [(_fraction(w), [*map(_fraction, law)]) for w, law in zip(weights, laws, strict=True)]
    n = max(map(len, laws)) - 1
    while sum(weight * sum(law[:n]) for weight, law in kinds) >= _fraction(share):
        n -= 1
    return n


def slowest(alpha: float, k: int, batch_size: int) -> float:
    """The mean of the smallest of batch_size blocks, from the distribution of one block."""
    reached = [alpha**n for n in range(k + 1)] + [0.0]
    at_least = [share**batch_size for share in reached]
    return float(sum((n + 1) * (at_least[n] - at_least[n + 1]) for n in range(k + 1)))


def worth_drafting(alpha: float, times: Sequence[float]) -> list[int]:
    """The lengths of a block that write ENOUGH tokens in a ms, from the ms of a step by K."""
    chances = alpha ** np.arange(len(times))
    rates = np.cumsum(chances) / np.asarray(times)
    return np.flatnonzero(rates >= ENOUGH * rates.max()).tolist()


def _fraction(x: float) -> Fraction:
    """A number as it is written in decimals."""
    return Fraction(str(float(x)))
