"""A service of chapter 06: requests arrive, a server decodes them together, and a policy sets K.

Arrivals and acceptances are drawn beforehand from a fixed seed. So a policy has one number, and two
policies meet the same requests.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from specdec_lib.lessons.ch00.lesson import LLAMA, MACHINES, Chip
from specdec_lib.lessons.checking.lending import read_only
from specdec_lib.lessons.checking.pasting import as_code

_PATH = Path(__file__).with_name("passes.json")
SHORT_TEXT, LONG_TEXT = 64, 448  # tokens in each row's cache of the recorded passes
DRAFT_COST_RATIO = 1 / 20  # of the target's parameters and cache, in `roofline`
# With a twentieth of its arithmetic, 16 rows fill an H100 as 300 rows fill a whole one.
_H100 = MACHINES["H100"]
GPU = _H100._replace(peak_flops=_H100.peak_flops / 20)
MAX_ROWS = 16  # rows of its server
MAX_K = 8  # draft tokens of its longest block
MUCH_TEXT = 16_000  # tokens in each of 16 caches, which fit into its memory

# From queue_length, running, and how many draft tokens would pass in each row, the K of a step.
Policy = Callable[[int, int, Sequence[int]], int]
# So many requests, with this mean gap in ms, of so many tokens each.
Phases = Sequence[tuple[int, float, int]]


class Arrival(NamedTuple):
    """When it arrives, in ms; for each of its tokens, how many draft tokens pass from there on."""

    arrives: float
    ahead: tuple[int, ...]


class Traffic(NamedTuple):
    """Requests in the order in which they arrive, and their acceptance rate."""

    requests: list[Arrival]
    alpha: float


def traffic(seed: int, phases: Phases, alpha: float = 0.7) -> Traffic:
    """Poisson arrivals, phase after phase; every draft token passes with `alpha`."""
    rng = np.random.default_rng(seed)
    gaps = np.concatenate([rng.exponential(gap, count) for count, gap, _ in phases])
    lengths = [tokens for count, _, tokens in phases for _ in range(count)]
    rows = zip(np.cumsum(gaps).tolist(), lengths, strict=True)
    return Traffic([Arrival(at, _runs(rng.random(n) < alpha)) for at, n in rows], alpha)


def _runs(passed: np.ndarray) -> tuple[int, ...]:
    """How many in a row pass, from each place on."""
    runs = [0]
    for accepted in passed[::-1].tolist():
        runs.append((runs[-1] + 1) * accepted)
    return tuple(runs[:0:-1])


def simulate(decide: Policy, load: Traffic, costs: np.ndarray) -> np.ndarray:
    """Milliseconds (N,) from each request's arrival to its last token.

    `costs` (B + 1, K + 1) are those of `choose_k`. Before every step the policy decides; then
    waiting requests are taken in until B rows run, and every row writes its block.
    """
    requests, table = load.requests, costs.tolist()
    clock, arrived, started = 0.0, 0, 0
    rows: list[list[int]] = []  # a request's number, and the tokens that it has
    latency = np.zeros(len(requests))
    while rows or started < len(requests):
        if not rows and started == arrived:
            clock = max(clock, requests[started].arrives)
        while arrived < len(requests) and requests[arrived].arrives <= clock:
            arrived += 1
        state = arrived - started, len(rows)
        while started < arrived and len(rows) < len(table) - 1:
            rows.append([started, 0])
            started += 1
        ahead = [requests[number].ahead[at] for number, at in rows]
        k = decide(*state, ahead)
        clock += table[len(rows)][k]
        rows = [[row[0], row[1] + min(n, k) + 1] for row, n in zip(rows, ahead, strict=True)]
        for number, _ in rows:
            latency[number] = clock - requests[number].arrives
        rows = [row for row in rows if row[1] < len(requests[row[0]].ahead)]
    return latency


def p99(decide: Policy, load: Traffic, costs: np.ndarray) -> float:
    """The milliseconds that 99 in a hundred requests do not exceed."""
    return float(np.quantile(simulate(decide, load, costs), 0.99, method="inverted_cdf"))


def constant(k: int) -> Policy:
    """The policy that always drafts `k`."""
    return lambda queue_length, running, ahead: k


class BestK(NamedTuple):
    """The constant K of the lowest p99, and this p99 in ms."""

    k: int
    p99: float


def best_fixed_k(load: Traffic, costs: np.ndarray) -> BestK:
    """The best of the policies that always draft the same."""
    p99s = {k: p99(constant(k), load, costs) for k in range(costs.shape[1])}
    k = min(p99s, key=p99s.__getitem__)
    return BestK(k, p99s[k])


def oracle(costs: np.ndarray) -> Policy:
    """The policy that is told how many draft tokens would pass: the most tokens for the time."""
    table = costs.tolist()

    def decide(queue_length: int, running: int, ahead: Sequence[int]) -> int:
        times = table[len(ahead)]
        tokens = [sum(min(n, k) + 1 for n in ahead) for k in range(len(times))]
        return max(range(len(times)), key=lambda k: tokens[k] / times[k])

    return decide


def policy(choose_k: Callable, alpha: float, costs: np.ndarray) -> Policy:
    """A student's function as a policy; it is asked once for each queue_length and running."""

    @cache
    def choose(queue_length: int, running: int) -> int:
        return choose_k(queue_length, running, alpha, costs)

    return lambda queue_length, running, ahead: choose(queue_length, running)


