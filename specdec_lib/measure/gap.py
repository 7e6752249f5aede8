"""What a formula promises, what a decoder does, and where the time between the two goes.

A decoder runs on models that keep a clock. What is not spent in their passes is the host's: Python
that draws tokens, compares them and moves caches. Prompts are read before any clock starts.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from specdec_lib.decoding.state import Generation
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.disturbance import Times
from specdec_lib.measure.core.runs import SAMPLED, Decoder, plain, speculative
from specdec_lib.measure.core.timing import on_prompts
from specdec_lib.measure.quiet.runs import Runs
from specdec_lib.measure.strategies import Measured
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Cache
from specdec_lib.theory import Costs, walltime_speedup

Speedup = Callable[..., float]  # (alpha, c, k, verify_cost)

TOKENS, SECONDS = 48, 8.0  # new tokens of a text; of all texts together, about


class Clocked:
    """A model that keeps the seconds of its passes."""

    def __init__(self, model: Llama) -> None:
        self.model, self.seconds = model, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def forward(self, tokens: Tensor, cache: Cache, **how: Any) -> Tensor:
        """The model's logits (B, T, V)."""
        begun = time.perf_counter()
        logits = self.model.forward(tokens, cache, **how)
        self.seconds += time.perf_counter() - begun
        return logits


class Accounted:
    """A decoder that notes of every text the seconds, those outside of passes, and the passes."""

    def __init__(self, decoder: Decoder, models: Sequence[Clocked]) -> None:
        self.decoder, self.models, self.notes = decoder, models, list[tuple[float, float, float]]()

    def __call__(self, prompt: list) -> Generation:
        """Decode."""
        for model in self.models:
            model.seconds = 0.0
        begun = time.perf_counter()
        generation = self.decoder(prompt)
        # Passes that read the prompt are outside of generation.seconds, and so of the host's.
        whole = time.perf_counter() - begun
        host = whole - sum(model.seconds for model in self.models)
        self.notes.append((generation.seconds, host, generation.target_passes))
        return generation


def texts(
    target: Llama, draft: Llama, k: int, prompts: Sequence[list[int]], seconds: float = SECONDS
) -> Times:
    """Plain and speculative decoding by turns, TOKENS new tokens after each prompt.

    By decoder the seconds of every text, and under "plain, host", "plain, passes" and so on what
    of them no pass took, and the number of the target's passes.
    """
    first, second, small = Clocked(target), Clocked(target), Clocked(draft)
    fast = speculative(second, ModelDrafter(small), k, SAMPLED, TOKENS)
    decoders = {
        "plain": Accounted(plain(first, SAMPLED, TOKENS), [first]),
        "speculative": Accounted(fast, [second, small]),
    }
    taken = on_prompts(decoders, prompts, rounds=1, seconds=seconds)
    found: dict[str, list[float]] = {}
    for name, decoder in decoders.items():
        kept = decoder.notes[-len(taken[name]) :]  # without the round that warms up
        columns = map(list, zip(*kept, strict=True))
        keys = (name, f"{name}, host", f"{name}, passes")
        found.update(zip(keys, columns, strict=True))
    return found


@dataclass(frozen=True)
class Step:
    """The formula's times with one cost more than in the step before."""

    name: str
    c: float
    verify_cost: float


@dataclass(frozen=True)
class Account:
    """What a decoder did with `k` draft tokens in a block; times in bare passes over one token."""

    k: int
    plain_host: float  # of a token
    block_host: float
    tokens_a_block: float
    measured: float  # times as fast as plain decoding
    by_text: list[float]


def account(times: Times, k: int) -> Account:
    """The means of what `texts` measured."""
    total = {key: sum(each) for key, each in times.items()}
    written, blocks = total["plain, passes"], total["speculative, passes"]
    one_pass = (total["plain"] - total["plain, host"]) / written
    pairs = zip(times["plain"], times["speculative"], strict=True)
    return Account(
        k=k,
        plain_host=total["plain, host"] / written / one_pass,
        block_host=total["speculative, host"] / blocks / one_pass,
        tokens_a_block=written / blocks,
        measured=total["plain"] / total["speculative"],
        by_text=[slow / fast for slow, fast in pairs],
    )


def steps(found: Account, costs: Costs, again: float) -> list[Step]:
    """The promise, and in each step after it one cost more.

    `costs.c` is a draft step after a target pass, `again` one after another draft step. The host
    makes plain tokens longer too, so the last step counts in plain tokens.
    """
    k, v = found.k, costs.v[found.k + 1]
    mixed = (costs.c + (k - 1) * again) / k
    token = 1 + found.plain_host
    return [
        Step("the promise", again, 1.0),
        Step(f"verification: a pass over {k + 1} tokens", again, v),
        Step("cold cache: the first draft step", mixed, v),
        Step("host: Python between the passes", mixed / token, (v + found.block_host) / token),
    ]


def accounts(
    run: Runs, rows: Mapping[str, Measured]
) -> Iterator[tuple[float, Account, list[Step]]]:
    """Alpha, the account and its steps of every race in `run`, by (draft, K)."""
    for (draft, k), times in run.items():
        found, row = account(times, k), rows[draft]
        yield row.alpha, found, steps(found, row.costs, row.again)


def usable(speedup: Speedup) -> Speedup:
    """A student's `walltime_speedup`, with the library's where it does not run."""

    def either(alpha: float, c: float, k: int, verify_cost: float = 1.0) -> float:
        try:
            return float(speedup(alpha, c, k, verify_cost))
        except Exception:  # whatever a half-written function does
            return walltime_speedup(alpha, c, k, verify_cost)

    return either


def best(rows: Mapping[str, Measured], speedup: Speedup) -> tuple[str, int]:
    """The draft and the K of which `speedup`, with the measured times, says most."""

    def promised(turn: tuple[str, int]) -> float:
        row, k = rows[turn[0]], turn[1]
        return speedup(row.alpha, row.costs.c, k, row.costs.v[k + 1])

    return max(((name, m - 1) for name in rows for m in rows[name].costs.v if m > 1), key=promised)
