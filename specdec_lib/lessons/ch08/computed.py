"""Exact distributions of a student's verify_block and speculative_generate. Nothing is sampled.

Both are piecewise constant in their random numbers. A number is taken at the middle of every piece,
and all pieces are equally long.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
import torch

from specdec_lib import exact
from specdec_lib.lessons.ch02.computed import plain_text_law
from specdec_lib.lessons.ch08.models import WatchedModel

# Three positions of a block of two; what a token is does not depend on the tokens before it.
LAW_P = np.array([[0.25, 0.375, 0.375], [0.5, 0.375, 0.125], [0.125, 0.25, 0.625]])
_LAW_Q = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
# Cells of r and of u: all ratios and sums are multiples of 1/4 and of 1/24.
_COINS, _PICKS = 4, 24

# Two tokens whose probabilities are 0, a half or 1, so that few numbers make a difference. The
# next token depends on the last two.
TARGET_TABLE = np.array([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5]]])
DRAFT_TABLE = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.5, 0.5]]])
TEXT_START, TEXT_LENGTH = [0, 1], 3  # the prompt, and how many tokens are written

Law = dict[tuple[int, ...], float]


def verdict_law(verify_block: Callable) -> tuple[np.ndarray, np.ndarray, int]:
    """What one call with every block and grid of numbers writes.

    Returns the mass (3, V) of each token at each position by acceptance, the same by the correction
    or bonus, and the number of rows.
    """
    drafted, r, u, weight = uniform_cells()
    p, q = (torch.tensor(law).repeat(len(drafted), 1, 1) for law in (LAW_P, _LAW_Q))
    count, token = verify_block(p, q, torch.tensor(drafted), r, u)
    accepted, added = np.zeros((3, 3)), np.zeros((3, 3))
    rows = zip(drafted, count.tolist(), token.tolist(), weight, strict=True)
    for block, n, last, mass in rows:
        for i in range(n):
            accepted[i, block[i]] += mass
        added[n, last] += mass
    return accepted, added, len(drafted)


def uniform_cells() -> tuple[list[tuple[int, int]], torch.Tensor, torch.Tensor, list[float]]:
    """Every block of two, with every cell of both coins and of u: blocks, r, u and weights."""
    coins, picks = ((np.arange(n) + 0.5) / n for n in (_COINS, _PICKS))
    cells = list(product(product(range(3), repeat=2), product(coins, repeat=2), picks))
    blocks = [block for block, _, _ in cells]
    weights = [_LAW_Q[0, a] * _LAW_Q[1, b] / (_COINS**2 * _PICKS) for a, b in blocks]
    r = torch.tensor(np.array([pair for _, pair, _ in cells]))
    return blocks, r, torch.tensor(np.array([u for _, _, u in cells])), weights


class Halves(exact.Tape):
    """A generator whose every number is a quarter or three quarters, along one path."""

    def random(self, size: int | None = None) -> np.ndarray | float:
        """As NumPy's: `size` numbers, or one."""
        drawn = [(0.25, 0.75)[self.choose([0.5, 0.5])] for _ in range(1 if size is None else size)]
        return drawn[0] if size is None else np.array(drawn)


def text_law(generate: Callable, k: int = 2, length: int = TEXT_LENGTH) -> Law:
    """The distribution of `length` tokens by a loop with blocks of `k`."""

    def run(script: Halves) -> list[int]:
        pair = WatchedModel(TARGET_TABLE), WatchedModel(DRAFT_TABLE)
        return generate(*pair, TEXT_START, k, length, 1.0, script)

    return exact.distribution(run, Halves)


def plain_law(length: int = TEXT_LENGTH) -> Law:
    """Every text of `length` tokens by plain decoding of TARGET_TABLE."""
    return plain_text_law(lambda text: TARGET_TABLE[text[-2], text[-1]], TEXT_START, length)
