"""What chapter 05 computes from the papers' rows and from patterns of acceptance.

Tables are lists of rows, {column: value}.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_lib.theory import Costs, expected_tokens, walltime_speedup

# How far a printed number may be from the one that was rounded.
HALF = 0.005  # alpha and c are printed with two places
TENTH = 0.05  # speed-ups with one

# A table that circulates: a draft's tokens a second, its acceptance rate and the speed-up that is
# promised for it, all of them beside a target with a pass of 10 ms. No source is given.
CIRCULATING = ((5000, 0.50, 1.8), (2000, 0.65, 2.3), (1000, 0.75, 2.5), (800, 0.80, 2.8))
FREE_CHECKS = dict.fromkeys(range(1, 42), 1.0)  # v = 1 up to K = 40

# The same acceptances in three orders: a 1 is a position at which the draft is right.
PATTERN = 24  # positions
RIGHT = 18  # of them

# The clock of a machine that slows down by half, and the two ways to time twenty runs on it.
RUNS = 10
DRIFT = 0.5
BASELINE_SECONDS, SPECULATIVE_SECONDS = 1.0, 0.8


def rounding_interval(alpha: float, c: float, k: int) -> tuple[float, float]:
    """The speed-ups that fit a printed alpha and c (two places each) and one more printed place.

    The least and the largest value of Theorem 3.8 for alpha and c within 0.005, widened by the 0.05
    of a speed-up that is itself rounded to one place.
    """
    low = walltime_speedup(max(alpha - HALF, 0.0), c + HALF, k)
    high = walltime_speedup(min(alpha + HALF, 1.0), max(c - HALF, 0.0), k)
    return low - TENTH, high + TENTH


def setting_name(row: Any) -> str:
    """A row of Tables 2 and 4 in a few words."""
    return f"{row.task}, {row.draft}, T = {row.temperature}"


def needed_cost(alpha: float, k: int, measured: float) -> float:
    """The c at which the formula gives `measured`; below 0 where no c does."""
    return (expected_tokens(alpha, k) / measured - 1) / k


def reading(row: Any) -> str:
    """What a row of Tables 2 and 4 tells in a word, with every rounding in its favour."""
    least = needed_cost(row.alpha - HALF, row.k, row.measured + TENTH)
    most = needed_cost(row.alpha + HALF, row.k, row.measured - TENTH)
    if least > row.c + HALF:
        return "above"
    if most >= row.c - HALF:
        return "agrees"
    if most >= 0:
        return "below"
    possible = row.measured - TENTH <= most_tokens(row.alpha + HALF, row.k)
    return "no cost" if possible else "no cost, no order"


def most_tokens(alpha: float, k: int) -> float:
    """Tokens a block at most, however the acceptances are ordered: a rejection ends a block."""
    return k + 1.0 if alpha >= k / (k + 1) else 1 / (1 - alpha)


def readings(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """The c that each row of Table 2 would need, the most that its alpha allows, the reading."""
    return [
        {
            "row": setting_name(row),
            "c printed": row.c,
            "c needed": needed_cost(row.alpha, row.k, row.measured),
            "measured": row.measured,
            "limit": most_tokens(row.alpha, row.k),
            "reading": reading(row),
        }
        for row in rows
    ]


def circulating(target_ms: float) -> list[dict[str, Any]]:
    """The rows of the table that circulates, beside the best that the formula allows with v = 1."""
    rows = []
    for speed, alpha, promised in CIRCULATING:
        costs = Costs(1000 / speed / target_ms, FREE_CHECKS)
        k = costs.best_k(alpha)
        best = costs.speedup(alpha, k)
        verdict = "possible" if best > promised - TENTH else "not possible"
        rows.append({
            "draft tokens/s": speed, "alpha": alpha, "promised": promised, "c": costs.c,
            "best": best, "at K": k, "verdict": verdict,
        })  # fmt: skip
    return rows


def orders() -> dict[str, list[int]]:
    """Three orders of RIGHT ones among PATTERN positions: spread evenly, by coins, in one run."""
    period = PATTERN // (PATTERN - RIGHT)
    even = [int(i % period != period - 1) for i in range(PATTERN)]
    coins = np.random.default_rng(7).permutation(even).tolist()
    return {"evenly": even, "by coins": coins, "in one run": sorted(even, reverse=True)}


def blocks_of(order: Sequence[int], k: int) -> list[list[str]]:
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


def conditional_rates(accepted: Sequence[int], k: int) -> list[tuple[float, int]]:
    """For each position of a block: its acceptance rate given the earlier ones, and the trials.

    The rate of a position that no block reached is nan.
    """
    reached = [sum(n >= i for n in accepted) for i in range(k + 1)]
    pairs = zip(reached[1:], reached[:-1], strict=True)
    return [(passed / tried if tried else float("nan"), tried) for passed, tried in pairs]


def standard_error(rate: float, trials: int) -> float:
    """The standard error of a rate; 0 without a trial."""
    return max(0.0, rate * (1 - rate) / trials) ** 0.5 if trials else 0.0


def first_and_later(rates: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """The rate of all later positions less that of the first, and its standard error.

    `rates` has the rate and the trials of each position (`conditional_rates`).
    """
    (first, trials), later = rates[0], [each for each in rates[1:] if each[1]]
    total = sum(n for _, n in later)
    rate = sum(share * n for share, n in later) / total
    return rate - first, math.hypot(standard_error(first, trials), standard_error(rate, total))


def blocks_needed(difference: float, error: float, blocks: int) -> int:
    """Blocks after which `difference` is two standard errors, if `error` is that of `blocks`.

    A standard error falls with the root of the number of blocks.
    """
    return math.ceil(blocks * (2 * error / difference) ** 2)


def three_means(ratios: Sequence[float]) -> list[dict[str, Any]]:
    """Three means of the ratios and of their inverses, as both sides would report them."""
    each = np.array(ratios, float)
    means = {
        "arithmetic": np.mean,
        "harmonic": lambda ratios: 1 / np.mean(1 / ratios),
        "geometric": lambda ratios: np.exp(np.mean(np.log(ratios))),
    }
    rows = []
    for name, mean in means.items():
        one, other = float(mean(each)), float(mean(1 / each))
        both = {"plain over speculative": one, "speculative over plain": other}
        rows.append({"mean": name, **both, "product": one * other})
    return rows


def drifting_seconds(interleaved: bool) -> tuple[np.ndarray, np.ndarray]:
    """Seconds (RUNS,) of plain and of speculative runs on the clock that slows down.

    Interleaved: plain, speculative, plain, ...; otherwise all plain runs first. Run t of all 2 RUNS
    takes 1 + DRIFT t / (2 RUNS - 1) times as long as the first one would.
    """
    slower = 1 + DRIFT * np.arange(2 * RUNS) / (2 * RUNS - 1)
    plain, speculative = (slower[::2], slower[1::2]) if interleaved else np.split(slower, 2)
    return BASELINE_SECONDS * plain, SPECULATIVE_SECONDS * speculative
