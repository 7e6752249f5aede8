"""What a formula promises, what a decoder does, and where the time between the two goes.

The decoders run on models that time their passes. The time outside the passes is the host's:
Python that draws tokens, compares them and moves caches. No time includes the prompt.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from specdec_lib.decoding.state import Generation
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.compare import Decoder, compare, ratios
from specdec_lib.measure.costs import LARGEST_K
from specdec_lib.measure.library_decoders import SAMPLED, plain, speculative
from specdec_lib.measure.strategies import DraftMeasurement
from specdec_lib.measure.timing import PassRecorder
from specdec_lib.models.llama import Llama
from specdec_lib.theory import Costs, walltime_speedup

TEXT_TOKENS = 48  # new ones of each text
_TIME_LIMIT = 60.0  # seconds after which no text begins


def recording_times(decoder: Decoder, *models: PassRecorder) -> tuple[Decoder, list[float]]:
    """`decoder`, and a list that gets the seconds of every text inside the passes of `models`."""
    times = []

    def run(prompt: list) -> Generation:
        for model in models:
            model.passes.clear()
        generation = decoder(prompt)
        passes = [one for model in models for one in model.passes]
        # The prompt is read but for its last token. No pass that writes leaves so few.
        times.append(sum(one.seconds for one in passes if one.after >= len(prompt)))
        return generation

    return run, times


def time_decoders(
    target: Llama, draft: Llama, k: int, prompts: Sequence[list[int]]
) -> pd.DataFrame:
    """`compare` of "plain" and "speculative" decoding, TEXT_TOKENS new tokens after each prompt.

    The seconds are without the prompt; those `inside` the passes of target and draft are a column.
    """
    plain_target, fast_target = PassRecorder(target), PassRecorder(target)
    timed_draft = PassRecorder(draft)
    slow = plain(plain_target, SAMPLED, TEXT_TOKENS)
    fast = speculative(fast_target, ModelDrafter(timed_draft), k, SAMPLED, TEXT_TOKENS)
    recordings = {
        "plain": recording_times(slow, plain_target),
        "speculative": recording_times(fast, fast_target, timed_draft),
    }
    decoders = {name: decoder for name, (decoder, _) in recordings.items()}
    frame = compare(decoders, prompts, _TIME_LIMIT)
    frame["seconds"] = [generation.seconds for generation in frame.generation]
    inside = {name: iter(times[1:]) for name, (_, times) in recordings.items()}  # after a warm-up
    frame["inside"] = [next(inside[name]) for name in frame.decoder]
    return frame


class SpeedupBreakdown(NamedTuple):
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


def speedup_breakdown(draft: DraftMeasurement, frame: pd.DataFrame, k: int) -> SpeedupBreakdown:
    """The steps from what `draft` promises to what `frame` (time_decoders) measured at this `k`."""
    total = frame.groupby("decoder")[["seconds", "inside", "tokens", "passes"]].sum()
    slow, fast = total.loc["plain"], total.loc["speculative"]
    # Of a plain token and of a block, in bare passes.
    token_host = (slow.seconds - slow.inside) / slow.inside
    block_host = (fast.seconds - fast.inside) / fast.passes / (slow.inside / slow.passes)
    return SpeedupBreakdown(
        draft.alpha,
        k,
        cost_steps(draft, k, token_host, block_host),
        tokens_a_block=fast.tokens / fast.passes,
        measured=slow.seconds / fast.seconds,
        by_text=ratios(frame, "speculative", "plain").tolist(),
        tokens=int(frame.tokens.max()),
    )


def cost_steps(
    draft: DraftMeasurement, k: int, token_host: float, block_host: float
) -> dict[str, tuple[float, float]]:
    """c and v of the formula, E / (c K + v), with one cost more in each step.

    The promise: c as measured, of a draft step after another one, and v = 1.
    Verification: v = v(K + 1), as measured.
    Cold cache: the first draft step follows a target pass, so c is (cold_c + (K - 1) c) / K.
    Host: Python adds its time to a block and to a plain token: (c K + v + block) / (1 + token).
    """
    c, v = draft.costs.c, draft.costs.v[k + 1]
    mixed_c = (draft.cold_c + (k - 1) * c) / k
    token = 1 + token_host
    return {
        "the promise": (c, 1.0),
        f"verification: a pass over {k + 1} tokens": (c, v),
        "cold cache: the first draft step": (mixed_c, v),
        "host: Python between the passes": (mixed_c / token, (v + block_host) / token),
    }


class DraftChoice(NamedTuple):
    """A draft's K, the speed-up that the formula promises of it, and the s that it assumes."""

    k: int
    speedup: float
    s: float = 0.0


def draft_choices(
    drafts: Mapping[str, DraftMeasurement],
    best_k: Callable,
    speedup: Callable,
    verified: bool = False,
) -> dict[str, DraftChoice]:
    """The K that the reader's `best_k` chooses for each draft, 1 to LARGEST_K, and its promise.

    v is 1. If `verified`, v is the measured one: every further token of a pass costs about s, so a
    draft token costs c + s, and `best_k` is asked with that. Where a function does not run, the
    library's stands in, and a line says so.
    """
    best_k = or_library(best_k, _library_best_k, 0.5, 0.1, LARGEST_K)
    speedup = or_library(speedup, walltime_speedup, 0.5, 0.1, 2, 1.25)
    choices = {}
    for name, draft in drafts.items():
        alpha, c, v = draft.alpha, draft.costs.c, draft.costs.v
        s = slope(v) if verified else 0.0
        k = min(max(int(best_k(alpha, c + s, LARGEST_K)), 1), LARGEST_K)
        promise = speedup(alpha, c, k, v[k + 1] if verified else 1.0)
        choices[name] = DraftChoice(k, float(promise), s)
    return choices


def slope(v: Mapping[int, float]) -> float:
    """s, so that v(m) is about 1 + s (m - 1): the mean over the widths that were measured."""
    widest = max(v)
    return max(0.0, (v[widest] - 1) / (widest - 1))


def best_choice(choices: Mapping[str, DraftChoice]) -> tuple[str, int]:
    """The draft and the K of the largest speed-up."""
    name = max(choices, key=lambda name: choices[name].speedup)
    return name, choices[name].k


def or_library(function: Callable, library_function: Callable, *example: float) -> Callable:
    """A reader's `function`; if it gives no number of this example, the library's, and a line."""
    try:
        float(function(*example))
    except Exception:  # whatever a half-written function does
        name = getattr(function, "__name__", "function")
        print(f"Your {name} does not run yet, so this cell takes the library's.")
        return library_function
    return function


def _library_best_k(alpha: float, c: float, k_max: int) -> int:
    return Costs(c, dict.fromkeys(range(1, k_max + 2), 1.0)).best_k(alpha)
