"""How sure a rate is: its interval by resampling texts, and no more digits than that allows.

The positions of one text are not independent: what is easy to guess stands together. So whole texts
are drawn again, with replacement (the bootstrap; Efron and Tibshirani, 1993, chapter 13), and a
rate of many positions of few texts stays as unsure as it is.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

DRAWS, LEVEL = 2000, 0.95
LEAST = 2  # texts that can be resampled
MOST_DIGITS = 3


class Rate(NamedTuple):
    """A rate over `positions` positions, and its interval; None where there are too few texts."""

    value: float
    positions: int
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return shown(self.value, self.low, self.high)


def rate(sums: Sequence[float], positions: Sequence[int]) -> Rate:
    """The rate of `sums` over `positions`, text by text. ValueError without any position."""
    if not sum(positions):
        raise ValueError("no position was judged: give texts of at least one token")
    counted = np.array([sums, positions], float)
    value, total = float(counted[0].sum() / counted[1].sum()), int(sum(positions))
    if len(sums) < LEAST:
        return Rate(value, total)
    drawn = np.random.default_rng(0).integers(len(sums), size=(DRAWS, len(sums)))
    above, below = counted[:, drawn].sum(-1)
    rates = above[below > 0] / below[below > 0]
    low, high = np.quantile(rates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Rate(value, total, float(low), float(high))


def shown(value: float, low: float | None, high: float | None) -> str:
    """A rate with the half of its interval, such as "0.62 ± 0.02": one digit of that is kept.

    Without an interval one digit, with a question mark.
    """
    if low is None or high is None:
        return f"{value:.1f}?"
    half = max(value - low, high - value)
    digits = MOST_DIGITS if half <= 0 else -math.floor(math.log10(half))
    digits = min(max(digits, 1), MOST_DIGITS)
    return f"{value:.{digits}f} ± {half:.{digits}f}"
