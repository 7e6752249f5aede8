"""A draft model with a tokenizer of its own.

Its distribution is restricted to the tokens that both vocabularies have and normalised again:
token-level intersection, Timor et al. (2025), arXiv 2502.05202. The target's tokens are decoded to
text and encoded with the draft's tokenizer.
"""

from collections.abc import Callable, Sequence

import torch
from tokenizers import Tokenizer
from torch import Tensor

from specdec_lib.device import sent
from specdec_lib.drafters.protocol import Proposal, drawn
from specdec_lib.models.protocol import Model, Texts, common, prefill
from specdec_lib.sampling import Choices, Warp

Translate = Callable[[Sequence[int]], list[int]]


class OtherVocabulary:
    """Drafts with `model`, whose token i is the target's token `draft_to_target[i]`.

    -1 stands for a token that the target does not have. `translate` turns a text in the target's
    tokens into the draft's.
    """

    def __init__(
        self, model: Model, draft_to_target: Sequence[int], vocab_size: int, translate: Translate
    ) -> None:
        self.model, self.translate = model, translate
        self.vocab_size, self.device = vocab_size, model.device
        self.max_length = model.max_length
        self.to_target = torch.tensor(draft_to_target, device=self.device)
        shared = self.to_target >= 0
        if not shared.any():
            raise ValueError("the two vocabularies have no token in common")
        self.to_draft = torch.zeros(vocab_size, dtype=torch.long, device=self.device)
        self.to_draft[self.to_target[shared]] = shared.nonzero()[:, 0]
        self.filler = int(self.to_target[shared][0])

    @classmethod
    def between(cls, model: Model, own: Tokenizer, targets: Tokenizer) -> "OtherVocabulary":
        """The drafter for two tokenizers; tokens with the same spelling are the same."""
        names = targets.get_vocab()
        spelt = [own.id_to_token(number) for number in range(model.vocab_size)]

        def translate(tokens: Sequence[int]) -> list[int]:
            return own.encode(targets.decode(list(tokens), skip_special_tokens=False)).ids

        return cls(model, [names.get(name, -1) for name in spelt], len(names), translate)

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """Read the prompts in the draft's tokens."""
        self.warp = warp
        self.cache = self.model.new_cache(len(texts))
        self.read: list[list[int]] = [[] for _ in texts]

    def propose(self, texts: Texts, limits: Sequence[int], choices: Choices) -> Proposal:
        """Draft token by token; a row stops if all of q is on tokens that the target lacks."""
        limits, drafted = list(limits), []
        if max(limits) > 0:
            feed = self._catch_up([self.translate(sequence) for sequence in texts])
        for index in range(max(limits)):
            q = self.shared(self.warp(self.model.forward(feed, self.cache)[:, -1]))
            empty = q.sum(-1) == 0
            pairs = zip(limits, empty.tolist(), strict=True)
            limits = [min(limit, index) if nothing else limit for limit, nothing in pairs]
            if max(limits) <= index:
                break
            q[empty, self.filler] = 1  # these rows have ended: what they draw does not count
            token = choices.draft(q, index)
            drafted.append((token, q))
            feed = self.to_draft[token][:, None]
        return drawn(drafted, limits, self.vocab_size, self.device)

    def _catch_up(self, texts: list[list[int]]) -> Tensor:
        """The last tokens (B, 1) of `texts`, after reading what is new before them.

        One more token of the target can change how the text before it is tokenized, so the cache is
        cut back to what stayed the same.
        """
        pairs = zip(self.read, texts, strict=True)
        self.cache.truncate([min(common(read, text), len(text) - 1) for read, text in pairs])
        prefill(self.model, self.cache, texts)
        self.read = [text[:-1] for text in texts]
        return sent([text[-1:] for text in texts], self.device)

    def shared(self, q: Tensor) -> Tensor:
        """(B, V of the draft) -> (B, V): shared tokens only, normalised; 0 if there is none."""
        there = self.to_target >= 0
        mapped = q.new_zeros(len(q), self.vocab_size)
        mapped.index_add_(1, self.to_target[there], q[:, there])
        return mapped / mapped.sum(-1, keepdim=True).clamp(min=torch.finfo(q.dtype).tiny)
