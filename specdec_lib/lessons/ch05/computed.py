"""What chapter 05 computes from printed rows and from patterns of acceptance."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_lib.theory import walltime_speedup

# How far a printed number may be from the one that was rounded.
RATE_EPS = 0.005  # alpha and c are printed with two places
SPEEDUP_EPS = 0.05  # speed-ups with one

# The same acceptances in three orders: a 1 is a position at which the draft is right.
PATTERN = 24  # positions
RIGHT = 18  # of them

# The clock of a machine that slows down by half, and the two ways to time twenty runs on it.
N_RUNS, DRIFT = 10, 0.5
GAIN = 1.25  # how many times as fast the speculative runs are


def rounding_interval(alpha: float, c: float, k: int) -> tuple[float, float]:
    """The speed-ups that fit a printed alpha and c (two places each) and one more printed place.

    The least and the largest value of Theorem 3.8 for alpha and c within 0.005, widened by the 0.05
    of a speed-up that is itself rounded to one place.
    """
    low = walltime_speedup(max(alpha - RATE_EPS, 0.0), c + RATE_EPS, k)
    high = walltime_speedup(min(alpha + RATE_EPS, 1.0), max(c - RATE_EPS, 0.0), k)
    return low - SPEEDUP_EPS, high + SPEEDUP_EPS


def setting_name(row: Any) -> str:
    """A row of Tables 2 and 4 in a few words."""
    return f"{row.task}, {row.draft}, T = {row.temperature}"


def needed_tokens(row: Any) -> tuple[float, float]:
    """The tokens per block that a row of Tables 2 and 4 needs at least, and their rounding.

    A block takes c K + 1 passes or longer, so its speed-up needs so many tokens.
    """
    tokens = row.measured * (row.c * row.k + 1)
    least = (row.measured - SPEEDUP_EPS) * ((row.c - RATE_EPS) * row.k + 1)
    return tokens, tokens - least


def most_tokens(alpha: float, k: int) -> float:
    """Tokens per block at most, in any order: a wrong position ends a block, and so does K + 1."""
    return 1 / max(1 - alpha, 1 / (k + 1))


def orderings() -> dict[str, list[int]]:
    """Three orders of RIGHT ones among PATTERN positions: spread evenly, by coins, in one run."""
    period = PATTERN // (PATTERN - RIGHT)
    even = [int(i % period != period - 1) for i in range(PATTERN)]
    coins = np.random.default_rng(7).permutation(even).tolist()
    return {"evenly": even, "by coins": coins, "in one run": sorted(even, reverse=True)}


def greedy_blocks(order: Sequence[int], k: int) -> list[list[str]]:
    """The blocks of a greedy decoder on a text where the draft is right at the ones of `order`.

    Each position is "accepted", "rejected" or, after k accepted ones, the "bonus".
    """
    blocks, i = [], 0
    while i < len(order):
        run = list(order[i : i + k])
        n = run.index(0) if 0 in run else len(run)
        end = [] if n == len(run) < k else ["rejected" if 0 in run else "bonus"]
        blocks.append((["accepted"] * n + end)[: len(order) - i])
        i += n + 1
    return blocks


def drifting_seconds(interleaved: bool) -> tuple[np.ndarray, np.ndarray]:
    """Seconds (N_RUNS,) of plain and of speculative runs on the clock that slows down.

    Interleaved: plain, speculative, plain, ...; otherwise all plain runs first. Of all 2 N_RUNS run
    t takes 1 + DRIFT t / (2 N_RUNS - 1) times as long as the first one would.
    """
    slower = 1 + DRIFT * np.arange(2 * N_RUNS) / (2 * N_RUNS - 1)
    plain, speculative = (slower[::2], slower[1::2]) if interleaved else np.split(slower, 2)
    return plain, speculative / GAIN
