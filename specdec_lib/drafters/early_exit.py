"""The target's own first layers as the draft: self-speculation.

Zhang et al. (2023), "Draft & Verify", skip layers of the target; Elhoushi et al. (2024),
"LayerSkip", exit early, as here, and train the target for it. Nothing is trained here: the target's
norm and head read the states after the first layers.
"""

from collections.abc import Sequence

from specdec_lib.device import sent
from specdec_lib.drafters.protocol import Proposal, drawn
from specdec_lib.models.cache import KVCache
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import Choices, Warp


class EarlyExit:
    """Drafts with the first `layers` layers of `target`, in the target's own cache.

    That cache holds the right keys of these layers for every token of the text, so there is no
    prompt to read and no second cache. The draft tokens are cut off before the verification.
    """

    def __init__(self, target: Llama, layers: int) -> None:
        self.target, self.layers = target, layers
        self.vocab_size, self.max_length = target.vocab_size, target.max_length
        self.device = target.device

    def start(self, texts: Texts, warp: Warp, capacity: int, cache: KVCache) -> None:
        """Nothing to read: it drafts in the target's cache, which holds the prompts."""
        self.warp, self.cache = warp, cache

    def propose(self, texts: Texts, limits: Sequence[int], choices: Choices) -> Proposal:
        """Draft token by token, starting from the last one, which the target has not read."""
        feed = sent([sequence[-1:] for sequence in texts], self.device)
        drafted = []
        for index in range(max(limits)):
            logits = self.target.forward(feed, self.cache, layers=self.layers)
            q = self.warp(logits[:, -1])
            token = choices.draft(q, index)
            drafted.append((token, q))
            feed = token[:, None]
        self.cache.truncate([len(sequence) - 1 for sequence in texts])
        return drawn(drafted, list(limits), self.vocab_size, self.device)
