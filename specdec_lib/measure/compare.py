"""The one measurement: decoders on the same prompts, by turns, with their tokens and passes.

A machine drifts: it gets warm, another program starts. So the decoders take turns on every prompt,
and are compared as ratios, prompt by prompt. A noisy machine shows in the quartiles.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from specdec_lib.decoding.state import Generation
from specdec_lib.measure.timing import timed
from specdec_lib.progress import progress

# Generates after a prompt or, in a batch, after a list of prompts.
Decoder = Callable[[list], Generation]


def compare(
    decoders: Mapping[str, Decoder],
    prompts: Sequence[list],
    seconds: float = math.inf,
    rounds: int = 1,
    warm_up: Mapping[str, Decoder] | None = None,
) -> pd.DataFrame:
    """Run every decoder on every prompt, by turns; a row for each run, in this order.

    The columns: decoder, prompt and round (numbers from 0), seconds, tokens (over all rows of a
    batch), passes of the target, and the `generation`. One turn on the first prompt goes before and
    is dropped: what is done for the first time is slower. The decoders of `warm_up` can take that
    turn, if they write less. No prompt begins once `seconds` are over, but the first always runs.
    """
    for decoder in (warm_up or decoders).values():
        decoder(prompts[0])
    runs = []
    deadline = time.perf_counter() + seconds
    turns = [(i, j, name) for i in range(len(prompts)) for j in range(rounds) for name in decoders]
    for turn, (prompt_number, round_number, name) in enumerate(progress(turns, "turns")):
        begins = turn % (rounds * len(decoders)) == 0
        if begins and prompt_number and time.perf_counter() > deadline:
            break
        run = {"decoder": name, "prompt": prompt_number, "round": round_number}
        runs.append(run | _measured_run(decoders[name], prompts[prompt_number]))
    return pd.DataFrame(runs)


def _measured_run(decoder: Decoder, prompt: list) -> dict[str, Any]:
    """The measured columns of one run; a GPU has finished when the clock stops."""
    seconds, generation = timed(decoder, prompt)
    counts = {"tokens": sum(map(len, generation.tokens)), "passes": generation.target_passes}
    return {"seconds": seconds} | counts | {"generation": generation}


def ratios(frame: pd.DataFrame, of: str, over: str) -> pd.Series:
    """How many times as fast a decoder was as another one, turn by turn."""
    seconds = frame.pivot(index=["prompt", "round"], columns="decoder", values="seconds")
    return seconds[over] / seconds[of]


def summary(frame: pd.DataFrame, over: str) -> pd.DataFrame:
    """A row for each decoder, in the order in which they ran.

    Its tokens a second and a pass, and how many times as fast it was as the decoder `over`: the
    median of the turns and the quartiles beside it (low, high).
    """
    total = frame.groupby("decoder", sort=False)[["seconds", "tokens", "passes"]].sum()
    quartiles = {
        name: ratios(frame, name, over).quantile([0.5, 0.25, 0.75]).tolist() for name in total.index
    }
    speeds = pd.DataFrame.from_dict(quartiles, "index", columns=["speedup", "low", "high"])
    return pd.DataFrame({
        "tokens_per_second": total.tokens / total.seconds,
        "tokens_per_pass": total.tokens / total.passes,
    }).join(speeds)  # fmt: skip
