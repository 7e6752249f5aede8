"""One position, from draft to token, as people write it: lossless rules, and mistakes.

A rule takes p and q (V,) and asks `choices` for its draft token, its coin and its correction:
`choices.choose(probabilities)` is an index. It returns the token that is written. `PUBLIC_CODE`
says where a rule stands in public code.
"""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.data.distributions import normalised_residual

Rule = Callable[[np.ndarray, np.ndarray, object], int]


def right_rule(p, q, choices):
    """Keeps the draft token with min(1, p/q), else draws from the residual: chapter 02's rule."""
    return _judged(p, q, choices.choose(q), choices, normalised_residual(p, q))


def sampler_match(p, q, choices):
    """Draws from p, and looks whether the draft has guessed it: it keeps fewer draft tokens."""
    token = choices.choose(q)
    wanted = choices.choose(p)
    return token if token == wanted else wanted  # which is `wanted` in both cases


def from_target(p, q, choices):
    """After a rejection, draws from p."""
    return _judged(p, q, choices.choose(q), choices, p)


def even_residual(p, q, choices):
    """After a rejection, draws evenly from all tokens that p has more of."""
    more = (p > q) / max(1, (p > q).sum())
    return _judged(p, q, choices.choose(q), choices, more)


def no_coin(p, q, choices):
    """Accepts if p is at least q, and else never."""
    token = choices.choose(q)
    return token if p[token] >= q[token] else choices.choose(normalised_residual(p, q))


def one_coin(p, q, choices):
    """Draws the correction with the very coin that has just rejected: it lies above p/q."""
    token = choices.choose(q)
    ratio = min(1, p[token] / q[token])
    if choices.choose([ratio, 1 - ratio]) == 0:
        return token
    edges = np.clip(np.append(0, np.cumsum(normalised_residual(p, q))), ratio, 1)
    return choices.choose(np.diff(edges) / (1 - ratio))


def always(p, q, choices):
    """Keeps every draft token."""
    return choices.choose(q)


def argmax_draft(p, q, choices):
    """Drafts the most likely token of q, and judges it by all of q."""
    return _judged(p, q, int(np.argmax(q)), choices, normalised_residual(p, q))


def filtered_draft(p, q, choices):
    """Drafts one of the two most likely tokens of q, and judges it by all of q."""
    top = np.where(q >= np.sort(q)[-2], q, 0)
    return _judged(p, q, choices.choose(top / top.sum()), choices, normalised_residual(p, q))


def coarse_coin(p, q, choices):
    """Has a coin of six bits, one of 0/64 to 63/64, and accepts if it is at most p/q."""
    token = choices.choose(q)
    coin = choices.choose([1 / 64] * 64) / 64
    return token if coin <= p[token] / q[token] else choices.choose(normalised_residual(p, q))


def rarely_unjudged(p, q, choices):
    """Is chapter 02's rule, but keeps one draft token in a billion without a coin."""
    careless = choices.choose([1 - 1e-9, 1e-9])
    return always(p, q, choices) if careless else right_rule(p, q, choices)


def _judged(p, q, token, choices, correction):
    """The draft token with min(1, p/q), else a draw from `correction` (V,)."""
    ratio = min(1, p[token] / q[token])
    return token if choices.choose([ratio, 1 - ratio]) == 0 else choices.choose(correction)


LOSSLESS: tuple[Rule, ...] = (right_rule, sampler_match)
MISTAKES: tuple[Rule, ...] = (
    *(from_target, even_residual, no_coin, one_coin, always),
    *(argmax_draft, filtered_draft, coarse_coin, rarely_unjudged),
)

for _rule in (*LOSSLESS, *MISTAKES):
    _rule.code = f"lesson.rules.{_rule.__name__}"

# In which public code the rule stands; the chapter's sources give the threads.
PUBLIC_CODE = read_tables(__package__, "rules.toml")
