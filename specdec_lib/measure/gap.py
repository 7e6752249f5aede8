"""What a formula promises, what a decoder does, and where the time between the two goes.

The decoders run on models that time their passes. The time outside the passes is the host's:
Python that draws tokens, compares them and moves caches. No time includes the prompt.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from torch import Tensor

from specdec_lib.decoding.state import Generation
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.compare import compare, ratios
from specdec_lib.measure.costs import K_MAX
from specdec_lib.measure.runs import SAMPLED, Decoder, plain, speculative
from specdec_lib.measure.strategies import Measured
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Cache
from specdec_lib.theory import Costs, walltime_speedup

TOKENS, SECONDS = 48, 60.0  # new tokens of a text; no text begins after so many seconds


class Clocked:
    """A model that notes its passes: the tokens in the cache after each, and its seconds."""

    def __init__(self, model: Llama) -> None:
        self.model, self.passes = model, list[tuple[int, float]]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def forward(self, tokens: Tensor, cache: Cache, **how: Any) -> Tensor:
        """The model's logits (B, T, V)."""
        begun = time.perf_counter()
        logits = self.model.forward(tokens, cache, **how)
        seconds = time.perf_counter() - begun
        self.passes.append((int(cache.length[0]), seconds))
        return logits


def noted(decoder: Decoder, *models: Clocked) -> tuple[Decoder, list[tuple[float, float]]]:
    """`decoder`, and a list that gets the seconds of every text and of its passes in `models`."""
    notes = []

    def run(prompt: list) -> Generation:
        for model in models:
            model.passes.clear()
        generation = decoder(prompt)
        passes = [each for model in models for each in model.passes]
        # The prompt is read but for its last token. No pass that writes leaves so few.
        inside = sum(seconds for held, seconds in passes if held >= len(prompt))
        notes.append((generation.seconds, inside))
        return generation

    return run, notes


def texts(target: Llama, draft: Llama, k: int, prompts: Sequence[list[int]]) -> pd.DataFrame:
    """`compare` of "plain" and "speculative" decoding, TOKENS new tokens after each prompt.

    The seconds are without the prompt; those `inside` the passes of target and draft are a column.
    """
    first, second, small = Clocked(target), Clocked(target), Clocked(draft)
    fast = speculative(second, ModelDrafter(small), k, SAMPLED, TOKENS)
    decoders = {
        "plain": noted(plain(first, SAMPLED, TOKENS), first),
        "speculative": noted(fast, second, small),
    }
    frame = compare({name: run for name, (run, _) in decoders.items()}, prompts, SECONDS)
    frame["inside"] = 0.0
    for name, (_, notes) in decoders.items():  # the first turn warms up
        frame.loc[frame.decoder == name, ["seconds", "inside"]] = notes[1:]
    return frame


class Account(NamedTuple):
    """Where a promised speed-up went: from the promise, step by step, to the measured one.

    Each step has a name, and the c and v(k + 1) of the formula with one cost more.
    """

    alpha: float
    k: int
    steps: dict[str, tuple[float, float]]
    tokens_a_block: float
    measured: float  # times as fast as plain decoding
    by_text: list[float]
    tokens: int  # new ones of each text


def account(row: Measured, frame: pd.DataFrame, k: int) -> Account:
    """The steps from what `row` promises to what `frame` (`texts`) measured with blocks of `k`."""
    total = frame.groupby("decoder")[["seconds", "inside", "tokens", "passes"]].sum()
    slow, fast = total.loc["plain"], total.loc["speculative"]
    # Of a plain token and of a block, in bare passes.
    token_host = (slow.seconds - slow.inside) / slow.inside
    block_host = (fast.seconds - fast.inside) / fast.passes / (slow.inside / slow.passes)
    return Account(
        row.alpha,
        k,
        steps(row, k, token_host, block_host),
        tokens_a_block=fast.tokens / fast.passes,
        measured=slow.seconds / fast.seconds,
        by_text=ratios(frame, "speculative", "plain").tolist(),
        tokens=int(frame.tokens.max()),
    )


def steps(
    row: Measured, k: int, token_host: float, block_host: float
) -> dict[str, tuple[float, float]]:
    """c and v of the formula, E / (c K + v), with one cost more in each step.

    The promise: c as measured, of a draft step after another one, and v = 1.
    Verification: v = v(K + 1), as measured.
    Cold cache: the first draft step follows a target pass, so c is (first + (K - 1) c) / K.
    Host: Python adds its time to a block and to a plain token: (c K + v + block) / (1 + token).
    """
    c, v = row.costs.c, row.costs.v[k + 1]
    mixed = (row.first + (k - 1) * c) / k
    token = 1 + token_host
    return {
        "the promise": (c, 1.0),
        f"verification: a pass over {k + 1} tokens": (c, v),
        "cold cache: the first draft step": (mixed, v),
        "host: Python between the passes": (mixed / token, (v + block_host) / token),
    }


class Choice(NamedTuple):
    """A draft's K, the speed-up that the formula promises of it, and the s that it assumes."""

    k: int
    speedup: float
    s: float = 0.0


def choices(
    rows: Mapping[str, Measured], best_k: Callable, speedup: Callable, verified: bool = False
) -> dict[str, Choice]:
    """The K that the reader's `best_k` chooses for each draft, from 1 to K_MAX, and its promise.

    v is 1. If `verified`, v is the measured one: every further token of a pass costs about s, so a
    draft token costs c + s, and `best_k` is asked with that. Where a function does not run, the
    library's stands in, and a line says so.
    """
    best_k = usable(best_k, _best_k, 0.5, 0.1, K_MAX)
    speedup = usable(speedup, walltime_speedup, 0.5, 0.1, 2, 1.25)
    found = {}
    for name, row in rows.items():
        s = slope(row.costs.v) if verified else 0.0
        k = min(max(int(best_k(row.alpha, row.costs.c + s, K_MAX)), 1), K_MAX)
        v = row.costs.v[k + 1] if verified else 1.0
        found[name] = Choice(k, float(speedup(row.alpha, row.costs.c, k, v)), s)
    return found


def slope(v: Mapping[int, float]) -> float:
    """s, so that v(m) is about 1 + s (m - 1): the mean over the widths that were measured."""
    widest = max(v)
    return max(0.0, (v[widest] - 1) / (widest - 1))


def best(found: Mapping[str, Choice]) -> tuple[str, int]:
    """The draft and the K of the largest speed-up."""
    name = max(found, key=lambda each: found[each].speedup)
    return name, found[name].k


def usable(function: Callable, instead: Callable, *example: float) -> Callable:
    """A reader's `function`; if it gives no number of this example, `instead`, and a line."""
    try:
        float(function(*example))
    except Exception:  # whatever a half-written function does
        name = getattr(function, "__name__", "function")
        print(f"Your {name} does not run yet, so this cell takes the library's.")
        return instead
    return function


def _best_k(alpha: float, c: float, k_max: int) -> int:
    return Costs(c, dict.fromkeys(range(1, k_max + 2), 1.0)).best_k(alpha)
