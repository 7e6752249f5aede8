"""What the hidden tests of chapter 03 expect, each by another way than the chapter's solution."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from autograde.chapters.expected import rejection

CELLS = 64  # the squares along a side of the grid that is_lossless counts in


def variation(p: np.ndarray, q: np.ndarray) -> float:
    """The gap of the best question, which asks for all tokens that p (V,) has more of than q."""
    return math.fsum(a - b for a, b in zip(p, q, strict=True) if a > b)


def rate(p: np.ndarray, q: np.ndarray) -> float:
    """The share of tokens from q (V,) that is not moved: Leviathan et al., Corollary 3.6."""
    return 1 - variation(p, q)


def paths(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mass (V,) by acceptance, and the rejected share times the residual."""
    accepted = np.array([q[token] * rejection.ratio(p, q, token) for token in range(len(p))])
    return accepted, math.fsum(q - accepted) * rejection.residual(p, q)


def argmax_law(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The law (V,), token by token: one draft token, written itself or replaced."""
    drafted = max(range(len(q)), key=lambda token: (q[token], -token))
    stays = rejection.ratio(p, q, drafted)
    law = (1 - stays) * rejection.residual(p, q)
    law[drafted] += stays
    return law


def warped(
    logits: np.ndarray,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> np.ndarray:
    """The distribution (V,) that is sampled: each token is judged by those before it.

    A token passes top-k if fewer than k logits are larger, and top-p if the exact sum of the
    masses that rank before it is below top_p.
    """
    if temperature == 0:
        return np.eye(len(logits))[logits.tolist().index(max(logits))]
    left = [i for i, x in enumerate(logits) if sum(logits > x) < (top_k or len(logits))]
    mass = {i: Fraction(math.exp((logits[i] - max(logits)) / temperature)) for i in left}
    before = {i: sum(m for j, m in mass.items() if (-m, j) < (-mass[i], i)) for i in left}
    part = (math.inf if top_p is None else Fraction(top_p)) * sum(mass.values())
    kept = [i for i in left if before[i] == 0 or before[i] < part]
    law = np.zeros(len(logits))
    law[kept] = [float(mass[i] / sum(mass[j] for j in kept)) for i in kept]
    return law


def lossless(rule: Callable, p: np.ndarray, q: np.ndarray) -> bool:
    """Whether the law of `rule` is p (V,), in exact fractions.

    Raises ValueError if the rule decides inside a square of the grid: the pair does not fit then.
    """
    low, high = (_law(rule, p, q, place) for place in (0.1, 0.9))
    if low != high:
        raise ValueError(
            f"{rule.__name__} decides inside a square of the grid with p = {p.tolist()} and q = "
            f"{q.tolist()}; let ratios and cumulative sums be multiples of 1/{CELLS}"
        )
    return low == list(map(_fraction, p))


def _law(rule: Callable, p: np.ndarray, q: np.ndarray, place: float) -> list[Fraction]:
    """The mass of each token if each square is asked at `place` of its sides, from its corner."""
    axis = (np.arange(CELLS) + place) / CELLS
    r, u = (part.ravel() for part in np.meshgrid(axis, axis))
    law = [Fraction(0)] * len(p)
    for drafted in range(len(p)):
        squares = np.bincount(rule(p, q, np.full(r.size, drafted), r, u), minlength=len(p))
        share = _fraction(q[drafted]) / r.size
        law = [mass + share * int(count) for mass, count in zip(law, squares, strict=True)]
    return law


def _fraction(x: float) -> Fraction:
    """A number as it is written in decimals."""
    return Fraction(str(float(x)))
