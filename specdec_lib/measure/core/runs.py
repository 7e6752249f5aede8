"""One decoder on one prompt, as a task that can be timed; and two of them against each other."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

import numpy as np
from tqdm import tqdm

from specdec_lib.decoding.fixed_shape.graph import GraphDecoder, capacity_for
from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.drafters.protocol import Drafter, Schedule
from specdec_lib.measure.core.held_out import repeated_share
from specdec_lib.measure.core.timing import Spread, interleaved, ratios
from specdec_lib.models.llama import Llama, RunLayer
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Choices, Warp, choices_for

ROUNDS = 2  # that count; one more goes before them
MOST_REPEATED = 0.2  # greedy text that repeats more of its 8-grams is left out
GREEDY, SAMPLED = Warp(temperature=0), Warp(temperature=1)

# From a prompt to what was generated behind it.
Decoder = Callable[[list[int]], Generation]


def choices(warp: Warp, seed: int, rows: int = 1) -> Choices:
    """Seeded choices for `rows` rows."""
    return choices_for(warp, [np.random.default_rng([seed, row]) for row in range(rows)])


def plain(target: Model, warp: Warp, tokens: int) -> Decoder:
    """Plain decoding, with another seed at every call."""
    settings, seeds = Settings(tokens, warp), count()
    return lambda prompt: plain_generate(target, [prompt], settings, choices(warp, next(seeds)))


def speculative(
    target: Model, drafter: Drafter, k: int | Schedule, warp: Warp, tokens: int
) -> Decoder:
    """Speculative decoding, with another seed at every call."""
    settings, seeds = Settings(tokens, warp), count()

    def run(prompt: list[int]) -> Generation:
        made = choices(warp, next(seeds))
        return speculative_generate(target, drafter, [prompt], k, settings, made)

    return run


class Graphs:
    """Decoding in captured steps of fixed shape, with another seed at every call.

    With k = 0 it is plain decoding. It takes one prompt, or where `rows` is not None a list of so
    many. The decoder is made at the first call: its graphs are captured before a time counts.
    """

    def __init__(
        self, target: Llama, draft: Llama | None, k: int, warp: Warp, tokens: int,
        rows: int | None = None, run: RunLayer | None = None,
    ) -> None:  # fmt: skip
        self.models, self.k, self.rows, self.run = (target, draft), k, rows, run
        self.settings, self.seeds = Settings(tokens, warp), count()
        self.decoder: GraphDecoder | None = None

    def __call__(self, prompt: list) -> Generation:
        """Decode."""
        prompts = [prompt] if self.rows is None else prompt
        needed = capacity_for(prompts, self.k, self.settings)
        if self.decoder is None or self.decoder.capacity < needed:
            warp = self.settings.warp
            self.decoder = GraphDecoder(
                *self.models, len(prompts), needed, self.k, warp, run=self.run
            )
        seed = next(self.seeds)
        generators = [np.random.default_rng([seed, row]) for row in range(len(prompts))]
        return self.decoder.generate(prompts, self.settings, generators)


class Recorded:
    """A decoder that keeps what it made, to be looked at later: its calls are timed."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder, self.made = decoder, list[Generation]()

    def __call__(self, prompt: list[int]) -> Generation:
        """Decode."""
        self.made.append(self.decoder(prompt))
        return self.made[-1]

    @property
    def repeated(self) -> float:
        """The share of repeated 8-grams, on average over the texts."""
        texts = [tokens for each in self.made for tokens in each.tokens]
        return sum(map(repeated_share, texts)) / len(texts)

    @property
    def tokens_a_block(self) -> float:
        """Tokens of a row for every target pass so far."""
        tokens = sum(sum(map(len, each.tokens)) / len(each.tokens) for each in self.made)
        return tokens / sum(each.target_passes for each in self.made)


def compare(slower: Decoder, faster: Decoder, prompts: Sequence[list[int]]) -> Spread:
    """How many times as fast `faster` is: both by turns, a ratio for each prompt and round."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for prompt in tqdm(prompts, desc="prompts", leave=False, disable=None):
        taken = interleaved({0: partial(slower, prompt), 1: partial(faster, prompt)}, ROUNDS)
        for side in (0, 1):
            seconds[side].extend(taken[side])
    return ratios(*seconds)


def straight(decoder: Decoder, prompts: Sequence[list[int]], most: int) -> list[list[int]]:
    """The first `most` of `prompts` whose text does not run in circles.

    Raises ValueError where there is none.
    """
    found = []
    for prompt in tqdm(prompts, desc="prompts without loops", leave=False, disable=None):
        if len(found) < most and repeated_share(decoder(prompt).tokens[0]) <= MOST_REPEATED:
            found.append(prompt)
    if not found:
        raise ValueError("every prompt's text runs in circles; use more prompts or fewer tokens")
    return found
