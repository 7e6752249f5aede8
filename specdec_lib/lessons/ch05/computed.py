"""What chapter 05 computes from the papers' rows and from patterns of acceptance, as text."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_lib.theory import expected_tokens, walltime_speedup

# How far a printed number may be from the one that was rounded.
HALF = 0.005  # alpha and c are printed with two places
TENTH = 0.05  # speed-ups with one

# A table that circulates: a draft's tokens a second, its acceptance rate and the speed-up that is
# promised for it, all of them beside a target with a pass of 10 ms. No source is given.
CIRCULATING = ((5000, 0.50, 1.8), (2000, 0.65, 2.3), (1000, 0.75, 2.5), (800, 0.80, 2.8))
K_MAX = 40

# The same acceptances in three orders: a 1 is a position at which the draft is right.
PATTERN = 24  # positions
RIGHT = 18  # of them

ABOVE, AGREES, BELOW = "above", "agrees", "below"
NO_COST, NO_ORDER = "no cost", "no cost, no order"
READINGS = (ABOVE, AGREES, BELOW, NO_COST, NO_ORDER)


def rounding_interval(alpha: float, c: float, k: int) -> tuple[float, float]:
    """The speed-ups that fit a printed alpha and c (two places each) and one more printed place.

    The least and the largest value of Theorem 3.8 for alpha and c within 0.005, widened by the 0.05
    of a speed-up that is itself rounded to one place.
    """
    low = walltime_speedup(max(alpha - HALF, 0.0), c + HALF, k)
    high = walltime_speedup(min(alpha + HALF, 1.0), max(c - HALF, 0.0), k)
    return low - TENTH, high + TENTH


def recomputed(rows: Sequence[Any]) -> str:
    """The rows of Tables 2 and 4 (named tuples) as text, beside what the formula gives exactly."""
    lines = ["task   draft     T  K  exact  interval      printed  measured  over exact"]
    for row in rows:
        exact = walltime_speedup(row.alpha, row.c, row.k)
        low, high = rounding_interval(row.alpha, row.c, row.k)
        far = "*" if abs(exact - row.expected) > TENTH else " "
        lines.append(
            f"{row.task:6} {row.draft:9} {row.temperature}  {row.k}  {exact:.3f}  {low:.2f} to "
            f"{high:.2f}  {row.expected}{far}     {row.measured}       {row.measured / exact:.2f}"
        )
    return "\n".join([*lines, "* more than 0.05 from the exact value"])


def needed_cost(alpha: float, k: int, measured: float) -> float:
    """The c at which the formula gives `measured`; below 0 where no c does."""
    return (expected_tokens(alpha, k) / measured - 1) / k


def reading(row: Any) -> str:
    """What a row of Tables 2 and 4 tells, one of READINGS, with every rounding in its favour."""
    least = needed_cost(row.alpha - HALF, row.k, row.measured + TENTH)
    most = needed_cost(row.alpha + HALF, row.k, row.measured - TENTH)
    if least > row.c + HALF:
        return ABOVE
    if most >= row.c - HALF:
        return AGREES
    if most >= 0:
        return BELOW
    return NO_COST if row.measured - TENTH <= most_tokens(row.alpha + HALF, row.k) else NO_ORDER


def most_tokens(alpha: float, k: int) -> float:
    """Tokens a block at most, however the acceptances are ordered: a rejection ends a block."""
    return k + 1.0 if alpha >= k / (k + 1) else 1 / (1 - alpha)


def readings(rows: Sequence[Any]) -> str:
    """The c that each row of Table 2 would need, the most that its alpha allows, the reading."""
    head = f"{'row':20}{'c printed':>10}{'c needed':>10}{'measured':>10}{'limit':>8}   reading"
    lines = [head]
    for row in rows:
        needed = needed_cost(row.alpha, row.k, row.measured)
        name = f"{row.task:6} {row.draft:9}T={row.temperature}"
        most = most_tokens(row.alpha, row.k)
        numbers = f"{row.c:10.2f}{needed:10.3f}{row.measured:10.1f}{most:8.2f}"
        lines.append(f"{name:20}{numbers}   {reading(row)}")
    return "\n".join(lines)


def best_speedup(alpha: float, c: float) -> tuple[float, int]:
    """The largest speed-up over K from 0 to K_MAX with v = 1, and its K."""
    best = min(range(K_MAX + 1), key=lambda k: (-walltime_speedup(alpha, c, k), k))
    return walltime_speedup(alpha, c, best), best


def circulating(target_ms: float) -> str:
    """The rows of the table that circulates, beside the best that the formula allows, as text."""
    head = ("draft tokens/s", "alpha", "promised", "c", "best possible")
    lines = ["".join(f"{each:>16}" for each in head)]
    for speed, alpha, promised in CIRCULATING:
        c = 1000 / speed / target_ms
        best, k = best_speedup(alpha, c)
        told = f"{best:.2f}, K = {k}"
        verdict = "" if best > promised - TENTH else "   not possible"
        lines.append(f"{speed:16}{alpha:16.2f}{promised:16.1f}{c:16.3f}{told:>16}{verdict}")
    return "\n".join(lines)


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


def blocks_needed(difference: float, error: float, blocks: int, errors: float = 2.0) -> int:
    """Blocks after which `difference` is so many standard errors, if `error` is that of `blocks`.

    A standard error falls with the root of the number of blocks.
    """
    if not difference:
        raise ValueError("the difference is 0: no number of blocks makes it significant")
    return math.ceil(blocks * (errors * error / difference) ** 2)


def first_and_later(rates: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """The rate of all later positions less that of the first, and its standard error.

    `rates` has the rate and the trials of each position (`conditional_rates`).
    """
    (first, trials), later = rates[0], [each for each in rates[1:] if each[1]]
    total = sum(n for _, n in later)
    rate = sum(share * n for share, n in later) / total
    variance = first * (1 - first) / trials + rate * (1 - rate) / total
    return rate - first, variance**0.5


def means(ratios: Sequence[float]) -> dict[str, float]:
    """Three means of ratios; the harmonic one is what the other side calls the arithmetic one."""
    each = np.array(ratios, float)
    return {
        "arithmetic": float(each.mean()),
        "harmonic": float(1 / (1 / each).mean()),
        "geometric": float(np.exp(np.log(each).mean())),
    }


def three_means(ratios: Sequence[float]) -> None:
    """Print the means of the ratios and of their inverses, as both sides would report them."""
    inverse = [1 / each for each in ratios]
    print(f"{'mean':12}{'plain over speculative':>24}{'speculative over plain':>24}{'product':>10}")
    for name, value in means(ratios).items():
        other = means(inverse)[name]
        print(f"{name:12}{value:24.3f}{other:24.3f}{value * other:10.3f}")
