"""Times that can be compared on a machine whose speed drifts: interleaved, and as ratios."""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from tqdm import tqdm

from specdec_lib.device import wait_for
from specdec_lib.measure.core.progress import Progress

Key = TypeVar("Key")
Figure = TypeVar("Figure")
Prompt = TypeVar("Prompt")


@dataclass(frozen=True)
class Spread:
    """A median and the quartiles beside it; of a single value all three are this value."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.median:.2f} (one turn: no quartiles)"
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Picked:
    """One of several values, such as the least or the median, with all of them by name."""

    value: float
    among: Mapping[str, float]


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles; of one value, that value."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def ratios(slower: Sequence[float], faster: Sequence[float]) -> Spread:
    """How many times as long `slower` takes, pair by pair."""
    return spread([one / other for one, other in zip(slower, faster, strict=True)])


def timed(task: Callable[[], object]) -> float:
    """The seconds that `task` takes, until the GPU is done if there is one."""
    wait_for()
    start = time.perf_counter()
    task()
    wait_for()
    return time.perf_counter() - start


def interleaved(
    tasks: Mapping[Key, Callable[[], object]],
    rounds: int,
    warm_up: int = 1,
    measure: Callable[[Callable[[], object]], Figure] = timed,
) -> dict[Key, list[Figure]]:
    """The seconds of every task in every round, all tasks once a round, one after the other.

    The first `warm_up` rounds are not counted. `measure` may take another figure of a task.
    """
    figures: dict[Key, list[Figure]] = {key: [] for key in tasks}
    for number in range(warm_up + rounds):
        for key, task in tasks.items():
            figure = measure(task)
            if number >= warm_up:
                figures[key].append(figure)
    return figures


def within(
    tasks: Mapping[Key, Callable[[], object]],
    seconds: float,
    most: int,
    say: Callable[[str], None] = print,
) -> dict[Key, list[float]]:
    """As `interleaved`, in as many rounds as fit into about `seconds`: at least 2, at most `most`.

    A first round, not counted, tells how long one takes. Rounds that are left out are said.
    """
    once = timed(lambda: [task() for task in tasks.values()])
    rounds = max(2, min(most, int(seconds / once)))
    figures: dict[Key, list[float]] = {key: [] for key in tasks}
    progress = Progress()
    for number in range(rounds):
        progress.say(f"measuring: round {number + 1} of {rounds}")
        for key, times in interleaved(tasks, 1, warm_up=0).items():
            figures[key] += times
    progress.end()
    if rounds < most:
        say(f"{rounds} rounds, not {most}, since one takes {once:.1f} s and there are {seconds:g}.")
    return figures


def for_seconds(
    tasks: Mapping[Key, Callable[[], object]], seconds: float, least: int = 10
) -> dict[Key, list[float]]:
    """As `interleaved`, for at least `seconds` and at least `least` rounds.

    A first round, not counted, tells how long one takes.
    """
    once = timed(lambda: [task() for task in tasks.values()])
    return interleaved(tasks, max(least, math.ceil(seconds / once)), warm_up=0)


def on_prompts(
    decoders: Mapping[Key, Callable[[Prompt], object]],
    prompts: Sequence[Prompt],
    rounds: int,
    warm_up: int = 1,
    seconds: float = math.inf,
) -> dict[Key, list[float]]:
    """The seconds of every decoder on every prompt in every round, interleaved on each prompt.

    On the first prompt, `warm_up` rounds before the others are not counted: what is done for the
    first time is slower. Once all of them have taken `seconds`, the prompts that are left are left
    out, and that is said.
    """
    taken: dict[Key, list[float]] = {key: [] for key in decoders}
    progress = Progress()
    for number, prompt in enumerate(tqdm(prompts, desc="prompts", leave=False, disable=None)):
        if sum(map(sum, taken.values())) >= seconds:
            print(f"{number} of {len(prompts)} prompts were run, since {seconds:g} s are over.")
            break
        tasks = {key: partial(decoder, prompt) for key, decoder in decoders.items()}
        for key, times in interleaved(tasks, rounds, 0 if number else warm_up).items():
            taken[key] += times
        progress.say(f"measuring: {number + 1} of {len(prompts)} prompts are done")
    progress.end()
    return taken


def on_turns(
    decoders: Mapping[Key, Callable[[Prompt], object]], turns: Iterable[Prompt], rounds: int = 1
) -> dict[Key, list[float]]:
    """As `on_prompts`, for prompts that are handed out one by one as long as there is time.

    Whoever hands them out shows how far it is. One round more goes before the first.
    """
    taken: dict[Key, list[float]] = {key: [] for key in decoders}
    for number, prompt in enumerate(turns):
        tasks = {key: partial(decoder, prompt) for key, decoder in decoders.items()}
        for key, times in interleaved(tasks, rounds, warm_up=int(number == 0)).items():
            taken[key] += times
    return taken
