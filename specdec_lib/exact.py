"""The exact law of one token under a verifier: every draft token, and both sides of its coin.

What a rule keeps or gives up of the target shows here without sampling. An exact verifier gives p
itself, and a lossy one (lossy.py) a total variation above 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.decoding.verify import Verifier


class OneToken(NamedTuple):
    """What a verifier makes of one drafted token, at one position."""

    law: Tensor  # (V,), of the token that comes out
    accepted: float  # how often it is the draft token, by acceptance
    distance: float  # the total variation between the law and p


class OneSide:
    """Choices that take one side of every coin, and note how likely that was and what was drawn."""

    def __init__(self, side: bool) -> None:
        self.side, self.thrown = side, False
        self.weight: Tensor | float = 1.0

    def begin(self, counts: Sequence[int]) -> None:
        """Nothing is drawn ahead."""

    def accept(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """The side for all rows; a coin falls on True with min(1, p/q), and for q = 0 if p > 0."""
        chance = torch.where(q > 0, (p / q).clamp(max=1), (p > 0).to(p.dtype))[:, 0]
        self.thrown, self.weight = True, chance if self.side else 1 - chance
        return torch.full_like(p, self.side, dtype=torch.bool)

    def draw(self, probs: Tensor, index: int) -> Tensor:
        """Any token: `drawn` has the distributions (B, V)."""
        self.drawn = probs
        return probs.argmax(-1)


def one_token(verifier: Verifier, p: Tensor, q: Tensor) -> OneToken:
    """The law of `verifier` for a token that is drawn from q (V,) and judged by p (V,).

    A batch has a row for every token that can be drafted, and is judged once with each side of the
    coin; once is all where the verifier throws none.
    """
    vocab = len(p)
    rows = (p.expand(vocab, 2, -1), q.expand(vocab, 1, -1), torch.arange(vocab)[:, None])
    law, accepted = torch.zeros_like(p), 0.0
    for side in (True, False):
        choices = OneSide(side)
        count = verifier(*rows, torch.ones(vocab, dtype=torch.long), choices).count
        taken = F.one_hot(rows[2][:, 0], vocab).to(p.dtype)
        weights = q * choices.weight
        law += weights @ torch.where(count[:, None] > 0, taken, choices.drawn)
        accepted += float(weights @ (count > 0).to(p.dtype))
        if not choices.thrown:
            break
    return OneToken(law, accepted, float((law - p).abs().sum() / 2))
