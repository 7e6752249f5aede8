"""What a formula promises, what a decoder does, and where the time between the two goes."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.compare import compare
from specdec_lib.measure.costs import LARGEST_K
from specdec_lib.measure.library_decoders import SAMPLED, plain, speculative, tokens_per_block
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.strategies import DraftMeasurement
from specdec_lib.models.llama import Llama
from specdec_lib.theory import Costs, walltime_speedup

TEXT_TOKENS = 48  # new ones of each text
COUNTED, CLOCKED = 24, 3  # texts whose tokens are counted, and the first of them, which are clocked


def time_decoders(
    target: Llama, choices: Mapping[str, tuple[Llama, int]], prompts: Sequence[list[int]]
) -> pd.DataFrame:
    """`compare` of "plain" decoding and, by name, of `choices`, each a draft and its K.

    TEXT_TOKENS new tokens after each prompt; the seconds are without the prompt.
    """
    decoders = {"plain": plain(target, SAMPLED, TEXT_TOKENS)}
    for name, (draft, k) in choices.items():
        decoders[name] = speculative(target, ModelDrafter(draft), k, SAMPLED, TEXT_TOKENS)
    frame = compare(decoders, prompts)
    frame["seconds"] = [generation.seconds for generation in frame.generation]
    return frame


class SpeedupBreakdown(NamedTuple):
    """Where a promised speed-up went: from the promise, step by step, to the measured one.

    Each step has a name, and the c and v(k + 1) of the formula with one cost more. `measured` is
    how many times as fast as plain decoding: tokens of a block, counted on COUNTED texts, over its
    time, clocked; `by_text` has it by the times of each clocked text.
    """

    alpha: float
    k: int
    steps: dict[str, tuple[float, float]]
    tokens_a_block: float
    measured: float
    by_text: list[float]


def clock_choices(
    models: tuple[Llama, Llama],
    drafts: Mapping[str, Llama],
    measured: Mapping[str, DraftMeasurement],
    tables: Sequence[Mapping[str, "DraftChoice"]],
    longer: float = 1,
) -> dict[str, SpeedupBreakdown]:
    """The best choice of every table, by name: all clocked by turns on `longer` * CLOCKED texts.

    How many tokens a block writes depends much on the text, and its time hardly. So tokens are
    counted on more texts, with a cheap target: `models` are the target and one of its distribution.
    """
    clocked = max(1, round(longer * CLOCKED))
    texts = prompts(max(COUNTED, clocked))
    best = {f"{name}, K = {k}": (name, k) for name, k in map(best_choice, tables)}
    pairs = {label: (drafts[name], k) for label, (name, k) in best.items()}
    frame = time_decoders(models[0], pairs, texts[:clocked])
    accounts = {}
    for label, (name, k) in best.items():
        drafter = ModelDrafter(drafts[name])
        tokens = tokens_per_block(models[1], drafter, k, SAMPLED, texts, TEXT_TOKENS)
        accounts[label] = speedup_breakdown(measured[name], k, tokens, frame, label)
    return accounts


def speedup_breakdown(
    draft: DraftMeasurement, k: int, tokens_a_block: float, frame: pd.DataFrame, name: str
) -> SpeedupBreakdown:
    """The steps from what `draft` promises at `k` to what `frame` (time_decoders) has of `name`.

    Promise: c and v = 1. Verification: v as measured. In the loop: what the whole block took, in
    plain tokens, with Python between the passes and the draft's weights out of the cache.
    """
    total = frame.groupby("decoder")[["seconds", "passes"]].sum()
    seconds = total.seconds / total.passes
    costs, block = draft.costs, seconds[name] / seconds["plain"]
    by_text = (frame.seconds / frame.passes).groupby([frame.prompt, frame.decoder]).sum().unstack()
    steps = {"formula, v = 1": (costs.c, 1.0), "verification": (costs.c, costs.v[k + 1])}
    steps["in the loop"] = 0.0, block
    ratios = (tokens_a_block * by_text["plain"] / by_text[name]).tolist()
    return SpeedupBreakdown(draft.alpha, k, steps, tokens_a_block, tokens_a_block / block, ratios)


class DraftChoice(NamedTuple):
    """A draft's K, and the speed-up that the formula promises of it."""

    k: int
    speedup: float


def draft_choices(
    drafts: Mapping[str, DraftMeasurement],
    best_k: Callable,
    speedup: Callable,
    verified: bool = False,
) -> dict[str, DraftChoice]:
    """The K that the reader's `best_k` chooses for each draft, 1 to LARGEST_K, and its promise.

    v is 1 or, if `verified`, the measured one. Where a function does not run, the library's stands
    in, and a line says so.
    """
    flat = [1.0] * (LARGEST_K + 1)
    best_k = or_library(best_k, _library_best_k, 0.5, 0.1, flat)
    speedup = or_library(speedup, walltime_speedup, 0.5, 0.1, 2, 1.25)
    choices = {}
    for name, draft in drafts.items():
        alpha, c = draft.alpha, draft.costs.c
        v = [draft.costs.v[m] for m in range(1, LARGEST_K + 2)] if verified else flat
        k = min(max(int(best_k(alpha, c, v)), 1), LARGEST_K)
        choices[name] = DraftChoice(k, float(speedup(alpha, c, k, v[k])))
    return choices


def best_choice(choices: Mapping[str, DraftChoice]) -> tuple[str, int]:
    """The draft and the K of the largest speed-up."""
    name = max(choices, key=lambda name: choices[name].speedup)
    return name, choices[name].k


def or_library(function: Callable, library_function: Callable, *example: object) -> Callable:
    """A reader's `function`; if it gives no number of this example, the library's, and a line."""
    try:
        float(function(*example))
    except Exception:  # whatever a half-written function does
        name = getattr(function, "__name__", "function")
        print(f"Your {name} does not run yet, so this cell takes the library's.")
        return library_function
    return function


def _library_best_k(alpha: float, c: float, v: Sequence[float]) -> int:
    return Costs(c, dict(enumerate(v, 1))).best_k(alpha)
