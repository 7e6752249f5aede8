"""Batches of every kind of text, plain and speculative by turns, as many rounds as there is time.

The batch is ragged: every row goes its own way, and a row that is done waits for the others.
Prompts are read before the clock starts. A round takes other prompts than the one before.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from statistics import mean, median
from typing import NamedTuple

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.measure.core.interval import Rate, of_ratios, rate
from specdec_lib.measure.core.runs import SAMPLED, choices
from specdec_lib.models.protocol import Model

LEAST, MOST = 3, 12  # rounds of a batch: fewer than 3 give no interval worth the name
GROWS = 0.7  # a round of a larger batch takes longer, by about this power of the batch

Prompts = Sequence[list[int]]
Clock = Callable[[], float]
# Generates after all prompts as one batch.
Generate = Callable[[Prompts, Settings], Generation]


class Served(NamedTuple):
    """One batch: the seconds of all of it and of its median request; tokens and passes by row."""

    seconds: float
    request: float
    kept: list[int]
    blocks: list[int]


class Pair(NamedTuple):
    """The same prompts, served by plain and by speculative decoding."""

    plain: Served
    speculative: Served


class Row(NamedTuple):
    """A kind of text at a size of batch. Milliseconds are those of a token of the median request;
    `speedup` and `tokens_a_block` are each a value and its 95% interval.
    """

    kind: str
    batch: int
    rounds: int
    plain_tokens_a_second: float
    tokens_a_second: float
    plain_ms: float
    ms: float
    speedup: tuple[float, float, float]
    tokens_a_block: tuple[float, float, float]


def ways(target: Model, drafter: Drafter, k: int) -> tuple[Generate, Generate]:
    """Plain and speculative decoding at temperature 1, with another seed at every call."""
    seeds = count()

    def plain(prompts: Prompts, settings: Settings) -> Generation:
        drawn = choices(SAMPLED, next(seeds), len(prompts))
        return plain_generate(target, prompts, settings, drawn)

    def speculative(prompts: Prompts, settings: Settings) -> Generation:
        drawn = choices(SAMPLED, next(seeds), len(prompts))
        return speculative_generate(target, drafter, prompts, k, settings, drawn)

    return plain, speculative


def served(generate: Generate, prompts: Prompts, tokens: int, clock: Clock) -> Served:
    """Serve one batch of `tokens` new tokens a row."""
    ends, start = [0.0] * len(prompts), clock()

    def note(row: int, new: list[int]) -> None:
        ends[row] = clock() - start

    run = generate(prompts, Settings(tokens, SAMPLED, on_tokens=note))
    reading = clock() - start - run.seconds
    kept = [sum(block.kept for block in row) for row in run.blocks]
    return Served(run.seconds, median(ends) - reading, kept, [len(row) for row in run.blocks])


def measure(
    both: tuple[Generate, Generate],
    texts: Mapping[str, Prompts],
    batches: Sequence[int],
    tokens: int,
    seconds: float,
    say: Callable[[str], None] = print,
    clock: Clock = time.perf_counter,
) -> list[Row]:
    """The rows of every batch that fits into `seconds`, the smallest batch first.

    The time that is left is shared so that all batches have about as many rounds, LEAST or more. If
    these do not fit, this batch and all larger ones are left out, and that is said.
    """
    rows, end = list[Row](), clock() + seconds
    one_round(both, texts, batches[0], tokens, 0, clock)  # what is done for the first time
    for i, batch in enumerate(batches):
        left = end - clock()
        share = left * batch**GROWS / sum(each**GROWS for each in batches[i:])
        found = rounds_within(
            lambda number, batch=batch: one_round(both, texts, batch, tokens, number, clock),
            share,
            left,
            clock,
        )
        if not found:
            say(f"Left out: batches from {batch} on. Less than {left:.0f} s were left.")
            break
        say(f"batch {batch}: {len(found)} rounds")
        rows += [row_of(kind, batch, [each[kind] for each in found], tokens) for kind in texts]
    return rows


def rounds_within(
    task: Callable[[int], dict[str, Pair]], share: float, left: float, clock: Clock
) -> list[dict[str, Pair]]:
    """Rounds until `share` seconds are over, LEAST to MOST; none if LEAST need more than `left`."""
    start, found = clock(), list[dict[str, Pair]]()
    while len(found) < MOST:
        spent = clock() - start
        once = spent / max(len(found), 1)
        if len(found) >= LEAST and spent + once > share:
            break
        if len(found) == 1 and LEAST * once > left:
            return []
        found.append(task(len(found)))
    return found


def one_round(
    both: tuple[Generate, Generate],
    texts: Mapping[str, Prompts],
    batch: int,
    tokens: int,
    number: int,
    clock: Clock,
) -> dict[str, Pair]:
    """Every kind once, plain and then speculative, on the prompts of this round."""
    found = {}
    for kind, prompts in texts.items():
        chosen = [prompts[(number * batch + row) % len(prompts)] for row in range(batch)]
        found[kind] = Pair(*(served(each, chosen, tokens, clock) for each in both))
    return found


def row_of(kind: str, batch: int, pairs: Sequence[Pair], tokens: int) -> Row:
    """The means of a kind's rounds, and the intervals."""
    plainly, fast = zip(*pairs, strict=True)
    blocks = rate(
        [n for each in fast for n in each.kept], [n for each in fast for n in each.blocks]
    )
    return Row(
        kind,
        batch,
        len(pairs),
        *(batch * tokens / mean(each.seconds for each in side) for side in (plainly, fast)),
        *(1000 * mean(each.request for each in side) / tokens for side in (plainly, fast)),
        of_ratios([slow.seconds / quick.seconds for slow, quick in pairs]),
        ends(blocks),
    )


def ends(found: Rate) -> tuple[float, float, float]:
    """A rate and its interval; with a single row the interval is the rate itself."""
    low, high = (found.value if end is None else end for end in (found.low, found.high))
    return found.value, low, high
