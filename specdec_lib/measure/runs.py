"""Decoders on a prompt, or with `batch` on a list of prompts, as `compare` runs them."""

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.decoding.verify import Verifier, verify_rows
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.measure.compare import Decoder
from specdec_lib.measure.prompts import repeated_share
from specdec_lib.models.pair import Pair
from specdec_lib.models.protocol import EosIds, Model
from specdec_lib.progress import progress
from specdec_lib.sampling import RandomSource, Warp, random_source_for

MOST_REPEATED = 0.2  # greedy text that repeats more of its 8-grams is left out
GREEDY, SAMPLED = Warp(temperature=0), Warp(temperature=1)

Prompts = Sequence[Sequence[int]]
# Generates after all prompts with a generator of random numbers for each.
Generate = Callable[[Prompts, Settings, list[np.random.Generator]], Generation]


def decoder(
    generate: Generate, warp: Warp, tokens: int, batch: bool = False, eos_id: EosIds = None
) -> Decoder:
    """`generate` on one prompt, or with `batch` on a list, with another seed at every call."""
    settings, seeds = Settings(tokens, warp, eos_id), count()

    def run(prompt: list) -> Generation:
        prompts = prompt if batch else [prompt]
        return generate(prompts, settings, generators(next(seeds), len(prompts)))

    return run


def generators(seed: int, rows: int) -> list[np.random.Generator]:
    """Seeded random numbers for `rows` rows."""
    return [np.random.default_rng([seed, row]) for row in range(rows)]


def choices(warp: Warp, seed: int, rows: int = 1) -> RandomSource:
    """Seeded choices for `rows` rows."""
    return random_source_for(warp, generators(seed, rows))


def plain(
    target: Model, warp: Warp, tokens: int, batch: bool = False, eos_id: EosIds = None
) -> Decoder:
    """Plain decoding, with another seed at every call."""

    def generate(prompts: Prompts, settings: Settings, rngs: list) -> Generation:
        return plain_generate(target, prompts, settings, random_source_for(warp, rngs))

    return decoder(generate, warp, tokens, batch, eos_id)


def speculative(
    target: Model, drafter: Drafter, k: int, warp: Warp, tokens: int,
    verifier: Verifier = verify_rows, batch: bool = False, eos_id: EosIds = None,
) -> Decoder:  # fmt: skip
    """Speculative decoding, with another seed at every call."""

    def generate(prompts: Prompts, settings: Settings, rngs: list) -> Generation:
        drawn = random_source_for(warp, rngs)
        return speculative_generate(target, drafter, prompts, k, settings, drawn, verifier)

    return decoder(generate, warp, tokens, batch, eos_id)


def straight(decoder: Decoder, prompts: Sequence[list[int]], most: int) -> list[list[int]]:
    """The first `most` of `prompts` whose text does not run in circles.

    Raises ValueError if there is none.
    """
    kept = []
    for prompt in progress(prompts, "prompts without loops"):
        if len(kept) == most:
            break
        if repeated_share(decoder(prompt).tokens[0]) <= MOST_REPEATED:
            kept.append(prompt)
    if not kept:
        raise ValueError("every prompt's text runs in circles; use more prompts or fewer tokens")
    return kept


def accepted_counts(pair: Pair, prompts: Prompts, k: int, tokens: int, warp: Warp) -> list[int]:
    """How many tokens were accepted in every whole block of `k`, over all prompts as one batch.

    Blocks at the end of a text, which draft fewer, are left out.
    """
    run = speculative(pair.target, ModelDrafter(pair.draft), k, warp, tokens, batch=True)(prompts)
    return [b.n_accepted for blocks in run.blocks for b in blocks if len(b.drafted) == k]
