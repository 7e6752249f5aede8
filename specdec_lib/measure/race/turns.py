"""Decoders take turns on whole texts, each with its own timer (measure/compare.py).

Of each pass of the target the end is recorded, and what the cache held before and after it. So any
decoder can take part, a reader's own one too.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from itertools import accumulate
from typing import NamedTuple

import pandas as pd
import torch
from tokenizers import Tokenizer

from specdec_lib.assets import tokenizer
from specdec_lib.decoding.state import Generation
from specdec_lib.device import use_half_the_cores
from specdec_lib.measure import models
from specdec_lib.measure.compare import Decoder, compare
from specdec_lib.measure.library_decoders import plain
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.race.lanes import LaneMaker, WrongFunction
from specdec_lib.measure.race.record import Lane, Race, TargetPass
from specdec_lib.measure.timing import PassRecorder, RecordedPass
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.protocol import EosIds, Model
from specdec_lib.sampling import Warp
from specdec_lib.text_stream import TextStream

PLAIN_LANE = "plain decoding"
# Greedy text of the built-in target soon runs in circles. These are the first five held-out prompts
# after which 96 tokens repeat at most a fifth of their 8-grams. Every race on code runs on them.
UNREPETITIVE_PROMPTS = 59, 175, 190, 248, 255
_WARM_UP = 8  # tokens that every decoder writes before the race

built_in_tokenizer = cache(tokenizer)


class Subject(NamedTuple):
    """What is written in a race: a target, and the prompts that it goes on from."""

    load_target: Callable[[], Model]  # within the threads of the race
    about: str  # what target and draft are, in words
    tokenizer: Tokenizer
    prompts: list[list[int]]
    shown: list[str]  # what a reader sees of each
    ends: EosIds = None


def held_out_code(count: int, cost: str) -> Subject:
    """The built-in target at a cost, and `count` held-out prompts, UNREPETITIVE_PROMPTS first."""
    pool = prompts(UNREPETITIVE_PROMPTS[-1] + count, ending=".py")
    others = [prompt for i, prompt in enumerate(pool) if i not in UNREPETITIVE_PROMPTS]
    chosen = [*(pool[i] for i in UNREPETITIVE_PROMPTS), *others][:count]
    about = f"the built-in target at the cost of {cost.upper()} parameters"
    load = partial(models.target_weights, cost, torch.float32)
    return code_after(chosen, lambda: Llama(load()), about)


def code_after(prompts: list[list[int]], load_target: Callable[[], Model], about: str) -> Subject:
    """Code that goes on from `prompts`, by a target with the built-in tokenizer."""
    shown = [_last_line(prompt) for prompt in prompts]
    return Subject(load_target, about, built_in_tokenizer(), prompts, shown)


def questions_to(pair: Pair, questions: Sequence[str]) -> Subject:
    """A chat pair, and the prompts in which `questions` are put to it."""
    prompts = [pair.start(pair.chat(question)) for question in questions]
    shown = [f"{question}\n\n" for question in questions]
    tokenizer = pair.tokenizer.backend_tokenizer
    return Subject(lambda: pair.target, pair.label, tokenizer, prompts, shown, pair.eos_id)


def run_race(
    lanes: Mapping[str, LaneMaker],
    *,
    tokens: int = 20,
    texts: int = 5,
    temperature: float = 0.0,
    rows: int = 1,
    cost: str = "234m",
    target: Llama | None = None,
    subject: Subject | None = None,
    seconds: float = 120.0,
) -> Race:
    """The race on the first `texts` prompts of `subject`, with `tokens` new tokens after each.

    The subject is by default the built-in target at a `cost`, with the same prompts in every race;
    it may have fewer prompts than `texts`. With `rows`, each decoder writes so many texts at a
    time, and the first is shown. A timer starts when the target has read the prompt. With `target`,
    which has that cost, torch keeps its threads; else it gets those of `use_half_the_cores`. No
    text begins once `seconds` are over, but the first one always runs. Only the subject's `ends`
    stop a decoder.
    Raises WrongFunction where a reader's own function is wrong.
    """
    warp = Warp(temperature)
    subject = subject or held_out_code(texts + rows - 1, cost)
    makers = {PLAIN_LANE: partial(plain, batch=True, eos_id=subject.ends), **lanes}
    starts = range(min(texts, len(subject.prompts) - rows + 1))
    batches = [subject.prompts[i : i + rows] for i in starts]
    with ExitStack() as afterwards:
        if target is None:  # the threads of chapters 00 to 07, and then those that torch had
            afterwards.callback(torch.set_num_threads, torch.get_num_threads())
            use_half_the_cores()
            target = subject.load_target()
        lanes = {name: (target, make) for name, make in makers.items()}
        runners, _ = run_lanes(lanes, batches, warp, tokens, seconds)
    finished = [runner.lane(name, False, subject) for name, runner in runners.items()]
    shown = subject.shown[: len(finished[0].texts)]
    cut = (f"{len(shown)} of {len(starts)} texts: time was up.",) * (len(shown) < len(starts))
    return Race(finished, shown, subject.about, temperature, rows, cut)


def run_lanes(
    lanes: Mapping[str, tuple[Model, LaneMaker]],
    batches: list,
    warp: Warp,
    tokens: int,
    seconds: float = math.inf,
) -> tuple[dict[str, "LaneRunner"], pd.DataFrame]:
    """Every lane, on a target of its own, on every batch, by turns: the runners, and their runs."""
    runners, short = (
        {name: LaneRunner(make, target, warp, count) for name, (target, make) in lanes.items()}
        for count in (tokens, _WARM_UP)
    )
    return runners, compare(runners, batches, seconds, warm_up=short)


class TimedText(NamedTuple):
    """What a decoder wrote after a prompt, and when its passes ended."""

    prompt: list[int]
    new_tokens: list[int]
    start: float
    prompt_read: float
    # Of every pass that wrote: its end, and the new tokens until then.
    tokens_after_pass: list[tuple[float, int]]


class LaneRunner:
    """The decoder of a lane on a recorded target; it keeps the `texts` that it writes."""

    def __init__(self, make: LaneMaker, target: Llama, warp: Warp, tokens: int) -> None:
        self.target, self.texts = PassRecorder(target), list[TimedText]()
        self.decoder: Decoder = make(self.target, warp, tokens)

    @torch.inference_mode()
    def __call__(self, prompts: list[list[int]]) -> Generation:
        """Decode. Raises WrongFunction if the target was never asked."""
        self.target.passes, start = [], time.perf_counter()
        generation = self.decoder(prompts)
        end = time.perf_counter()
        prompt, new_tokens, passes = prompts[0], generation.tokens[0], self.target.passes
        # The first pass that reaches the prompt's end gives the first token.
        first = next((i for i, one in enumerate(passes) if one.after >= len(prompt)), None)
        if first is None:
            raise WrongFunction(f"it wrote {str(new_tokens):.40} without a pass of the target")
        prompt_read = passes[first - 1].end if first else start
        counts = tokens_after_each_pass(passes[first:], len(prompt), len(new_tokens), end)
        self.texts.append(TimedText(prompt, new_tokens, start, prompt_read, list(counts)))
        return replace(generation, target_passes=len(passes))

    def lane(self, name: str, time_prompt: bool, subject: Subject) -> Lane:
        """What was written, as a lane of a race; with `time_prompt` the prompt's time counts."""
        return Lane(name, passes_of(self.texts, time_prompt, subject.tokenizer))


