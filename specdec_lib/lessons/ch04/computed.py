"""Exact numbers of chapter 04: a speed-up with a steep v, and the gradient of the loss."""

import numpy as np


def steep(alpha: float, c: float, k: int, s: float) -> float:
    """The speed-up if every token of a pass after the first costs `s`: v(m) = 1 + s (m - 1)."""
    # Written out, as the truths are: while grading imports this, theory's functions are closed.
    return sum(alpha**i for i in range(k + 1)) / (c * k + 1 + s * k)


def best_steep(alpha: float, c: float, s: float, k_max: int) -> int:
    """The smallest best K from 0 to `k_max` of `steep`; speed-ups within 1e-12 are equal."""
    speeds = [steep(alpha, c, k, s) for k in range(k_max + 1)]
    return next(k for k, speed in enumerate(speeds) if speed >= max(speeds) - 1e-12)


def loss_gradient(p_logits: np.ndarray, q_logits: np.ndarray) -> np.ndarray:
    """The gradient (..., V) of the loss in the draft's logits, worked out by hand, in float64.

    With I = 1 if q < p, the shared mass grows by q_j (I_j - sum_x q_x I_x) in logit j.
    """
    p, q = _softmax(p_logits), _softmax(q_logits)
    below = (q < p).astype(float)
    shared = q * (below - (q * below).sum(-1, keepdims=True))
    return -shared / (q.size / q.shape[-1])


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(np.asarray(logits, dtype=float))
    return powers / powers.sum(-1, keepdims=True)
