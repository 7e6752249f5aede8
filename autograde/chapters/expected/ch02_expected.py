"""What the hidden tests of chapter 02 expect, by the rules of Leviathan et al., section 2.3."""

import math

import numpy as np

from autograde.chapters.expected import rejection
from autograde.chapters.laws import LARGEST
from specdec_lib.sampling import sample_from


def accepted(tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray) -> list[int]:
    """The draft tokens before the first that its coin rejects; p and q are (K, V), r is (K,)."""
    keeps = [p[i, t] > 0 and r[i] <= rejection.ratio(p[i], q[i], t) for i, t in enumerate(tokens)]
    return tokens[: [*keeps, False].index(False)]


def corrected(p: np.ndarray, q: np.ndarray, token: int, r: float, u: float) -> tuple[int, bool]:
    """The draft token and True, or its replacement and False."""
    if p[token] > 0 and r <= rejection.ratio(p, q, token):
        return token, True
    return sample_from(rejection.residual(p, q), u), False


def step(tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray, u: float) -> list[int]:
    """The accepted draft tokens and one token more; p is (K + 1, V), q is (K, V)."""
    kept = accepted(tokens, p, q, r)
    n = len(kept)
    last = p[n] if n == len(tokens) else rejection.residual(p[n], q[n])
    return [*kept, sample_from(last, u)]


def coins_around(ratio: float) -> tuple[float, float]:
    """The tenths next below and next above a ratio above 0, as coins: none of them is 1."""
    below, above = math.ceil(10 * ratio) - 1, math.floor(10 * ratio) + 1
    return min(below / 10, 0.99), min(above / 10, LARGEST)
