"""Decoders take turns on whole texts, each with its own timer (measure/compare.py).

Of each pass of the target it is noted when it ended and what the cache held before it. So any
decoder can take part, a reader's own one too.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.assets import tokenizer
from specdec_lib.decoding.state import Generation
from specdec_lib.device import use_half_the_cores
from specdec_lib.measure import models
from specdec_lib.measure.compare import Decoder, compare
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.race.contestants import Contestant, WrongFunction
from specdec_lib.measure.race.record import Lane, Pass, Race
from specdec_lib.measure.runs import GREEDY, plain
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Cache
from specdec_lib.sampling import Warp
from specdec_lib.text_stream import TextStream

PLAIN = "plain decoding"
# Greedy text of the built-in target soon runs in circles. Of the first 80 held-out prompts this is
# the only one after which 96 tokens repeat at most a fifth of their 8-grams.
STRAIGHT = 59
WARM_UP = 8  # tokens that every decoder writes before the race

words = cache(tokenizer)


def run(
    contestants: Mapping[str, Contestant],
    *,
    tokens: int = 96,
    texts: int = 1,
    temperature: float = 0.0,
    rows: int = 1,
    reading: bool = False,
    cost: str = "234m",
    costly: Llama | None = None,
    seconds: float = 20.0,
) -> Race:
    """The race on `texts` held-out prompts, with `tokens` new tokens after each.

    The target is the built-in one at a `cost`. With `rows`, each decoder writes so many texts at a
    time, and the first is shown. A timer starts when the target has read the prompt, or with
    `reading` before that. With `costly`, the target at that cost, all cores take part, else half
    of them. No text begins once `seconds` are over, but the first one always runs. An end of text
    does not stop a decoder, so that all write as many tokens.
    Raises WrongFunction where a reader's own function is wrong.
    """
    warp, makers = Warp(temperature), {PLAIN: lambda *how: plain(*how, batch=True), **contestants}
    with nullcontext() if costly else half_of_the_cores():
        target = costly or Llama(models.target_weights(cost, torch.float32))
        racers = {name: Racer(make, target, warp, tokens) for name, make in makers.items()}
        chosen = race_prompts(texts + rows - 1, warp)
        batches = [chosen[i : i + rows] for i in range(len(chosen) - rows + 1)]
        short = {name: make(Watched(target), warp, WARM_UP) for name, make in makers.items()}
        compare(racers, batches, seconds, warm_up=short)
    lanes = [Lane(name, list(passes(each.texts, reading))) for name, each in racers.items()]
    ends = [shown(prompt).rsplit("\n", 1)[-1] for prompt in chosen[: len(lanes[0].texts)]]
    pair = f"the built-in target at the cost of {cost.upper()} parameters"
    return Race(lanes, ends, pair, temperature, rows)


@contextmanager
def half_of_the_cores() -> Iterator[None]:
    """The threads of chapters 00 to 07; afterwards torch has those that it had."""
    threads = torch.get_num_threads()
    use_half_the_cores()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def race_prompts(count: int, warp: Warp) -> list[list[int]]:
    """`count` held-out prompts; a greedy race begins with the one whose text does not repeat."""
    pool = prompts(STRAIGHT + count, ending=".py")
    return pool[STRAIGHT:] if warp == GREEDY else pool[:count]


class Watched:
    """A target that notes of each pass when it ended, and the tokens in the cache before and after.

    Of a batch, those of the first row.
    """

    def __init__(self, target: Llama) -> None:
        self.target, self.passes = target, list[tuple[float, int, int]]()
        self.vocab_size, self.max_length = target.vocab_size, target.max_length
        self.device = target.device

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> Cache:
        """The target's."""
        return self.target.new_cache(batch, capacity)

    def forward(self, tokens: Tensor, cache: Cache, **how) -> Tensor:
        """The target's logits (B, T, V); `how` is for trees."""
        before = int(cache.length[0])
        logits = self.target.forward(tokens, cache, **how)
        self.passes.append((time.perf_counter(), before, before + tokens.shape[1]))
        return logits


class Text(NamedTuple):
    """What a decoder wrote after a prompt, and when its passes ended."""

    prompt: list[int]
    new: list[int]
    begun: float
    prompt_read: float
    marks: list[tuple[float, int]]  # of every pass that wrote: its end, and the tokens until then


class Racer:
    """A contestant's decoder on a watched target; it keeps the `texts` that it writes."""

    def __init__(self, make: Contestant, target: Llama, warp: Warp, tokens: int) -> None:
        self.target, self.texts = Watched(target), list[Text]()
        self.decoder: Decoder = make(self.target, warp, tokens)

    @torch.inference_mode()
    def __call__(self, prompts: list[list[int]]) -> Generation:
        """Decode. Raises WrongFunction if the target was never asked."""
        self.target.passes, begun = [], time.perf_counter()
        found = self.decoder(prompts)
        ended, new, start = time.perf_counter(), found.tokens[0], len(prompts[0])
        # The first pass that reaches the prompt's end gives the first token.
        afters = [after >= start for _, _, after in self.target.passes]
        if not any(afters):
            raise WrongFunction(f"it wrote {str(new):.40} without a pass of the target")
        first = afters.index(True)
        prompt_read = self.target.passes[first - 1][0] if first else begun
        marks = list(marked(self.target.passes[first:], start, len(new), ended))
        self.texts.append(Text(prompts[0], new, begun, prompt_read, marks))
        return found


def marked(
    passes: Sequence[tuple[float, int, int]], start: int, count: int, ended: float
) -> Iterator[tuple[float, int]]:
    """When each of `passes` ended, and how many of `count` new tokens stood by then.

    The cache lacks the text's last token. So what a pass wrote is known before the next one. The
    last pass ends with the text.
    """
    ends = [*(end for end, _, _ in passes[:-1]), ended]
    stood = [*(before + 1 - start for _, before, _ in passes[1:]), count]
    yield from zip(ends, accumulate((min(max(n, 0), count) for n in stood), max), strict=True)


def passes(texts: Sequence[Text], reading: bool) -> Iterator[list[Pass]]:
    """The passes that wrote each text, on a clock that goes on from text to text."""
    clock = 0.0
    for text in texts:
        begun, pieces = text.begun if reading else text.prompt_read, pieces_of(text)
        befores = [0, *(count for _, count in text.marks)]
        yield [
            Pass(clock + end - begun, pieces[before:count])
            for before, (end, count) in zip(befores, text.marks, strict=False)
        ]
        clock += text.marks[-1][0] - begun


def pieces_of(text: Text) -> list[str]:
    """What every new token adds to the text, a character with the token that completes it."""
    stream = TextStream(words(), text.prompt)
    return [stream.add(token) for token in text.new]


def shown(tokens: list[int]) -> str:
    """The text of `tokens`, without a last character that is not complete."""
    return words().decode(tokens, skip_special_tokens=False).rstrip("\ufffd")
