"""Exact distributions of chapter 03, and the noise of a sample."""

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch03.rules import Rule
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.data.distributions import normalised_residual


def noise(p: np.ndarray, draws: float) -> float:
    """The total variation to p (V,) that `draws` tokens from p itself show on average.

    The frequency of a token has the standard deviation sqrt(p (1 - p) / draws); the mean of its
    absolute value is sqrt(2/pi) of that (the normal approximation), and half the sum is the answer.
    """
    return float(np.sqrt(2 / np.pi / draws) * np.sqrt(p * (1 - p)).sum() / 2)


def mismatch_law(p: np.ndarray, q: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """The distribution (V,) if drafts come from `drawn` but q is reported.

    Ratio and residual use q (V,), as in chapter 02. With `drawn` equal to q the distribution is p.
    """
    ratio = np.divide(p, q, out=np.ones(len(p)), where=q > p)
    accepted = drawn * ratio
    return accepted + (1 - accepted.sum()) * normalised_residual(p, q)


def rule_law(rule: Rule, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The distribution (V,) of what a rule writes, each branch followed; Different if no token."""
    law = exact.distribution(lambda choices: rule(p, q, choices))
    if others := [token for token in law if token not in range(len(p))]:
        raise Different(f"it returned {others[0]!r}, expected a token from 0 to {len(p) - 1}.")
    return np.array([law.get(token, 0.0) for token in range(len(p))])
