"""Exact numbers of chapter 02: what the student's function and other rules put out."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.common.distributions import residual

RULES = (
    "accept everything",
    "accept only where p >= q",
    "draw the correction from p",
    "draft again until one passes",
    "the rule of this chapter",
)


def exact_paths(
    correct_token: Callable, p: np.ndarray, q: np.ndarray, cells: int = 60
) -> np.ndarray:
    """The mass (2, V) of what `correct_token` puts out if the draft comes from `q`.

    Row 0 is the mass that comes by acceptance, row 1 by correction. Nothing is sampled: the unit
    square of r and u is cut into `cells` by `cells` equal cells, and the function is called at
    every midpoint. The sum is exact if the ratios, and the cumulative sums of what u picks
    from, are multiples of 1/cells.
    """
    middles = (np.arange(cells) + 0.5) / cells
    mass = np.zeros((2, len(p)))
    for token in np.flatnonzero(q):
        for r in middles:
            for u in middles:
                out, accepted = correct_token(p, q, int(token), float(r), float(u))
                mass[0 if accepted else 1, out] += q[token] / cells**2
    return mass


def paths(rule: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """What a rule of RULES puts out (2, V): by acceptance, and in place of rejected tokens.

    `p` and `q` (V,) are distributions that overlap and differ. The two rows together sum to 1.
    Raises KeyError if there is no such rule.
    """
    overlap, lacking = np.minimum(p, q), residual(p, q)
    accepted, replacement = {
        "accept everything": (q, p),
        "accept only where p >= q": (np.where(p >= q, q, 0.0), lacking),
        "draw the correction from p": (overlap, p),
        "draft again until one passes": (overlap, overlap / overlap.sum()),
        "the rule of this chapter": (overlap, lacking),
    }[rule]
    return np.array([accepted, (1 - accepted.sum()) * replacement])
