"""What the work between the passes costs: three versions of one decoder, interleaved."""

from collections.abc import Mapping
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor

from specdec_lib.measure.core.disturbance import Times
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import SAMPLED, plain
from specdec_lib.measure.core.timing import Spread, on_turns, ratios
from specdec_lib.measure.experiment.budget import ENGINEERING
from specdec_lib.measure.experiment.loops import LIBRARY, Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.cache import KVCache
from specdec_lib.models.llama import Llama

PLAIN, TURNS = "plain", "turns on the prompts"
GROWING = "a cache that grows"


class Version(NamedTuple):
    """A version, and how many times as fast as plain decoding it is."""

    name: str
    speedup: Spread


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


def measure(loop: Loop, machine: Machine, target: str, draft: str, k: int) -> Mapping[str, Times]:
    """Every version and plain decoding at temperature 1, in turn on the same held-out prompts."""
    large, small = machine.targets[target], machine.drafts[draft]
    tokens = machine.effort.tokens
    decoders = {
        PLAIN: plain(large, SAMPLED, tokens),
        GROWING: LIBRARY.decoder(Growing(large), Growing(small), k, SAMPLED, tokens),
        f"{loop.whose} loop": loop.decoder(large, small, k, SAMPLED, tokens),
        "the library's loop": LIBRARY.decoder(large, small, k, SAMPLED, tokens),
    }
    turns = prompts(machine.effort.prompts) * machine.effort.rounds
    with machine.budget.part(ENGINEERING) as part:
        seconds = on_turns(decoders, part.each(turns, TURNS, first=2))
    return {f"target {target}, draft {draft}, K = {k}": seconds}


def versions(measured: Mapping[str, Times]) -> list[Version]:
    """Every version over plain decoding, from their times."""
    (seconds,) = measured.values()
    return [
        Version(name, ratios(seconds[PLAIN], times))
        for name, times in seconds.items()
        if name != PLAIN
    ]
