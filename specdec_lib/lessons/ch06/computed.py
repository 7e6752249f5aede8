"""Exact distributions of the model of chapter 06: requests of many blocks of coins."""

import numpy as np


def request_law(alpha: float, k: int, n_tokens: int) -> np.ndarray:
    """The probability that a request of `n_tokens` takes 0, 1, 2, ... blocks.

    From block to block: how likely each number of written tokens is, while it is too small.
    """
    reached = alpha ** np.arange(k + 1)
    step = np.concatenate([[0.0], reached[:-1] * (1 - alpha), reached[-1:]])
    written, law = np.eye(1, n_tokens)[0], [0.0]
    while written.any():
        after = np.convolve(written, step)
        law.append(float(after[n_tokens:].sum()))
        written = after[:n_tokens]
    return np.array(law)


def quantile(law: np.ndarray, share: float) -> int:
    """The smallest number of blocks that at least this share of the requests does not exceed."""
    return int(np.searchsorted(np.cumsum(law), share - 1e-12))
