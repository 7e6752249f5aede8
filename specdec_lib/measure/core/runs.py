"""A decoder on one prompt, as a task that can be timed; and two of them against each other."""

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
from tqdm import tqdm

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.decoding.verify import Verifier, verify
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.measure.core.held_out import repeated_share
from specdec_lib.measure.core.timing import Spread, on_prompts, ratios
from specdec_lib.models.pair import Pair
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Choices, Warp, choices_for

ROUNDS = 2  # that count; one more goes before them
MOST_REPEATED = 0.2  # greedy text that repeats more of its 8-grams is left out
GREEDY, SAMPLED = Warp(temperature=0), Warp(temperature=1)

# From a prompt (or, for a batch, a list of them) to what was generated after it.
Decoder = Callable[[list], Generation]
Prompts = Sequence[Sequence[int]]
# Generates after all prompts with a generator of random numbers for each.
Generate = Callable[[Prompts, Settings, list[np.random.Generator]], Generation]


def decoder(generate: Generate, warp: Warp, tokens: int, batch: bool = False) -> Decoder:
    """`generate` on one prompt, or with `batch` on a list, with another seed at every call."""
    settings, seeds = Settings(tokens, warp), count()

    def run(prompt: list) -> Generation:
        prompts = prompt if batch else [prompt]
        return generate(prompts, settings, generators(next(seeds), len(prompts)))

    return run


def generators(seed: int, rows: int) -> list[np.random.Generator]:
    """Seeded random numbers for `rows` rows."""
    return [np.random.default_rng([seed, row]) for row in range(rows)]


def choices(warp: Warp, seed: int, rows: int = 1) -> Choices:
    """Seeded choices for `rows` rows."""
    return choices_for(warp, generators(seed, rows))


def plain(target: Model, warp: Warp, tokens: int, batch: bool = False) -> Decoder:
    """Plain decoding, with another seed at every call."""

    def generate(prompts: Prompts, settings: Settings, rngs: list) -> Generation:
        return plain_generate(target, prompts, settings, choices_for(warp, rngs))

    return decoder(generate, warp, tokens, batch)


def speculative(
    target: Model, drafter: Drafter, k: int, warp: Warp, tokens: int,
    verifier: Verifier = verify, batch: bool = False,
) -> Decoder:  # fmt: skip
    """Speculative decoding, with another seed at every call."""

    def generate(prompts: Prompts, settings: Settings, rngs: list) -> Generation:
        drawn = choices_for(warp, rngs)
        return speculative_generate(target, drafter, prompts, k, settings, drawn, verifier)

    return decoder(generate, warp, tokens, batch)


class Recorded:
    """A decoder that keeps its generations, to be looked at later: its calls are timed."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder, self.generations = decoder, list[Generation]()

    def __call__(self, prompt: list) -> Generation:
        """Decode."""
        self.generations.append(self.decoder(prompt))
        return self.generations[-1]

    @property
    def repeated(self) -> float:
        """The share of repeated 8-grams, on average over the texts."""
        texts = [tokens for each in self.generations for tokens in each.tokens]
        return sum(map(repeated_share, texts)) / len(texts)

    @property
    def tokens_a_block(self) -> float:
        """Tokens of a row for every target pass so far."""
        tokens = sum(sum(map(len, each.tokens)) / len(each.tokens) for each in self.generations)
        return tokens / sum(each.target_passes for each in self.generations)


def speedup(
    slower: Decoder, faster: Decoder, prompts: Sequence[list], rounds: int = ROUNDS
) -> Spread:
    """How many times as fast `faster` is: interleaved, a ratio for each prompt and round.

    Nothing is left out: whoever calls this has warmed both up.
    """
    seconds = on_prompts({"slower": slower, "faster": faster}, prompts, rounds, warm_up=0)
    return ratios(seconds["slower"], seconds["faster"])


def straight(decoder: Decoder, prompts: Sequence[list[int]], most: int) -> list[list[int]]:
    """The first `most` of `prompts` whose text does not run in circles.

    Raises ValueError if there is none.
    """
    kept = []
    for prompt in tqdm(prompts, desc="prompts without loops", leave=False, disable=None):
        if len(kept) < most and repeated_share(decoder(prompt).tokens[0]) <= MOST_REPEATED:
            kept.append(prompt)
    if not kept:
        raise ValueError("every prompt's text runs in circles; use more prompts or fewer tokens")
    return kept


def accepted_counts(pair: Pair, prompts: Prompts, k: int, tokens: int, warp: Warp) -> list[int]:
    """How many tokens were accepted in every whole block of `k`, over all prompts as one batch.

    Blocks at the end of a text, which draft fewer, are left out.
    """
    run = speculative(pair.target, ModelDrafter(pair.draft), k, warp, tokens, batch=True)(prompts)
    return [b.accepted for blocks in run.blocks for b in blocks if len(b.drafted) == k]
