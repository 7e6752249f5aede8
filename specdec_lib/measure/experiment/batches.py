"""Several requests in one pass: tokens a second of the batch, and how long each request took."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from statistics import median
from typing import NamedTuple

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.device import wait_for
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.disturbance import Times
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import SAMPLED, choices
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.measure.experiment.budget import BATCHES as PART
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.protocol import Model

BATCHES = (1, 2, 4, 8)
KS = (2, 4)
PROMPT, TOKENS = 16, 16  # tokens of a prompt, and those after it: what counts is the writing
MIDDLE, LAST = "the median request", "the last request"
GROWS = 1.75  # times as long as the last batch a twice as large one takes at most


class Served(NamedTuple):
    """A batch at K = `k`, 0 for plain decoding.

    `gain` is over plain decoding of the same batch. `latency` and `slowest` are the median request
    and the last one, in seconds from the start.
    """

    batch: int
    k: int
    tokens_a_second: float
    gain: float
    latency: float
    slowest: float


# Runs a batch and gives the seconds after which every row had its last token.
Serve = Callable[[], list[float]]


def measure(loop: Loop, machine: Machine, target: str, draft: str) -> Mapping[str, Times]:
    """Every batch by plain decoding and at every K, interleaved, at temperature 1.

    By batch, as text, the seconds of the median request and of the last one (`task_name`). Where
    the budget is short the largest batches are left out.
    """
    models = machine.targets[target], machine.drafts[draft]
    runs = {}
    with machine.budget.part(PART) as part:
        for batch in part.each(BATCHES, "batches, the largest", GROWS):
            rows = prompts(batch, PROMPT)
            ways = {k: way_to_serve(loop, *models, rows, k) for k in (0, *KS)}
            runs[str(batch)] = of_batch(batch, ways, machine.effort.rounds)
    return runs


def task_name(k: int, request: str) -> str:
    """The name of the times of a `request` (MIDDLE or LAST) at K = `k`."""
    return f"{request}, K = {k}"


def way_to_serve(
    loop: Loop, target: Model, draft: Model, rows: Sequence[list[int]], k: int
) -> Serve:
    """Speculative decoding with K = `k`, or with k = 0 plain decoding; another seed every time."""
    seeds = count()

    def run(settings: Settings) -> None:
        drawn = choices(SAMPLED, next(seeds), len(rows))
        if k == 0:
            plain_generate(target, rows, settings, drawn)
        else:
            drafter = ModelDrafter(draft)
            speculative_generate(target, drafter, rows, k, settings, drawn, loop.verifier)

    return lambda: timed_rows(len(rows), run)


def of_batch(batch: int, ways: Mapping[int, Serve], rounds: int) -> dict[str, list[float]]:
    """One batch in every way, `rounds` times; of the first batch one more goes before."""
    first = int(batch == BATCHES[0])
    ends = interleaved(ways, rounds, warm_up=first, measure=lambda serve: serve())
    middle = {task_name(k, MIDDLE): [median(each) for each in runs] for k, runs in ends.items()}
    return middle | {task_name(k, LAST): [max(each) for each in runs] for k, runs in ends.items()}


def served(measured: Mapping[str, Times]) -> list[Served]:
    """Every batch at every K, from its times."""
    return [
        at_k(int(batch), k, times)
        for batch, times in measured.items()
        for k in (0, *KS)
        if task_name(k, LAST) in times
    ]


def at_k(batch: int, k: int, times: Times) -> Served:
    """The medians of a batch at K = `k`."""
    middle, last, plain = (
        median(times[task_name(*each)]) for each in ((k, MIDDLE), (k, LAST), (0, LAST))
    )
    return Served(batch, k, batch * TOKENS / last, plain / last, middle, last)


def timed_rows(rows: int, run: Callable[[Settings], object]) -> list[float]:
    """The seconds until every row had its last token."""
    ends = [0.0] * rows
    wait_for()
    start = time.perf_counter()

    def note(row: int, tokens: list[int]) -> None:
        ends[row] = time.perf_counter() - start

    run(Settings(TOKENS, SAMPLED, on_tokens=note))
    return ends
