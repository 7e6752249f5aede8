"""Decoders take turns: every few tokens, on one machine, with a clock for each that stands still
while others work. So a slow moment of the machine hits all of them in the same part of the text.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import torch

from specdec_lib.assets import ASSETS, tokenizer
from specdec_lib.decoding.state import Settings
from specdec_lib.device import leave_cores
from specdec_lib.measure.core import models
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.progress import Progress
from specdec_lib.measure.core.runs import choices
from specdec_lib.measure.race.contestants import Begin, Contestant, Whole, plain
from specdec_lib.measure.race.limits import Limits, TooSlow
from specdec_lib.measure.race.record import Lane, Pass, Race, cut
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.checkpoint import LayerWeights, read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import require_memory
from specdec_lib.models.scale import COSTS, grown_shape, parameters
from specdec_lib.sampling import Warp

PLAIN = "plain decoding"
TURN = 4  # tokens that every decoder writes in its turn; a pass may bring a few more
# Prompts by their number among those of the held-out Python files: the first ones whose greedy
# texts do not run in circles. A test finds them again.
TEXTS = (
    *(0, 2, 15, 19, 25, 35, 48, 50, 51, 52, 53, 56),
    *(59, 60, 61, 62, 63, 67, 73, 82, 92, 93, 98, 99),
)
COSTLY = ("234m", "40m")  # of scale.COSTS, in the order in which they are tried
LOADING = 0.75  # the share of the time that loading may take
MARGIN = 1.2  # a further text begins only if the time is enough for this many of the one before
LEAST = 24  # tokens that make a race
STOPPED = "Stopped at the time limit, with every decoder at the same token."
UNFINISHED = "\ufffd"  # what a tokenizer shows for bytes that are no character


def on_half_of_the_cores(run: Callable[..., Race]) -> Callable[..., Race]:
    """`run` with the threads of chapters 00 to 07; afterwards torch has those that it had."""

    @functools.wraps(run)
    def running(*args: Any, **more: Any) -> Race:
        threads = torch.get_num_threads()
        leave_cores()
        try:
            return run(*args, **more)
        finally:
            torch.set_num_threads(threads)

    return running


@on_half_of_the_cores
def measured(
    contestants: Mapping[str, Contestant],
    limits: Limits,
    tokens: int,
    texts: int | None,
    temperature: float,
    rows: int,
    reading: bool,
    cost: str,
    skip: int,
    progress: Progress,
) -> Race:
    """The race of `race.run`. TooSlow if it does not fit into its limits."""
    cost, target = costliest(cost, limits, progress)
    begins = {name: make(target) for name, make in {PLAIN: plain(), **contestants}.items()}
    settings = Settings(tokens, Warp(temperature))
    runners = {name: Runner(begin, settings, limits, reading) for name, begin in begins.items()}
    every = batches(texts, rows, skip)
    asked = every if texts else in_time(every, limits)
    tails = list(heat(runners, asked, limits, progress))
    lanes = cut([Lane(name, runner.texts) for name, runner in runners.items()])
    written = sum(map(len, lanes[0].pieces))
    if written < LEAST:
        raise TooSlow(f"this machine wrote {written} tokens in {limits.seconds:g} s")
    remarks = (STOPPED,) if written < tokens * (texts or len(tails)) else ()
    pair = f"the built-in target at the cost of {cost.upper()} parameters"
    return Race(lanes, tails[: len(lanes[0].texts)], pair, temperature, rows, remarks)


def costliest(cost: str, limits: Limits, progress: Progress) -> tuple[str, Llama]:
    """The target at `cost`, or at the next of COSTLY that loads in time. TooSlow if none does."""
    why = ""
    for size in COSTLY[COSTLY.index(cost) :]:
        try:
            shape = grown_shape(read_shape(ASSETS / "target"), COSTS[size])
            require_memory(parameters(shape), torch.float32, models.CPU)
            return size, loaded(size, limits, progress)
        except (TooSlow, PairError) as error:
            why = str(error)
    raise TooSlow(why)


def loaded(cost: str, limits: Limits, progress: Progress) -> Llama:
    """The target at `cost`; TooSlow as soon as its first layers tell that it takes too long."""
    weights = models.target_weights(cost, torch.float32)
    total, begun = weights.shape.layers, limits.spent

    def layers() -> Iterator[LayerWeights]:
        for done, layer in enumerate(weights.layers):
            needed = (limits.spent - begun) * total / max(done, 1)
            if begun + needed > LOADING * limits.seconds:
                raise TooSlow(f"loading a target would take {needed:.0f} s here")
            progress.say(f"loading the target: {done} of {total} layers")
            yield layer

    return Llama(replace(weights, layers=layers()))


def batches(texts: int | None, rows: int, skip: int = 0) -> Iterator[list[list[int]]]:
    """The prompts, `rows` at a time: of so many texts, or of all that there are after `skip`."""
    pool = prompts(max(TEXTS) + 1, ending=".py")
    chosen = [pool[number] for number in TEXTS]
    for i in range(skip, skip + texts if texts else len(chosen)):
        yield [chosen[(i + row) % len(chosen)] for row in range(rows)]


def in_time(batches: Iterable[list[list[int]]], limits: Limits) -> Iterator[list[list[int]]]:
    """Those of `batches` whose race fits into the time, if it takes as long as the one before."""
    took = 0.0
    for batch in batches:
        began = limits.spent
        if began + MARGIN * took > limits.seconds:
            return
        yield batch
        took = limits.spent - began


def heat(
    runners: Mapping[str, "Runner"],
    batches: Iterable[list[list[int]]],
    limits: Limits,
    progress: Progress,
) -> Iterator[str]:
    """Run all of `runners` over the prompts, by turns, until the time is over.

    Gives the end of every prompt, as text, before its race begins.
    """
    read = tokenizer(ASSETS)
    for number, batch in enumerate(batches):
        yield "".join(pieces_of(read, batch[0])).rsplit("\n", 3)[-1]
        for runner in runners.values():
            runner.begin(batch, number)
        for mark in count(TURN, TURN):
            if limits.spent > limits.seconds or not any(map(Runner.running, runners.values())):
                break
            progress.say(
                f"racing: text {number + 1}, {limits.spent:.0f} s of {limits.seconds:.0f} s"
            )
            for runner in runners.values():
                runner.advance(mark)
        for runner in runners.values():
            runner.finish(read)
        if limits.spent > limits.seconds:
            return


class Runner:
    """A contestant with its clock, and what it has written so far."""

    def __init__(self, begin: Begin, settings: Settings, limits: Limits, reading: bool) -> None:
        self.start, self.settings, self.limits, self.reading = begin, settings, limits, reading
        self.seconds = 0.0  # on its own clock
        self.texts: list[list[Pass]] = []

    @torch.inference_mode()
    def begin(self, batch: list[list[int]], seed: int) -> None:
        """Read the prompts of the next text."""
        drawn, began = choices(self.settings.warp, seed, len(batch)), self.limits.clock()
        self.run, self.step = self.start(batch, self.settings, drawn)
        if self.reading:
            self.seconds += self.limits.clock() - began
        self.first = len(batch[0])
        self.passes: list[tuple[float, int]] = []  # when each ended, and the tokens by then

    def running(self) -> bool:
        """Whether a row is not at its end."""
        return any(self.run.running)

    @property
    def written(self) -> int:
        """New tokens of the first row."""
        return len(self.run.sequences[0]) - self.first

    @torch.inference_mode()
    def advance(self, mark: int) -> None:
        """Go on to `mark` new tokens in the first row, or to the end of all rows after its own."""
        while self.running() and (self.written < mark or not self.run.running[0]):
            began = self.limits.clock()
            self.step()
            took = self.limits.clock() - began
            self.passes += self._passes(began, took)
            self.seconds += took

    def _passes(self, began: float, took: float) -> list[tuple[float, int]]:
        """The passes of one step: one, but for a decoder that writes its whole text in a step."""
        if not isinstance(self.run, Whole):
            return [(self.seconds + took, self.written)]
        ends = [(self.seconds + end - began, tokens) for end, tokens in self.run.marks()]
        return [*ends[:-1], (self.seconds + took, self.written)]

    def finish(self, read) -> None:
        """Keep the text in pieces. A text whose prompt took the last of the time has none."""
        if not self.passes:
            return
        pieces, before, passes = pieces_of(read, self.run.sequences[0])[self.first :], 0, []
        for ends, tokens in self.passes:
            passes.append(Pass(ends, pieces[before:tokens]))
            before = tokens
        self.texts.append(passes)


def pieces_of(read, tokens: list[int]) -> list[str]:
    """The text that every token adds, a character with the token that completes it."""
    pieces, shown = [], 0
    for end in range(1, len(tokens) + 1):
        text = read.decode(tokens[:end], skip_special_tokens=False).rstrip(UNFINISHED)
        pieces.append(text[shown:])
        shown = max(shown, len(text))
    return pieces
