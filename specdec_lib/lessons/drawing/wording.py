"""Numbers in words, for the alternative texts of the figures."""

from collections.abc import Iterable

import numpy as np

TOKEN_NAMES = "ABCDEFGH"  # the names of the tokens of a small vocabulary


def short_number(number: float) -> str:
    """A number with three digits, or as a whole number with commas: 0.123, 2,050."""
    return f"{number:,.0f}" if abs(number) >= 999.5 else f"{number:.3g}"


def by_token(values: np.ndarray) -> str:
    """Values (V,) by the names of their tokens: "A 0.45, B 0.3"."""
    pairs = zip(TOKEN_NAMES, np.asarray(values, dtype=float), strict=False)
    return ", ".join(f"{name} {short_number(value)}" for name, value in pairs)


def comma_list(values: Iterable[float]) -> str:
    """Numbers in a row."""
    return ", ".join(map(short_number, values))
