"""Turning uniform numbers into tokens."""

import numpy as np


def sample_from(probs: np.ndarray, u: float) -> int:
    """The token that the uniform number `u` picks from `probs`, by the inverse CDF.

    It is the smallest index whose cumulative sum exceeds `u`, so an index of zero probability
    is never picked. Where rounding leaves the whole sum at or below `u`, it is the last index
    of positive probability. `probs` (V,) is used as it is, without renormalising; `u` is in
    [0, 1). Raises ValueError where `probs` holds no positive entry.
    """
    probs = np.asarray(probs, dtype=float)
    index = int(np.searchsorted(np.cumsum(probs), u, side="right"))
    if index < len(probs):
        return index
    possible = np.flatnonzero(probs > 0)
    if not len(possible):
        raise ValueError(f"sample_from: probs has no positive entry: {probs.tolist()}")
    return int(possible[-1])
