"""Distributions for the hidden tests: random ones to ask with, and exact ones of what comes back.

Nothing is sampled to judge a function. A sampling function is piecewise constant in its uniforms.
Between two neighbouring cuts its value is taken at the midpoint and weighs as much as the interval
is long.
"""

from collections.abc import Iterator

import numpy as np

LARGEST = float(np.nextafter(1, 0))  # the largest uniform number there is


def ratio(p: np.ndarray, q: np.ndarray, token: int) -> float:
    """The probability min(1, p/q) with which a draft token stays; 0 if p is 0. (V,) each."""
    if p[token] >= q[token]:
        return float(p[token] > 0)
    return float(p[token] / q[token])


def pair(size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two random distributions (V,), a target's and a draft's (see `thousandths`)."""
    return thousandths(size, rng), thousandths(size, rng)


def thousandths(size: int, rng: np.random.Generator) -> np.ndarray:
    """A random distribution (V,) of whole thousandths above 0, which a student can read."""
    parts = 1 + np.floor((1000 - size) * rng.dirichlet(np.ones(size)))
    parts[np.argmax(parts)] += 1000 - parts.sum()
    return parts / 1000


def hundredths(low: int, high: int, rng: np.random.Generator) -> float:
    """A number of two digits, from `low` to `high` hundredths."""
    return int(rng.integers(low, high + 1)) / 100


def pieces(cuts: np.ndarray) -> Iterator[tuple[float, float]]:
    """(midpoint, length) of every interval that `cuts` leave of [0, 1); no midpoint is 1."""
    edges = np.unique(np.clip(np.concatenate([[0.0], cuts, [1.0]]), 0, 1))
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        if high > low:
            yield min(float((low + high) / 2), LARGEST), float(high - low)
