"""The decoder that chapter 08 measures: the student's two functions, or the library's.

The library's decoder can run with the student's verify_block too: for batches, and for drafts that
are no models.
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
from specdec_lib.measure.library_decoders import Generators, seeded
from specdec_lib.measure.prompts import Prompts
from specdec_lib.measure.timing import PassRecorder
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import RandomSource, Uniforms, Warp, random_source_for

# p (B, K+1, V), q (B, K, V), drafted (B, K), r (B, K), u (B,) -> counts (B,), tokens (B,)
VerifyBlock = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


class StudentDecoder(NamedTuple):
    """Chapter 08's two functions; `whose` they are is "your" or "the library's"."""

    whose: str
    generate: Callable[..., list[int]]  # with the signature of speculative_generate
    verify_block: VerifyBlock

    def decoder(self, target: Model, draft: Model, k: int, warp: Warp, tokens: int) -> Decoder:
        """`generate` on one prompt, with another seed at every call.

        All passes of the target are counted, the prompt's too.
        """

        def generate(prompts: Prompts, rngs: Generators) -> Generation:
            prompt, recorder = list(prompts[0]), PassRecorder(target)
            text = self.generate(recorder, draft, prompt, k, tokens, warp.temperature, rngs[0])
            return Generation([text], target_passes=len(recorder.passes))

        return seeded(generate)


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


LIBRARY_DECODER = StudentDecoder("the library's", library_generate, verify_block)


def as_verifier(verify_block: VerifyBlock) -> Verifier:
    """`verify_block` as the library's decoder calls it.

    Rows of one batch may have drafted different numbers of tokens. `verify_block` knows no such
    limits, so it is called once for each number.
    """

    def verify(
        p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, random_source: RandomSource
    ) -> Verdict:
        r, u = block_uniforms(random_source, drafted)
        count, token = torch.zeros_like(limits), torch.zeros_like(limits)
        for n in limits.unique().tolist():
            rows = (limits == n).nonzero()[:, 0]
            counts, tokens = verify_block(
                p[rows, : n + 1], q[rows, :n], drafted[rows, :n], r[rows, :n], u[rows]
            )
            count[rows], token[rows] = counts.to(count), tokens.to(token)
        return Verdict(count, token, probability_of(drafted, p[:, :-1]), probability_of(drafted, q))

    return verify


def block_uniforms(random_source: RandomSource, drafted: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers r (B, n) and u (B,) of the present block; at temperature 0 zeros serve."""
    like = {"dtype": torch.float64, "device": drafted.device}
    if not isinstance(random_source, Uniforms):
        return torch.zeros(drafted.shape, **like), torch.zeros(len(drafted), **like)
    r = random_source.r[:, : drafted.shape[1]]
    return torch.as_tensor(r, **like), torch.as_tensor(random_source.u, **like)
