"""Numbers in words, for the alternative texts of the figures."""

from collections.abc import Iterable

import numpy as np

TOKENS = "ABCDEFGH"  # the names of the tokens of a small vocabulary


def by_token(values: np.ndarray) -> str:
    """Values (V,) by the names of their tokens: "A 0.45, B 0.3"."""
    pairs = zip(TOKENS, np.asarray(values, dtype=float), strict=False)
    return ", ".join(f"{name} {value:.3g}" for name, value in pairs)


def listed(values: Iterable[float]) -> str:
    """Numbers in a row, to three digits."""
    return ", ".join(f"{value:.3g}" for value in values)
