"""What the work between the passes costs: three versions of one decoder, by turns."""

import pandas as pd
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.measure.compare import compare, summary
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import SAMPLED, plain
from specdec_lib.measure.experiment.loops import LIBRARY, Loop
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.models.cache import KVCache
from specdec_lib.models.llama import Llama

PLAIN, GROWING = "plain", "a cache that grows"
PROMPT, PROMPTS, TOKENS, ROUNDS = 16, 4, 24, 2  # PROMPT: tokens of each


class GrowingCache(KVCache):
    """Keys and values just as long as the text: every pass copies all of them into new memory."""

    def advance(self, count: int) -> Tensor:
        """Make every row longer by `count`; returns the new positions (B, count)."""
        held = self.longest
        self.capacity = held + count
        self.keys, self.values = (
            F.pad(part[:, :, :held], (0, 0, 0, 0, 0, count)) for part in (self.keys, self.values)
        )
        return super().advance(count)


class Growing:
    """A Llama whose caches grow."""

    def __init__(self, model: Llama) -> None:
        self.model, self.vocab_size, self.max_length = model, model.vocab_size, model.max_length
        self.device, self.dtype = model.device, model.dtype

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> GrowingCache:
        """An empty cache of `batch` rows, which takes memory as it is used."""
        shape = self.model.shape
        sizes = (shape.layers, batch, 0, shape.kv_heads, shape.head_width)
        return GrowingCache(*sizes, self.device, self.dtype)

    def forward(self, tokens: Tensor, cache: GrowingCache) -> Tensor:
        """As the model's."""
        return self.model.forward(tokens, cache)


def measure(loop: Loop, machine: Machine, target: str, draft: str, k: int) -> pd.DataFrame:
    """By version: how many times as fast as plain decoding at temperature 1, and the quartiles."""
    large, small = machine.targets[target], machine.drafts[draft]
    decoders = {
        PLAIN: plain(large, SAMPLED, TOKENS),
        GROWING: LIBRARY.decoder(Growing(large), Growing(small), k, SAMPLED, TOKENS),
        f"{loop.whose} loop": loop.decoder(large, small, k, SAMPLED, TOKENS),
        "the library's loop": LIBRARY.decoder(large, small, k, SAMPLED, TOKENS),
    }
    runs = compare(decoders, prompts(machine.times(PROMPTS), PROMPT), rounds=ROUNDS)
    return summary(runs, PLAIN)[["speedup", "low", "high"]].drop(PLAIN)