# Calm and rush, twice: few long answers, then many short ones, almost more than fit.
DAY = traffic(2, [(50, 1000, 64), (150, 5.7, 16)] * 2)


@cache
def cpu(context: int) -> np.ndarray:
    """`costs` (9, 7) in ms from the recorded passes, with so many tokens in each row's cache."""
    passes = json.loads(_PATH.read_text(encoding="utf-8"))["contexts"][str(context)]
    target, draft = np.array(passes["target"]), np.array(passes["draft"])
    steps = target + np.arange(target.shape[1]) * draft[:, None]
    return read_only(np.vstack([np.zeros(target.shape[1]), steps]))


def pass_seconds(
    new: np.ndarray | int, machine: Chip, rows: np.ndarray | int = 1, context: int = 0
) -> np.ndarray:
    """Seconds of a pass of Llama 3.1 8B over `new` tokens in all, by the roofline of chapter 00.

    `context` tokens of text stand in the cache of each of the `rows`; each new token attends to
    those of its row. Numbers, or arrays that fit together.
    """
    reading = (2 * LLAMA.n_params + rows * context * LLAMA.kv_bytes) / machine.bandwidth
    flops = 2 * LLAMA.n_params + context * LLAMA.attention_flops
    return np.maximum(reading, new * flops / machine.peak_flops)


def roofline(context: int, rows: int, k_max: int, machine: Chip = _H100) -> np.ndarray:
    """`costs` (rows + 1, k_max + 1) in ms of Llama 3.1 8B, with so much text in each row's cache.

    The draft has DRAFT_COST_RATIO of the target's parameters, of its cache and of its attention.
    """
    batch, k = np.arange(rows + 1)[:, None], np.arange(k_max + 1)
    target = pass_seconds((k + 1) * batch, machine, batch, context)
    draft = DRAFT_COST_RATIO * pass_seconds(batch, machine, batch, context)
    return read_only(1000 * (target + k * draft) * (batch > 0))


@cache
def gpu(context: int) -> np.ndarray:
    """`costs` (17, 9) in ms of the small GPU, with so many tokens of text in each row's cache."""
    return roofline(context, MAX_ROWS, MAX_K, GPU)


def costs_as_code(costs: np.ndarray) -> str:
    """A table of costs as code: by what makes it, or by its numbers."""
    made = [("gpu", gpu, text) for text in (0, MUCH_TEXT)]
    made += [("cpu", cpu, text) for text in (SHORT_TEXT, LONG_TEXT)]
    names = (f"service.{name}({text})" for name, make, text in made if make(text) is costs)
    return next(names, as_code(costs))


def fits(context: int, rows: int) -> bool:
    """Whether weights and caches of `roofline` fit into the H100's memory, the draft's too."""
    held = 2 * LLAMA.n_params + rows * context * LLAMA.kv_bytes
    return (1 + DRAFT_COST_RATIO) * held <= _H100.memory
