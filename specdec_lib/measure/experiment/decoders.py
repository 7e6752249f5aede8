"""The decoding loop that a measurement runs: the student's two functions, or the library's.

A `Loop` holds a function with the signature of chapter 08's speculative_generate, and a
verify_block. The library's decoder can run with that verify_block too, for drafts that are no
models and for batches.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.decoding.verify import Verdict, Verifier, probability_of, verify_block
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.compare import Decoder
from specdec_lib.measure.runs import Prompts, decoder
from specdec_lib.models.protocol import Cache, Model
from specdec_lib.sampling import RandomSource, Uniforms, Warp, random_source_for

# p (B, K+1, V), q (B, K, V), drafted (B, K), r (B, K), u (B,) -> counts (B,), tokens (B,)
VerifyBlock = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


class Loop(NamedTuple):
    """A decoder: `whose` is "your" or "the library's"."""

    whose: str
    generate: Callable[..., list[int]]
    verify_block: VerifyBlock

    @property
    def verifier(self) -> Verifier:
        """`verify_block`, as the library's decoder calls it."""
        return as_verifier(self.verify_block)

    def decoder(self, target: Model, draft: Model, k: int, warp: Warp, tokens: int) -> Decoder:
        """The loop as a task that can be timed, with another seed at every call.

        All passes of the target are counted, the prompt's too.
        """

        def generate(prompts: Prompts, settings: Settings, rngs: list) -> Generation:
            (prompt,), (rng,), counted = prompts, rngs, Counting(target)
            asked = counted, draft, list(prompt), k, tokens, warp.temperature, rng
            return Generation([self.generate(*asked)], target_passes=counted.passes)

        return decoder(generate, warp, tokens)


class Counting:
    """A model that counts its passes."""

    def __init__(self, model: Model) -> None:
        self.model, self.passes = model, 0
        self.vocab_size, self.device, self.dtype = model.vocab_size, model.device, model.dtype
        self.max_length = model.max_length

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> Cache:
        """The model's."""
        return self.model.new_cache(batch, capacity)

    def forward(self, tokens: Tensor, cache: Cache) -> Tensor:
        """The model's logits (B, T, V)."""
        self.passes += 1
        return self.model.forward(tokens, cache)


def yours(generate: Callable[..., list[int]], block: VerifyBlock) -> Loop:
    """A student's decoder."""
    return Loop("your", generate, block)


def library_generate(
    target: Model,
    draft: Model,
    prompt_ids: Sequence[int],
    k: int,
    max_new_tokens: int,
    temperature: float,
    rng: np.random.Generator,
    eos_id: int | None = None,
) -> list[int]:
    """The library's decoder with the signature of chapter 08."""
    warp = Warp(temperature)
    settings, random_source = Settings(max_new_tokens, warp, eos_id), random_source_for(warp, [rng])
    drafter = ModelDrafter(draft)
    return speculative_generate(target, drafter, [prompt_ids], k, settings, random_source).tokens[0]


LIBRARY = Loop("the library's", library_generate, verify_block)


def as_verifier(block: VerifyBlock) -> Verifier:
    """`block` as the library's decoder calls it.

    Rows of one batch may have drafted different numbers of tokens. `block` knows no such limits, so
    it is called once for each number.
    """

    def judge(
        p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, random_source: RandomSource
    ) -> Verdict:
        r, u = coins(random_source, drafted)
        count, token = torch.zeros_like(limits), torch.zeros_like(limits)
        for n in limits.unique().tolist():
            at = (limits == n).nonzero()[:, 0]
            counted, tokens = block(p[at, : n + 1], q[at, :n], drafted[at, :n], r[at, :n], u[at])
            count[at], token[at] = counted.to(count), tokens.to(token)
        return Verdict(count, token, probability_of(drafted, p[:, :-1]), probability_of(drafted, q))

    return judge


def coins(random_source: RandomSource, drafted: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers r (B, n) and u (B,) of the present block; at temperature 0 zeros serve."""
    like = {"dtype": torch.float64, "device": drafted.device}
    if not isinstance(random_source, Uniforms):
        return torch.zeros(drafted.shape, **like), torch.zeros(len(drafted), **like)
    r = random_source.r[:, : drafted.shape[1]]
    return torch.as_tensor(r, **like), torch.as_tensor(random_source.u, **like)
