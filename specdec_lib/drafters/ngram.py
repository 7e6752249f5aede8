"""Counts of a corpus as the drafter, up to trigrams (Leviathan et al., Sections 3.6 and 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from specdec_lib.drafters.protocol import Proposal, stack_proposal
from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import RandomSource, Warp


@dataclass(frozen=True)
class Counts:
    """How often tokens followed contexts in a corpus.

    `unigram` (V,) counts each token. `bigram` (N, 3) has rows of (previous, token, count) and
    `trigram` (M, 4) of (last but one, previous, token, count); both hold frequent ones only.
    """

    unigram: np.ndarray
    bigram: np.ndarray
    trigram: np.ndarray

    @classmethod
    def load(cls, path: Path | str) -> "Counts":
        """From an .npz file with these three arrays."""
        with np.load(path) as arrays:
            return cls(**{name: counts.astype(np.int64) for name, counts in arrays.items()})


class NgramDrafter:
    """Draws from the distribution of what followed the last `order` - 1 tokens in the corpus.

    An unseen context falls back on the shorter one. In a context that was seen, an unseen token has
    no probability; the target's residual makes up for it. Contexts are looked up on the host, so
    tokens are drawn there too, and a whole block is sent to `device`.
    """

    def __init__(self, counts: Counts, order: int, device: torch.device | str = "cpu") -> None:
        self.order, self.device = order, torch.device(device)
        self.vocab_size, self.max_length = len(counts.unigram), None
        self.followers: list[dict[tuple[int, ...], list[tuple[int, int]]]] = [
            {(): list(enumerate(counts.unigram.tolist()))},
            *map(group_by_context, (counts.bigram, counts.trigram)[: order - 1]),
        ]

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """Distributions are warped like the target's, and cached once they are computed."""
        self.warp = warp
        self.warped: dict[tuple[int, ...], Tensor] = {}

    def propose(self, texts: Texts, limits: Sequence[int], random_source: RandomSource) -> Proposal:
        """Draft token by token."""
        ends = [list(sequence[-2:]) for sequence in texts]
        drafted = []
        for index in range(max(limits)):
            q = torch.stack([self.distribution(end) for end in ends])
            token = random_source.draft_token(q, index)
            drafted.append((token, q))
            for end, new in zip(ends, token.tolist(), strict=True):
                end.append(new)
        return stack_proposal(drafted, list(limits), self.vocab_size, self.device)

    def distribution(self, tokens: Sequence[int]) -> Tensor:
        """The warped distribution (V,) after `tokens`."""
        for length in range(min(self.order - 1, len(tokens)), -1, -1):
            context = tuple(tokens[len(tokens) - length :])
            if context in self.followers[length]:
                break
        if context not in self.warped:
            self.warped[context] = self.warp(self._logits(self.followers[length][context]))
        return self.warped[context]

    def _logits(self, followers: list[tuple[int, int]]) -> Tensor:
        tokens, counts = torch.tensor(followers).T
        logits = torch.full((self.vocab_size,), float("-inf"), dtype=torch.float64)
        return logits.index_put((tokens,), counts.double().log())


def group_by_context(rows: np.ndarray) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """(context..., token, count) rows as {context: [(token, count)]}."""
    followers: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for *context, token, count in rows.tolist():
        followers.setdefault(tuple(context), []).append((token, count))
    return followers
