"""The dtype, draft and K that are fastest, by the cost model E / (c K + v(K+1)) of theory.py."""

from collections.abc import Iterable
from typing import NamedTuple

import torch

from specdec_lib.theory import Costs


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


def fastest(choices: Iterable[Choice]) -> Choice:
    """The choice with the most tokens a second."""
    return max(choices, key=lambda choice: choice.tokens_per_second)
