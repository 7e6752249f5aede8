"""Exact numbers of chapter 07: nothing here is sampled.

Distributions come from walking through all cases, acceptances from formulas.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np

from specdec_lib.lessons.data.distributions import normalised_residual, overlap, unit_intervals


def candidates_law(accept: Callable, p: np.ndarray, q: np.ndarray, n: int) -> np.ndarray:
    """The distribution (2, V) of `accept(candidates, p, q, r, u)` with n i.i.d. candidates from q.

    Row 0 holds tokens that are among the candidates, row 1 the others.
    """
    law = np.zeros((2, len(p)))
    for drawn in product(np.flatnonzero(q).tolist(), repeat=n):
        rule = partial(accept, list(drawn), p.copy(), q.copy())
        law += math.prod(float(q[x]) for x in drawn) * _law(rule, p, drawn, [q] * n)
    return law


def top_law(accept: Callable, p: np.ndarray, candidates: Sequence[int]) -> np.ndarray:
    """The same of `accept(candidates, p, r, u)` with different tokens that nobody drew: q is 1."""
    rule = partial(accept, list(candidates), p.copy())
    return _law(rule, p, candidates, np.eye(len(p))[list(candidates)])


def _law(
    rule: Callable, p: np.ndarray, candidates: Sequence[int], rows: Sequence[np.ndarray]
) -> np.ndarray:
    """The distribution (2, V) of `rule(r, u)`, with a row of q (V,) for each candidate.

    Between the cuts of the rule in turn every coin and u take one midpoint that weighs its
    interval: exact for that rule.
    """
    law, left, sides = np.zeros((2, len(p))), p, []
    for token, q in zip(candidates, rows, strict=True):
        sides.append(list(unit_intervals(np.array([min(1.0, left[token] / q[token])]))))
        left = normalised_residual(left, q)
    for choice in product(*sides, list(unit_intervals(np.cumsum(left)))):
        *coins, u = [middle for middle, _ in choice]
        out = rule(np.array(coins), u)
        law[0 if out in candidates else 1, out] += math.prod(length for _, length in choice)
    return law


def accepted_in_turn(p: np.ndarray, q: np.ndarray, n: int) -> list[float]:
    """The probability that candidate i is the one accepted, for i = 1..n, in closed form.

    Candidate i is judged against the residual that i - 1 rejections leave; the part that overlaps
    with q is accepted.
    """
    shares, residual, left = [], p, 1.0
    for _ in range(n):
        accepted = overlap(residual, q)
        shares.append(left * accepted)
        left *= 1 - accepted
        residual = normalised_residual(residual, q)
    return shares


def best_acceptance(p: np.ndarray, q: np.ndarray, n: int) -> float:
    """The largest share that any lossless rule can accept from n i.i.d. candidates.

    An optimal transport (Sun et al., SpecTr, 2023); by the theorem of minimal cuts it is the
    smallest p(H) + 1 - q(H)^n over all sets H of tokens.
    """
    sets = [list(h) for size in range(len(p) + 1) for h in combinations(range(len(p)), size)]
    return float(min(p[h].sum() + 1 - q[h].sum() ** n for h in sets))
