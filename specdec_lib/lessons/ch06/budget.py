"""The verification budget of chapter 06: which of the drafted tokens a pass should check.

Every row of a full server has drafted, and the draft says of each token how sure it is. A pass
over fewer tokens is shorter, so the tokens that are hardly ever accepted are better left out.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from specdec_lib.lessons.ch06.service import GPU, pass_seconds
from specdec_lib.lessons.common.describing import describe
from specdec_lib.lessons.common.lending import copied

ROWS, DRAFTED, STEPS = 8, 6, 400

# From the confidences of a step and the ms of a pass by its tokens, how many of each row's are
# checked.
Spend = Callable[[list[list[float]], list[float]], Sequence[int]]


class Step(NamedTuple):
    """What a step has to spend on, and what would come of it.

    `confidences[i][j]` is the probability that token j of row i passes if all before it did;
    `passed[i]` is how many of the row would pass.
    """

    confidences: list[list[float]]
    passed: list[int]


@cache
def steps() -> list[Step]:
    """Steps whose rows are easy or hard, the same each time."""
    rng, made = np.random.default_rng(8), []
    for _ in range(STEPS):
        rates = rng.choice([0.85, 0.5], (ROWS, 1)) + rng.uniform(-0.15, 0.15, (ROWS, DRAFTED))
        passed = (rng.random(rates.shape) < rates).cumprod(axis=1).sum(axis=1)
        made.append(Step(rates.round(2).tolist(), passed.tolist()))
    return made


@cache
def pass_ms() -> list[float]:
    """ms of a pass over 0, 1, 2, ... tokens in all, on the small GPU of the service."""
    return [1000 * pass_seconds(n, GPU) for n in range(ROWS * (DRAFTED + 1) + 1)]


def tokens_a_ms(spend: Callable[[Step], Sequence[int]]) -> float:
    """Tokens of all steps over their time, if a pass checks `spend(step)` tokens of each row."""
    wrote = time = 0.0
    for step in steps():
        checked = spend(step)
        wrote += sum(min(n, k) + 1 for n, k in zip(step.passed, checked, strict=True))
        time += pass_ms()[ROWS + sum(checked)]
    return wrote / time


def same_of_all(k: int) -> Callable[[Step], list[int]]:
    """Check the first k tokens of every row."""
    return lambda step: [k] * ROWS


def told(step: Step) -> list[int]:
    """What an oracle checks: tokens that pass, as many as are worth their time."""
    most = sum(step.passed)
    left = max(range(most + 1), key=lambda n: (ROWS + n) / pass_ms()[ROWS + n])
    checked = []
    for passed in step.passed:
        checked.append(min(passed, left))
        left -= checked[-1]
    return checked


def try_spend(spend: Spend) -> None:
    """Print the reader's tokens in a ms beside the same number for all rows and the oracle."""
    try:
        yours = tokens_a_ms(lambda step: _checked(spend, step))
    except Exception as error:  # whatever a half-written function does
        print(f"Your spend cannot be used yet: {error}")
        return
    same = {k: tokens_a_ms(same_of_all(k)) for k in range(DRAFTED + 1)}
    best = max(same, key=same.__getitem__)
    print(f"tokens in a millisecond: yours {yours:.2f}; no drafts {same[0]:.2f};")
    print(f"the first {best} of every row {same[best]:.2f}; the oracle {tokens_a_ms(told):.2f}")


def _checked(spend: Spend, step: Step) -> list[int]:
    """What the reader's function returns for a step. Raises ValueError if no pass can check it."""
    got = list(spend(copied(step.confidences), copied(pass_ms())))
    if len(got) != ROWS or not all(n in range(DRAFTED + 1) for n in got):
        wanted = f"{ROWS} whole numbers from 0 to {DRAFTED}"
        raise ValueError(f"it returned {describe(got)}, expected {wanted}")
    return [int(n) for n in got]
