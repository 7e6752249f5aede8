"""The verification budget of chapter 06: which of the drafted tokens a pass should check.

Every row of a full server has drafted, and the draft says how sure it is of each token. A pass over
fewer tokens is shorter, so tokens that hardly ever survive are better left out.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from specdec_lib.lessons.ch06.service import GPU, pass_seconds

N_STEPS, _ROWS, N_DRAFTED = 100, 8, 6

# From the confidences of a step, `[i][j]` the probability that token j of row i passes if all
# before it did, how many tokens of each row are checked.
Spend = Callable[[list[list[float]]], Sequence[int]]


@cache
def confidences() -> list[list[list[float]]]:
    """The confidences of steps whose rows are easy or hard, the same each time."""
    rng = np.random.default_rng(8)
    mean = rng.choice([0.85, 0.5], (N_STEPS, _ROWS, 1))
    return (mean + rng.uniform(-0.15, 0.15, (N_STEPS, _ROWS, N_DRAFTED))).round(3).tolist()


@cache
def pass_ms() -> list[float]:
    """ms of a pass over 0, 1, 2, ... tokens in all, on the small GPU of the service."""
    return [1000 * float(pass_seconds(n, GPU)) for n in range(_ROWS * (N_DRAFTED + 1) + 1)]


def tokens_a_ms(spend: Spend) -> float:
    """Expected tokens of all steps over their time, if a pass checks `spend(step)` of each row."""
    tokens = time = 0.0
    for step in confidences():
        checked = spend(step)
        survival = np.cumprod(step, axis=1)
        tokens += _ROWS + sum(row[:n].sum() for row, n in zip(survival, checked, strict=True))
        time += pass_ms()[_ROWS + sum(checked)]
    return float(tokens / time)


def same_of_all(k: int) -> Spend:
    """Check the first k tokens of every row."""
    return lambda step: [k] * _ROWS
