"""Exact numbers of chapter 02. Nothing here is sampled."""

from collections.abc import Callable

import numpy as np


def exact_law(correct_token: Callable, p: np.ndarray, q: np.ndarray, cells: int = 60) -> np.ndarray:
    """The distribution (2, V) of what `correct_token` puts out if the draft comes from `q`.

    Row 0 is the mass that comes by acceptance, row 1 by correction. Nothing is sampled: the unit
    square of r and u is cut into `cells` by `cells` equal cells, and the function is called at
    every midpoint. The sum is exact if the ratios, and the cumulative sums of what u picks
    from, are multiples of 1/cells.
    """
    middles = (np.arange(cells) + 0.5) / cells
    law = np.zeros((2, len(p)))
    for token in np.flatnonzero(q):
        for r in middles:
            for u in middles:
                out, accepted = correct_token(p, q, int(token), float(r), float(u))
                law[0 if accepted else 1, out] += q[token] / cells**2
    return law
