"""Prompt lookup (Saxena, 2023): draft what followed the last time that the text read like this."""

from collections.abc import Sequence

import torch

from specdec_lib.drafters.protocol import Proposal
from specdec_lib.sampling import Choices, Warp


class PromptLookup:
    """Drafts the tokens that followed the latest earlier occurrence of the last few.

    Nothing is drawn: each draft token has a q of 1 on itself, so it is accepted with the target's
    own probability, and the residual is the target without it. No model, no passes.
    """

    def __init__(self, vocab_size: int, device: torch.device | str = "cpu", max_ngram: int = 3):
        self.vocab_size, self.device = vocab_size, torch.device(device)
        self.max_length = None
        self.max_ngram = max_ngram

    def start(self, sequences: Sequence[Sequence[int]], warp: Warp, capacity: int) -> None:
        """Nothing to prepare: whatever the warp is, a token that was looked up is certain."""

    def propose(
        self, sequences: Sequence[Sequence[int]], limits: Sequence[int], choices: Choices
    ) -> Proposal:
        """What was found, up to limits[b] tokens a row."""
        found = [
            lookup(sequence, max(limit, 0), self.max_ngram)
            for sequence, limit in zip(sequences, limits, strict=True)
        ]
        return certain(found, self.vocab_size, self.device)


def certain(found: Sequence[list[int]], vocab_size: int, device: torch.device) -> Proposal:
    """The proposal of tokens that were not drawn: each has a q of 1 on itself."""
    longest = max(len(tokens) for tokens in found)
    filled = [tokens + [0] * (longest - len(tokens)) for tokens in found]
    tokens = torch.tensor(filled, dtype=torch.long, device=device)
    q = torch.zeros(*tokens.shape, vocab_size, device=device)
    return Proposal(tokens, q.scatter_(-1, tokens[..., None], 1.0), [len(t) for t in found])


def lookup(tokens: Sequence[int], k: int, max_ngram: int) -> list[int]:
    """Up to `k` tokens that followed the latest earlier occurrence of the end of `tokens`.

    The longest end is looked for first, from `max_ngram` tokens down to one. What follows may
    overlap the end itself.
    """
    tokens = list(tokens)
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        end = tokens[-size:]
        for start in range(len(tokens) - size - 1, -1, -1):
            if tokens[start : start + size] == end:
                return tokens[start + size : start + size + k]
    return []
