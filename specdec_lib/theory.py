"""The formulas of the papers, and the cost model with measured times.

`alpha` is the acceptance rate, constant over positions; `k` the number of draft tokens in a block;
`c` the time of a draft step and `v` that of a verification, in target passes over one token.
"""

from collections.abc import Mapping
from dataclasses import dataclass


def expected_tokens(alpha: float, k: int) -> float:
    """Tokens a block brings on average, its correction or bonus counted: 1 to k + 1.

    (1 - alpha^(k+1)) / (1 - alpha): Leviathan et al. (2023), Equation 1. As the sum of the powers
    it holds at alpha = 1 too.
    """
    return sum(alpha**i for i in range(k + 1))


def walltime_speedup(alpha: float, c: float, k: int, verify_cost: float = 1.0) -> float:
    """How many times faster than plain decoding: expected tokens over (c k + verify_cost).

    Leviathan et al. (2023), Theorem 3.8, if a verification costs one pass; `verify_cost` is
    v(k + 1) as measured.
    """
    return expected_tokens(alpha, k) / (c * k + verify_cost)


@dataclass(frozen=True)
class Costs:
    """Measured times: `c`, and `v[m]` of a target pass over m tokens, v[1] = 1."""

    c: float
    v: Mapping[int, float]

    @property
    def s(self) -> float:
        """The mean cost of a further token of a pass: v[m] is about 1 + s (m - 1); at least 0."""
        widest = max(self.v)
        return max(0.0, (self.v[widest] - 1) / (widest - 1))

    def speedup(self, alpha: float, k: int) -> float:
        """`walltime_speedup` with these times; v must hold k + 1."""
        return walltime_speedup(alpha, self.c, k, self.v[k + 1])

    def best_k(self, alpha: float) -> int:
        """The smallest k of the largest speedup; 0, plain decoding, if none is above 1."""
        return max(sorted(m - 1 for m in self.v), key=lambda k: self.speedup(alpha, k))
