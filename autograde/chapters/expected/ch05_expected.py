"""What the hidden tests of chapter 05 expect: in exact fractions, and by other ways than its own.

Verdicts are written out token by token, blocks are counted by where they end, an alpha is a root of
a polynomial, and a mean of ratios is one root of one product.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def drawn_counts(blocks: int, k: int, seed: int) -> tuple[list[int], int]:
    """Accepted counts from 0 to k of so many blocks, all of them drawn alike; and k."""
    return np.random.default_rng(seed).integers(0, k + 1, blocks).tolist(), k


def verdicts(accepted: Sequence[int], k: int) -> list[int]:
    """1 for every accepted draft token and 0 for every rejected one: those that were judged."""
    return [each for n in accepted for each in ([1] * n + [0])[:k]]


def rate(accepted: Sequence[int], k: int) -> float:
    """The share of accepted tokens among those that were judged."""
    judged = verdicts(accepted, k)
    return float(Fraction(sum(judged), len(judged)))


def tokens(alpha: float, k: int) -> Fraction:
    """Tokens a block: those that each end of it brings, times how probable this end is."""
    passes = Fraction(alpha)
    ends = [(n + 1) * passes**n * (1 - passes) for n in range(k)]
    return sum(ends) + (k + 1) * passes**k


def operations(alpha: float, c_hat: float, k: int) -> float:
    """Leviathan et al., Theorem 3.11: the positions that both models compute, for each token."""
    positions = (k + 1) + k * Fraction(c_hat)
    return float(positions / tokens(alpha, k))


def seconds_a_token(alpha: float, target: float, draft: float, k: int) -> float:
    """The time of a block over its tokens, in the unit of `target` and `draft`."""
    return float((k * Fraction(draft) + Fraction(target)) / tokens(alpha, k))


def block_tokens(seconds: float, target: float, draft: float, k: int) -> float:
    """Tokens that a block brought, if each took `seconds`."""
    return float((k * Fraction(draft) + Fraction(target)) / Fraction(seconds))


def beyond(end: float, k: int, more: float) -> float:
    """Tokens of a block, `more` outside of what an alpha of 0, or of 1, brings."""
    return 1 - more if end == 0 else k + 1 + more


def root(seconds: float, target: float, draft: float, k: int) -> float:
    """The alpha at which 1 + alpha + ... + alpha^k is what a block brought; there must be one."""
    polynomial = [1.0] * k + [1 - block_tokens(seconds, target, draft, k)]
    found = [each.real for each in np.roots(polynomial) if abs(each.imag) < 1e-12]
    (alpha,) = [each for each in found if 0 < each < 1]
    return float(alpha)


def share_of_each(accepted: Sequence[int], classes: Sequence[str]) -> dict[str, float]:
    """Of each label the share of its tokens that was accepted."""
    count = {label: list(classes).count(label) for label in classes}
    pairs = list(zip(accepted, classes, strict=True))
    return {label: float(Fraction(pairs.count((1, label)), n)) for label, n in count.items()}


def runs_of_one_ratio(ratio: float, pairs: int) -> tuple[list[float], list[float]]:
    """Seconds of so many pairs of unequal runs, all of which have this ratio."""
    fast = [0.5 + (i % 7) / 7 for i in range(pairs)]
    return [ratio * seconds for seconds in fast], fast


def geometric(baseline: Sequence[float], speculative: Sequence[float]) -> float:
    """The root of the product of the ratios, from the logarithm of a whole number."""
    above = [Fraction(each) for each in baseline]
    above += [1 / Fraction(each) for each in speculative]
    up, down = (math.prod(getattr(f, part) for f in above) for part in ("numerator", "denominator"))
    return math.exp((math.log(up) - math.log(down)) / len(baseline))
