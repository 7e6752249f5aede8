"""Exact distributions of a student's verify_block and speculative_generate. Nothing is sampled.

Both are piecewise constant in their random numbers. A number is taken at the middle of every piece
and weighs as much as the piece is long.
"""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import torch

from specdec_lib import exact
from specdec_lib.lessons.ch08.models import WatchedModel

# Three positions of a block of two; what a token is does not depend on the tokens before it.
P = np.array([[0.25, 0.375, 0.375], [0.5, 0.375, 0.125], [0.125, 0.25, 0.625]])
Q = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
COINS, PICKS = 4, 24  # cells of r and of u: all ratios and sums are multiples of 1/4 and of 1/24

# A target and a draft that look one token back. Quarters, so few pieces do.
TARGET = np.array([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]])
DRAFT = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5], [0.25, 0.25, 0.5]])
PIECES = {"draft tokens": (0.25, 0.5, 0.75), "r": (0.5,), "u": (0.25, 0.5, 0.75)}
START, LENGTH = 1, 2  # the prompt is token 1, and two tokens are written
MOST_RUNS = 2000  # a loop that draws as the contract says takes 56
DRAWN = ("draft tokens", "r", "u")  # by a block of one draft token; one of none draws u alone


def block_law(verify_block: Callable) -> tuple[np.ndarray, np.ndarray, int]:
    """What one call with every block and grid of numbers writes.

    Returns the mass (3, V) of each token at each position by acceptance, the same by the correction
    or bonus, and the number of rows.
    """
    drafted, r, u, weight = grid()
    count, token = verify_block(*tensors(drafted), torch.tensor(drafted), r, u)
    accepted, added = np.zeros((3, 3)), np.zeros((3, 3))
    rows = zip(drafted, count.tolist(), token.tolist(), weight, strict=True)
    for block, n, last, mass in rows:
        for i in range(n):
            accepted[i, block[i]] += mass
        added[n, last] += mass
    return accepted, added, len(drafted)


def grid() -> tuple[list[tuple[int, int]], torch.Tensor, torch.Tensor, list[float]]:
    """Every block of two, with every cell of both coins and of u: blocks, r, u and weights."""
    coins, picks = ((np.arange(n) + 0.5) / n for n in (COINS, PICKS))
    cells = list(product(product(range(3), repeat=2), product(coins, repeat=2), picks))
    blocks = [block for block, _, _ in cells]
    weights = [Q[0, a] * Q[1, b] / (COINS**2 * PICKS) for a, b in blocks]
    r = torch.tensor(np.array([pair for _, pair, _ in cells]))
    return blocks, r, torch.tensor(np.array([u for _, _, u in cells])), weights


def tensors(drafted: Sequence) -> tuple[torch.Tensor, torch.Tensor]:
    """p and q, the same in every row."""
    return tuple(torch.tensor(each).repeat(len(drafted), 1, 1) for each in (P, Q))


class Script(exact.Tape):
    """A generator whose every number is the middle of a piece, along one path."""

    def random(self, size: int | None = None) -> np.ndarray | float:
        """As NumPy's: `size` numbers, or one."""
        drawn = [self._next() for _ in range(1 if size is None else size)]
        return drawn[0] if size is None else np.array(drawn)

    def _next(self) -> float:
        edges = np.array([0.0, *PIECES[DRAWN[min(len(self.taken), len(DRAWN) - 1)]], 1.0])
        piece = self.choose(np.diff(edges).tolist())
        return float(edges[piece] + edges[piece + 1]) / 2


def text_law(speculative_generate: Callable) -> tuple[np.ndarray, int]:
    """The distribution (V, V) of two tokens by the student's loop, and how many runs it took.

    Raises ValueError if there are more than MOST_RUNS, which every number drawn multiplies, and
    if a text is not LENGTH tokens long.
    """
    tables = [np.broadcast_to(each, (3, 3, 3)).copy() for each in (TARGET, DRAFT)]
    law, runs = np.zeros((3, 3)), 0

    def run(script: Script) -> list[int]:
        target, draft = (WatchedModel(table) for table in tables)
        return speculative_generate(target, draft, [START], 2, LENGTH, 1.0, script)

    for text, weight in exact.branches(run, Script):
        if len(text) != LENGTH:
            raise ValueError(f"for {LENGTH} tokens your loop gave {len(text)}: {list(text)}")
        law[tuple(text)] += weight
        runs += 1
        if runs > MOST_RUNS:
            raise ValueError(
                f"two tokens can come in more than {MOST_RUNS:,} ways. Near the end a block drafts "
                "fewer tokens: does it still draw numbers for k of them?"
            )
    return law, runs


def plain_law() -> np.ndarray:
    """The distribution (V, V) of two tokens by plain decoding of the target."""
    return TARGET[START][:, None] * TARGET
