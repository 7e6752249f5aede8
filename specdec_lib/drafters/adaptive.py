"""How many tokens to draft: a fixed number, or the one that the measured costs make best.

The choice may depend on everything before the block and stays exact: whatever k is, the tokens of
a block have the target's distribution, given what stands before it.
"""

from collections.abc import Sequence

from specdec_lib.theory import Costs, acceptance_from_counts


class Fixed:
    """The same `k` for every block. Raises ValueError below 1."""

    def __init__(self, k: int) -> None:
        if k < 1:
            raise ValueError(f"k is {k}; a block drafts at least 1 token (plain decoding drafts 0)")
        self.k = self.most = k

    def record(self, counts: Sequence[tuple[int, int]]) -> None:
        """Nothing is learned."""


class MeasuredCost:
    """The k of the largest expected speedup, with alpha as seen so far and the measured costs.

    Alpha starts at `alpha`, weighted as `trust` judged tokens; ValueError if that is not above
    0. One k serves all rows of a batch. If no k pays it is 0, and stays: nothing is judged then.
    """

    def __init__(self, costs: Costs, alpha: float = 0.6, trust: float = 20) -> None:
        if not trust > 0:
            raise ValueError(f"trust is {trust}; it must be above 0, since alpha is divided by it")
        self.costs = costs
        self.accepted, self.judged = alpha * trust, float(trust)
        self.most = max(costs.v) - 1
        self.k = costs.best_k(alpha)

    def record(self, counts: Sequence[tuple[int, int]]) -> None:
        """Count the block, and choose k for the next."""
        accepted, judged = acceptance_from_counts(counts)
        self.accepted += accepted
        self.judged += judged
        self.k = self.costs.best_k(self.accepted / self.judged)
