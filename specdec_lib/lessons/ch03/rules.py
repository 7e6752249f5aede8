"""One position decided by a rule, for many draft tokens at once: the right rule, and impostors.

A rule takes p and q (V,), draft tokens (N,), coins r (N,) and numbers u (N,), and returns the
tokens (N,) that come out. Every impostor is a mistake that people make; `SEEN` says where one was
found in public.
"""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.common.distributions import pick, residual

Rule = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def right_rule(p, q, tokens, r, u):
    """Accepts if r q < p, else draws from the residual: chapter 02's rule."""
    return np.where(r * q[tokens] < p[tokens], tokens, pick(residual(p, q), u))


def published_rule(p, q, tokens, r, u):
    """Accepts if r is at most p/q and p is not 0, as the papers write the rule: exact."""
    ratio = np.divide(p, q, out=np.ones(len(p)), where=q > 0)
    kept = (r <= ratio[tokens]) & (p[tokens] > 0)
    return np.where(kept, tokens, pick(residual(p, q), u))


def sampler_match(p, q, tokens, r, u):
    """Draws from p, and looks whether the draft has guessed it: exact, but it accepts less."""
    return pick(p, u)


def from_target(p, q, tokens, r, u):
    """After a rejection, draws from p."""
    return np.where(r * q[tokens] < p[tokens], tokens, pick(p, u))


def absolute_residual(p, q, tokens, r, u):
    """Takes |p - q| for the residual."""
    distance = np.abs(p - q) / max(np.abs(p - q).sum(), 1e-300)
    return np.where(r * q[tokens] < p[tokens], tokens, pick(distance, u))


def swapped_ratio(p, q, tokens, r, u):
    """Accepts with q/p: the letters of one paper in the code of the other."""
    return np.where(r * p[tokens] < q[tokens], tokens, pick(residual(p, q), u))


def no_coin(p, q, tokens, r, u):
    """Accepts if p is at least q, and else never."""
    return np.where(p[tokens] >= q[tokens], tokens, pick(residual(p, q), u))


def one_coin(p, q, tokens, r, u):
    """Draws the replacement with the coin that has just rejected."""
    return np.where(r * q[tokens] < p[tokens], tokens, pick(residual(p, q), r))


def match_then_residual(p, q, tokens, r, u):
    """Accepts if a draw from p is the draft token, and else draws from the residual."""
    return np.where(pick(p, r) == tokens, tokens, pick(residual(p, q), u))


def always(p, q, tokens, r, u):
    """Keeps every draft token."""
    return tokens


def coarse_coin(p, q, tokens, r, u):
    """Has a coin of six bits only, 0/64 to 63/64, and accepts if it is at most p/q."""
    coin = np.floor(64 * r) / 64
    return np.where(coin * q[tokens] <= p[tokens], tokens, pick(residual(p, q), u))


IMPOSTORS: tuple[Rule, ...] = (
    *(from_target, absolute_residual, swapped_ratio, no_coin, one_coin),
    *(match_then_residual, always, coarse_coin),
)

# In which public code the mistake was made; the chapter's sources give the threads.
SEEN = {
    "no_coin": "a vLLM blog post, before review",
    "always": "transformers, until January 2024",
    "sampler_match": "several libraries, on purpose",
}
