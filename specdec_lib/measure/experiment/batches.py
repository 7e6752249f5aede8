"""Several requests in one pass: tokens a second of the batch, and how long each request took."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tqdm import tqdm

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.device import wait_for
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import SAMPLED, choices
from specdec_lib.measure.core.timing import spread
from specdec_lib.measure.experiment.ours import Ours
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.models.protocol import Model

BATCHES = (1, 2, 4, 8)
KS = (2, 4)
TOKENS = 16


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
Serve = Callable[[Sequence[list[int]], int], list[float]]


def measure(ours: Ours, machine: Machine, target: str, draft: str) -> list[Served]:
    """Every batch by plain decoding and at every K, by turns, at temperature 1."""
    ways = ways_to_serve(ours, machine.targets[target], machine.drafts[draft])
    found = []
    for batch in tqdm(BATCHES, desc="batches", leave=False, disable=None):
        found += of_batch(batch, ways, machine.effort.rounds)
    return found


def ways_to_serve(ours: Ours, target: Model, draft: Model) -> dict[int, Serve]:
    """Plain decoding, as number 0, and speculative decoding at every K."""

    def plain(rows: Sequence[list[int]], seed: int) -> list[float]:
        return timed_rows(
            len(rows),
            lambda settings: plain_generate(
                target, rows, settings, choices(SAMPLED, seed, len(rows))
            ),
        )

    def blocks(k: int) -> Serve:
        def run(rows: Sequence[list[int]], seed: int) -> list[float]:
            made, drafter = choices(SAMPLED, seed, len(rows)), ModelDrafter(draft)
            return timed_rows(
                len(rows),
                lambda settings: speculative_generate(
                    target, drafter, rows, k, settings, made, ours.verifier
                ),
            )

        return run

    return {0: plain} | {k: blocks(k) for k in KS}


def of_batch(batch: int, ways: dict[int, Serve], rounds: int) -> list[Served]:
    """One batch in every way, `rounds` times by turns; of the first batch one more goes before."""
    rows, warm_up = prompts(batch), int(batch == BATCHES[0])
    ends: dict[int, list[list[float]]] = {k: [] for k in ways}
    for number in range(-warm_up, rounds):
        for k, serve in ways.items():
            taken = serve(rows, number + warm_up)
            if number >= 0:
                ends[k].append(taken)
    rates = {
        k: batch * TOKENS / spread([max(each) for each in runs]).median for k, runs in ends.items()
    }
    return [
        Served(
            batch, k, rates[k], rates[k] / rates[0],
            latency=spread([spread(each).median for each in ends[k]]).median,
            slowest=spread([max(each) for each in ends[k]]).median,
        )
        for k in ways
    ]  # fmt: skip


def timed_rows(rows: int, run: Callable[[Settings], object]) -> list[float]:
    """The seconds until every row had its last token."""
    ends = [0.0] * rows
    wait_for()
    start = time.perf_counter()

    def note(row: int, tokens: list[int]) -> None:
        ends[row] = time.perf_counter() - start

    run(Settings(TOKENS, SAMPLED, on_tokens=note))
    return ends
