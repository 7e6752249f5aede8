"""How sure a rate is: its interval by resampling texts.

The positions of one text are not independent: what is easy to guess stands together. So whole texts
are drawn again, with replacement (the bootstrap; Efron and Tibshirani, 1993, chapter 13), and a
rate of many positions of few texts stays as unsure as it is.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

DRAWS, LEVEL = 2000, 0.95
LEAST = 2  # texts that can be resampled


class Rate(NamedTuple):
    """A rate over `positions` positions, and its interval; None where there are too few texts."""

    value: float
    positions: int
    low: float | None = None
    high: float | None = None


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
