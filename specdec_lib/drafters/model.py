"""A smaller model as the drafter, as in Leviathan et al. (2023) and Chen et al. (2023)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lib.device import to_device
from specdec_lib.drafters.protocol import Proposal, stack_proposal
from specdec_lib.models.cut_vocabulary import CutVocabulary, widened
from specdec_lib.models.protocol import Model, Texts, cache_lengths, prefill
from specdec_lib.sampling import RandomSource, Warp


class ModelDrafter:
    """Draws each draft token from the model's own distribution, warped as the target's is.

    A model with a cut vocabulary drafts in that: softmax, sum and search are over fewer tokens.
    """

    def __init__(self, model: Model) -> None:
        self.cut = model if isinstance(model, CutVocabulary) else None
        self.model = self.cut.llama if self.cut else model
        self.vocab_size, self.max_length = model.vocab_size, model.max_length
        self.device = model.device

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """Read the prompts, all but the last token, which the first block feeds."""
        self.warp = warp
        self.rows = torch.arange(len(texts), device=self.device)
        self.cache = self.model.new_cache(len(texts), capacity)
        prefill(self.model, self.cache, self._own(texts))

    def propose(self, texts: Texts, limits: Sequence[int], random_source: RandomSource) -> Proposal:
        """Draft token by token, each fed back to draft the next."""
        drafted, texts = [], self._own(texts)
        if max(limits) > 0:
            feed, last = self._unread(texts)
        for index in range(max(limits)):
            q = self.warp(self.model.forward(feed, self.cache)[self.rows, last])
            token = random_source.draft_token(q, index)
            drafted.append((token, q))
            if feed.shape[1] > 1:  # a text of one token has no two to feed
                self.cache.truncate([len(sequence) for sequence in texts])
            feed, last = token[:, None], torch.zeros_like(token)
        proposal = stack_proposal(drafted, list(limits), self.model.vocab_size, self.device)
        if self.cut is None:
            return proposal
        tokens, q, limits = proposal
        d2t = self.cut.d2t
        return Proposal(d2t[tokens], widened(q, d2t, self.vocab_size), limits)

    def _own(self, texts: Texts) -> Texts:
        """`texts` in the vocabulary in which the model drafts."""
        return self.cut.own_tokens(texts) if self.cut else texts

    def _unread(self, texts: Texts) -> tuple[Tensor, Tensor]:
        """The tokens (B, 1 or 2) to begin a block with, and which of them is a row's last (B,).

        Two if a row's block was fully accepted: the cache lacks its last draft token, which was
        drawn but never fed.
        """
        pairs = zip(cache_lengths(self.cache), texts, strict=True)
        width = 1 if all(held >= len(sequence) - 1 for held, sequence in pairs) else 2
        prefill(self.model, self.cache, texts, skip_last=width)
        tokens = [(*sequence[-width:], 0)[:width] for sequence in texts]
        last = [min(len(sequence), width) - 1 for sequence in texts]
        return to_device(tokens, self.device), to_device(last, self.device)
