"""The rule of Leviathan et al., section 2.3, which several chapters expect: ratio and residual."""

import numpy as np


def ratio(p: np.ndarray, q: np.ndarray, token: int) -> float:
    """The probability min(1, p/q) with which a draft token stays; 0 if p is 0. (V,) each."""
    if p[token] >= q[token]:
        return float(p[token] > 0)
    return float(p[token] / q[token])


def residual(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """norm(max(0, p - q)) (V,), or p if that is empty."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p
