"""The library's plain and speculative decoding as decoders that `compare` runs.

Each draws from new seeds at every call: the first call with seed 0, the next one with seed 1.
"""

from collections.abc import Callable
from itertools import count

import numpy as np

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.measure.compare import Decoder
from specdec_lib.measure.prompts import Prompts
from specdec_lib.models.pair import Pair
from specdec_lib.models.protocol import EosIds, Model
from specdec_lib.sampling import Warp, random_source_for

GREEDY, SAMPLED = Warp(temperature=0), Warp(temperature=1)

Generators = list[np.random.Generator]  # one for each row


def seeded(generate: Callable[[Prompts, Generators], Generation], batch: bool = False) -> Decoder:
    """`generate` on one prompt, or with `batch` on a list, with another seed at every call."""
    seeds = count()

    def decoder(prompt: list) -> Generation:
        prompts = prompt if batch else [prompt]
        return generate(prompts, seeded_generators(next(seeds), len(prompts)))

    return decoder


def seeded_generators(seed: int, rows: int) -> Generators:
    """Seeded random numbers for `rows` rows."""
    return [np.random.default_rng([seed, row]) for row in range(rows)]


def plain(
    target: Model, warp: Warp, tokens: int, batch: bool = False, eos_id: EosIds = None
) -> Decoder:
    """Plain decoding of at most `tokens` new tokens."""
    settings = Settings(tokens, warp, eos_id)

    def generate(prompts: Prompts, rngs: Generators) -> Generation:
        return plain_generate(target, prompts, settings, random_source_for(warp, rngs))

    return seeded(generate, batch)


def speculative(
    target: Model, drafter: Drafter, k: int, warp: Warp, tokens: int,
    batch: bool = False, eos_id: EosIds = None,
) -> Decoder:  # fmt: skip
    """Speculative decoding of at most `tokens` new tokens, with `k` draft tokens in a block."""
    settings = Settings(tokens, warp, eos_id)

    def generate(prompts: Prompts, rngs: Generators) -> Generation:
        random_source = random_source_for(warp, rngs)
        return speculative_generate(target, drafter, prompts, k, settings, random_source)

    return seeded(generate, batch)


def tokens_per_block(
    target: Model, drafter: Drafter, k: int, warp: Warp, prompts: Prompts, tokens: int
) -> float:
    """The mean over all blocks, the short last ones included, of all prompts as one batch."""
    generation = speculative(target, drafter, k, warp, tokens, batch=True)(prompts)
    return float(np.mean([block.n_appended for row in generation.blocks for block in row]))


def accepted_counts(pair: Pair, prompts: Prompts, k: int, tokens: int, warp: Warp) -> list[int]:
    """How many tokens were accepted in every whole block of `k`, over all prompts as one batch.

    Blocks at the end of a text, which draft fewer, are left out.
    """
    decoder = speculative(pair.target, ModelDrafter(pair.draft), k, warp, tokens, batch=True)
    blocks = [block for row in decoder(prompts).blocks for block in row]
    return [block.n_accepted for block in blocks if len(block.drafted) == k]
