"""Several requests in one pass: tokens a second of the batch, and how long each request took."""

import time
from collections.abc import Callable, Iterator
from itertools import count
from statistics import median
from typing import Any

import pandas as pd

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.device import wait_for
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import SAMPLED, choices
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.progress import progress

BATCHES = (1, 2, 4, 8)
KS = (0, 2, 4)  # 0 is plain decoding
PROMPT, TOKENS, ROUNDS = 16, 16, 2  # tokens of a prompt, and those after it


def measure(loop: Loop, machine: Machine, target: str, draft: str) -> pd.DataFrame:
    """Every batch by plain decoding and at every K, by turns, at temperature 1.

    `gain` is over plain decoding of the same batch. `median request` and `last request` are seconds
    from the start.
    """
    models, rows = (machine.targets[target], machine.drafts[draft]), []
    rounds = machine.times(ROUNDS)
    for batch in progress(BATCHES, "batches"):
        ends: dict[int, list[list[float]]] = {k: [] for k in KS}
        ways = {k: way_to_serve(loop, models, batch, k, ends[k].append) for k in KS}
        interleaved(ways, rounds, warm_up=int(batch == BATCHES[0]))
        rows += rows_of(batch, {k: each[-rounds:] for k, each in ends.items()})
    return pd.DataFrame(rows)


def rows_of(batch: int, ends: dict[int, list[list[float]]]) -> Iterator[dict[str, Any]]:
    """The rows of a batch, from the seconds after which each request ended, run by run."""
    last = {k: median(max(run) for run in runs) for k, runs in ends.items()}
    for k, runs in ends.items():
        yield {
            "batch": batch,
            "K": k,
            "tokens a second": batch * TOKENS / last[k],
            "gain": last[0] / last[k],
            "median request": median(median(run) for run in runs),
            "last request": last[k],
        }


def way_to_serve(
    loop: Loop, models: tuple, batch: int, k: int, note: Callable[[list[float]], None]
) -> Callable[[], None]:
    """A task that serves a batch at K = `k` and notes when every request ended.

    It has another seed at every call.
    """
    target, draft = models
    texts, seeds = prompts(batch, PROMPT), count()

    def serve() -> None:
        ends = [0.0] * batch
        wait_for()
        start = time.perf_counter()

        def written(row: int, tokens: list[int]) -> None:
            ends[row] = time.perf_counter() - start

        settings = Settings(TOKENS, SAMPLED, on_tokens=written)
        drawn = choices(SAMPLED, next(seeds), batch)
        if k == 0:
            plain_generate(target, texts, settings, drawn)
        else:
            drafter = ModelDrafter(draft)
            speculative_generate(target, drafter, texts, k, settings, drawn, loop.verifier)
        note(ends)

    return serve
