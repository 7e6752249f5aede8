"""The dtype, draft and K that are fastest, by the cost model E / (c K + v(K+1)) of theory.py.

This is the one place where a CPU's dtype is chosen. The candidates are those of `models.dtypes`,
and what is held against each other is from `costs.costs_by_dtype`: bare passes of all candidates,
interleaved for at least SECONDS. With one candidate there is nothing to measure.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import torch

from specdec_lib.measure.core.costs import Measured
from specdec_lib.theory import Costs

SECONDS = 10.0  # that the passes of all candidates take, interleaved


class Choice(NamedTuple):
    """A dtype, a draft and a K, and what the cost model expects of them."""

    dtype: torch.dtype
    draft: str
    k: int
    speedup: float  # over plain decoding in the same dtype
    tokens_per_second: float


def best_k(dtype: torch.dtype, draft: str, alpha: float, costs: Costs, seconds: float) -> Choice:
    """The K of at least 1 that is fastest; a plain pass takes `seconds`."""
    k = max(range(1, max(costs.v)), key=lambda k: costs.speedup(alpha, k))
    speedup = costs.speedup(alpha, k)
    return Choice(dtype, draft, k, speedup, speedup / seconds)


def choices(measured: Mapping[torch.dtype, Measured], alphas: Mapping[str, float]) -> list[Choice]:
    """The best K of every draft in every dtype; `alphas` are by draft."""
    return [
        best_k(dtype, draft, alphas[draft], costs[draft], seconds)
        for dtype, (costs, seconds) in measured.items()
        for draft in costs
    ]


def fastest(choices: Iterable[Choice]) -> Choice:
    """The choice with the most tokens a second."""
    return max(choices, key=lambda choice: choice.tokens_per_second)


def fastest_plain(measured: Mapping[torch.dtype, Measured]) -> torch.dtype:
    """The dtype in which plain decoding is fastest."""
    return min(measured, key=lambda dtype: measured[dtype][1])
