"""What the hidden tests of chapter 04 expect, each by another way than the chapter's solution.

The formulas of a block are those of Leviathan et al., Equation 1 and Theorem 3.8, in fractions.
"""

from collections import Counter
from fractions import Fraction

import numpy as np

NEAR = Fraction(1, 10**12)  # speed-ups that are nearer to each other are equal, says the card


def tokens(alpha: float, k: int) -> float:
    """The mean number of tokens of a block: (1 - alpha^(k + 1))/(1 - alpha)."""
    return float(_tokens(_fraction(alpha), k))


def accepted(alpha: float, k: int) -> float:
    """The mean number of accepted tokens of a block: all but one."""
    return float(_tokens(_fraction(alpha), k) - 1)


def speedup(alpha: float, c: float, k: int, v: float = 1.0) -> float:
    """Tokens of a block over its time, in target passes."""
    return float(_tokens(_fraction(alpha), k) / (_fraction(c) * k + _fraction(v)))


def best_k(alpha: float, c: float, k_max: int) -> int:
    """The smallest K from 0 to k_max of which none is faster."""
    a, b = _fraction(alpha), _fraction(c)
    speeds = [_tokens(a, k) / (b * k + 1) for k in range(k_max + 1)]
    fastest = max(speeds)
    return next(k for k, speed in enumerate(speeds) if fastest - speed <= NEAR)


def lookup(tokens: list[int], k: int, max_ngram: int = 3) -> list[int]:
    """What follows the place that most of the last tokens stand before; of equal ones the last."""
    agreeing = [_agreeing(tokens, place, max_ngram) for place in range(len(tokens))]
    most = max(agreeing, default=0)
    if most == 0:
        return []
    place = max(i for i, n in enumerate(agreeing) if n == most)
    return tokens[place : place + k]


def bigrams(tokens: list[int], vocab_size: int, smoothing: float = 1.0) -> np.ndarray:
    """The table (V, V), cell by cell, from the number of each pair."""
    pairs = Counter(zip(tokens, tokens[1:], strict=False))
    table, size = np.full((vocab_size, vocab_size), 1 / vocab_size), range(vocab_size)
    for before in size:
        row = [pairs[before, after] + _fraction(smoothing) for after in size]
        if any(row):
            table[before] = [float(cell / sum(row)) for cell in row]
    return table


def softmax(logits: np.ndarray) -> np.ndarray:
    """The distributions (..., V) of logits, in float64."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def loss(p: np.ndarray, q: np.ndarray) -> float:
    """Half the mean L1 distance of the softmaxes of logits (..., V), in float64."""
    return float(0.5 * np.abs(softmax(p) - softmax(q)).sum(-1).mean())


def _tokens(alpha: Fraction, k: int) -> Fraction:
    return (1 - alpha ** (k + 1)) / (1 - alpha) if alpha < 1 else Fraction(k + 1)


def _agreeing(tokens: list[int], place: int, most: int) -> int:
    """How many tokens before `place`, read backwards, are those at the end: `most` at most."""
    for n in range(min(place, most)):
        if tokens[place - 1 - n] != tokens[-1 - n]:
            return n
    return min(place, most)


def _fraction(x: float) -> Fraction:
    """A number as it is written in decimals."""
    return Fraction(str(x))
