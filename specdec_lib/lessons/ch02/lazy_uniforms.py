"""Random numbers that are decided when they are compared, so that every branch can be followed.

A decoder only compares its uniform numbers, with a ratio or with cumulative probabilities. So a
tape (specdec_lib/exact.py) decides each comparison with its true probability, given what was
decided of the number before. What comes out is exact for right decoders and for wrong ones.
"""

import numpy as np

from specdec_lib import exact


class LazyUniform:
    """A uniform number between `ends`, [low, high], times `factor`."""

    def __init__(self, tape: exact.Tape, ends: list[float], factor: float = 1.0) -> None:
        self.tape, self.ends, self.factor = tape, ends, factor

    def is_below(self, border: float) -> bool:
        """Whether the number is below `border`: decided now, if it is not known yet."""
        (low, high), border = self.ends, float(border) / self.factor
        if border <= low or border >= high:
            return border >= high
        share = (border - low) / (high - low)
        below = self.tape.choose([share, 1 - share]) == 0
        self.ends[:] = (low, border) if below else (border, high)
        return below

    def __lt__(self, other: object) -> bool:
        return other is not self and self.is_below(other)

    def __gt__(self, other: object) -> bool:
        return other is not self and not self.is_below(other)

    # That a number equals a border has probability 0.
    __le__, __ge__ = __lt__, __gt__

    def __mul__(self, factor: float) -> "LazyUniform":
        return LazyUniform(self.tape, self.ends, self.factor * float(factor))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return "a random number, which this picture can only compare or multiply"


class LazyGenerator:
    """Gives such numbers where a decoder asks a NumPy generator for uniform ones."""

    def __init__(self, tape: exact.Tape) -> None:
        self.tape = tape

    def random(self, size: int | None = None) -> LazyUniform | np.ndarray:
        """One number, or an array (size,) of them."""
        if size is None:
            return LazyUniform(self.tape, [0.0, 1.0])
        return np.array([self.random() for _ in range(size)], dtype=object)
