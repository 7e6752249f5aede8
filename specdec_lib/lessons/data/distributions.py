"""What the chapters calculate with distributions (V,) again and again."""

from collections.abc import Iterator

import numpy as np

LARGEST_UNIFORM = float(np.nextafter(1, 0))  # the largest uniform number there is


def unit_intervals(cuts: np.ndarray) -> Iterator[tuple[float, float]]:
    """(midpoint, length) of every interval that `cuts` leave of [0, 1); no midpoint is 1."""
    edges = np.unique(np.clip(np.concatenate([[0.0], cuts, [1.0]]), 0, 1))
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        yield min(float((low + high) / 2), LARGEST_UNIFORM), float(high - low)


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Half the sum of all differences, of two arrays of one shape: 0 if equal, at most 1."""
    return float(np.abs(np.subtract(p, q)).sum() / 2)


def overlap(p: np.ndarray, q: np.ndarray) -> float:
    """The sum of min(p, q): the acceptance rate of the exact rule at one position."""
    return float(np.minimum(p, q).sum())


def normalised_residual(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """max(0, p - q), normalised; p if that is empty: Leviathan et al. (2023), section 2.3."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p.copy()
