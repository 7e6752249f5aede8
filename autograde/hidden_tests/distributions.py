"""Random distributions for the hidden tests to ask with, of numbers that a student can read."""

import functools
from collections.abc import Callable

import numpy as np


def ratio(p: np.ndarray, q: np.ndarray, token: int) -> float:
    """The probability min(1, p/q) with which a draft token stays; 0 if p is 0. (V,) each."""
    if p[token] >= q[token]:
        return float(p[token] > 0)
    return float(p[token] / q[token])


def pair(size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two random distributions (V,), a target's and a draft's (see `thousandths`)."""
    return thousandths(size, rng), thousandths(size, rng)


def thousandths(size: int, rng: np.random.Generator) -> np.ndarray:
    """A random distribution (V,) of whole thousandths above 0, which a student can read."""
    parts = 1 + np.floor((1000 - size) * rng.dirichlet(np.ones(size)))
    parts[np.argmax(parts)] += 1000 - parts.sum()
    return parts / 1000


def coin(chance: float, keep: bool, rng: np.random.Generator, digits: int = 4) -> float:
    """A coin of few digits that accepts what is accepted with this chance, or one that rejects."""
    share = 0.1 + 0.8 * rng.random()
    number = share * chance if keep else chance + share * (1 - chance)
    return min(round(float(number), digits), 1 - 10**-digits)


def share(rng: np.random.Generator, low: float = 0.05, high: float = 0.95) -> float:
    """A number of two digits."""
    return round(float(rng.uniform(low, high)), 2)


def hashed(size: int, rng: np.random.Generator) -> Callable[[list[int]], np.ndarray]:
    """A distribution (size,) for every list of tokens, by `thousandths`."""
    seed = int(rng.integers(1000))
    # A text that grows asks for the rows of its beginning again and again.
    row = functools.lru_cache(200)(lambda *t: thousandths(size, np.random.default_rng([seed, *t])))
    return lambda tokens: row(*tokens)
