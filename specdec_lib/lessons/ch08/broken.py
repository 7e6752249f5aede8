"""Chapter 08: a correct loop run as one with a faulty cache, and what the fault costs.

The fault is in the models that the loop is given: their caches report the length of a correct
cache, and hold what the faulty loop would have there.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from specdec_lib import exact
from specdec_lib.lessons.ch08 import computed
from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.progress import progress

if TYPE_CHECKING:
    from specdec_lib.models.protocol import Cache, Model

# By what somebody forgot: whose cache has the mistake, which, and where it shows (examples.toml).
CACHE_FAULTS = read_tables(__package__, "examples.toml")["cache_faults"]
_K = 4
_TOKENS = 50  # ten whole blocks


class CarelessCache:
    """Reports the length of a correct cache while `inner` holds what the faulty loop would have."""

    def __init__(self, inner: "Cache", fault: str) -> None:
        self.inner, self.fault = inner, fault
        self.reported = 0  # positions

    @property
    def length(self) -> Tensor:
        """The positions (1,) that a correct cache would hold."""
        return torch.full_like(self.inner.length, self.reported)

    def truncate(self, length: Tensor | Sequence[int] | int) -> None:
        """Go back to `length`; if the rollback is forgotten, only in words."""
        new = int(torch.as_tensor(length).reshape(()))
        if self.fault == "":
            self.inner.truncate(new)
        elif self.fault == "feed":
            # The inner cache lacks some of the positions, and those are not the last ones.
            self.inner.truncate(int(self.inner.length[0]) - (self.reported - new))
        self.reported = new


class Careless:
    """A model whose caches have a `fault`, "feed", "rollback" or none (""), and its passes."""

    def __init__(self, model: "Model", fault: str) -> None:
        self.model, self.fault = model, fault
        self.vocab_size, self.device = model.vocab_size, model.device
        self.max_length = model.max_length
        self.passes = 0

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> CarelessCache:
        """An empty cache of one row."""
        return CarelessCache(self.model.new_cache(batch), self.fault)

    def forward(self, tokens: Tensor, cache: CarelessCache) -> Tensor:
        """The logits (1, T, V); if the bonus feed is forgotten, the first of two is not read."""
        self.passes += 1
        skipped = int(self.fault == "feed" and cache.reported > 0 and tokens.shape[1] == 2)
        logits = self.model.forward(tokens[:, skipped:], cache.inner)
        cache.reported += tokens.shape[1]
        return logits if not skipped else logits.expand(-1, 2, -1)


_Loop = Callable[..., list[int]]


def careless(fault: str, target: "Model", draft: "Model") -> tuple[Careless, Careless]:
    """Both models, one of them with the mistake that CACHE_FAULTS[fault] names."""
    side, mistake, *_ = CACHE_FAULTS[fault]
    in_target, in_draft = (mistake if name == side else "" for name in ("target", "draft"))
    return Careless(target, in_target), Careless(draft, in_draft)


def tokens_with_fault(
    generate: _Loop, pair: "tuple[Model, Model]", fault: str, texts: Sequence[list[int]]
) -> float:
    """The mean over _TOKENS new tokens after each of `texts`, with CACHE_FAULTS[fault]."""
    passes = 0
    for seed, prompt in enumerate(texts):
        target, draft = careless(fault, *pair)
        rng = np.random.default_rng(seed)
        generate(target, draft, list(prompt), _K, _TOKENS, 1.0, rng)
        passes += target.passes
    return _TOKENS * len(texts) / passes


def fault_costs(
    generate: _Loop, target: "Model", base: "Model", texts: Sequence[list[int]]
) -> dict[str, tuple[float, float, float]]:
    """What each mistake costs.

    That is: the tokens per pass with the target as its own draft, the same with the draft *base*,
    and the total variation between the texts' distribution and plain decoding's.
    """
    costs = {}
    for fault in progress(CACHE_FAULTS, "forgotten steps"):
        itself, usual = (
            tokens_with_fault(generate, (target, draft), fault, texts) for draft in (target, base)
        )
        costs[fault] = itself, usual, fault_distance(generate, fault)
    return costs


def fault_distance(generate: _Loop, fault: str) -> float:
    """Total variation between the faulty loop's distribution of short texts and plain decoding's.

    Nothing is sampled: every combination of numbers that makes a difference is run.
    """
    _, _, k, length = CACHE_FAULTS[fault]

    def faulty(target: "Model", draft: "Model", *args: Any) -> list[int]:
        return generate(*careless(fault, target, draft), *args)

    law = computed.text_law(faulty, k, length)
    return exact.total_variation_distance(law, computed.plain_law(length))