def tokens_after_each_pass(
    passes: Sequence[RecordedPass], prompt_length: int, count: int, end: float
) -> Iterator[tuple[float, int]]:
    """When each of `passes` ended, and how many of `count` new tokens stood by then.

    The cache lacks the text's last token. So what a pass wrote is known before the next one. The
    last pass ends with the text.
    """
    ends = [*(one.end for one in passes[:-1]), end]
    counts = [*(one.before + 1 - prompt_length for one in passes[1:]), count]
    within = (min(max(n, 0), count) for n in counts)
    yield from zip(ends, accumulate(within, max), strict=True)


def passes_of(
    texts: Sequence[TimedText], time_prompt: bool, tokenizer: Tokenizer
) -> list[list[TargetPass]]:
    """The passes that wrote each text, on a clock that goes on from text to text."""
    clock, by_text = 0.0, []
    for text in texts:
        start = text.start if time_prompt else text.prompt_read
        stream = TextStream(tokenizer, text.prompt)
        pieces = [stream.add(token) for token in text.new_tokens]
        passes, before = [], 0
        for end, count in text.tokens_after_pass:
            passes.append(TargetPass(clock + end - start, pieces[before:count]))
            before = count
        by_text.append(passes)
        clock += text.tokens_after_pass[-1][0] - start
    return by_text


def _last_line(tokens: list[int]) -> str:
    """The last line of a text, without a last character that is not complete."""
    text = built_in_tokenizer().decode(tokens, skip_special_tokens=False).rstrip("\ufffd")
    return text.rsplit("\n", 1)[-1]
