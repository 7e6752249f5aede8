"""Prompt lookup (Saxena, 2023): draft what followed the last time that the text read like this."""

from collections.abc import Sequence

import torch

from specdec_lib.drafters.protocol import Proposal, one_hot_proposal
from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import RandomSource, Warp


class PromptLookup:
    """Drafts the tokens that followed the latest earlier occurrence of the text's last few tokens.

    Nothing is drawn: each draft token has a q of 1 on itself, so it is accepted with the target's
    own probability, and the residual is the target without it. No model, no passes.
    """

    max_ngram = 3

    def __init__(self, vocab_size: int, device: torch.device | str = "cpu"):
        self.vocab_size, self.device = vocab_size, torch.device(device)
        self.max_length = None

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """Nothing to prepare: a token that was looked up is certain under any warp."""

    def propose(self, texts: Texts, limits: Sequence[int], random_source: RandomSource) -> Proposal:
        """What was found, up to limits[b] tokens a row."""
        pairs = zip(texts, limits, strict=True)
        drafted = [lookup(sequence, limit, self.max_ngram) for sequence, limit in pairs]
        return one_hot_proposal(drafted, self.vocab_size, self.device)


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
