"""Whether a pass over a few more tokens is ever faster: a cliff in the products of a width."""

import statistics
from collections.abc import Mapping, Sequence

import torch
from tqdm import tqdm

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.device import name_of
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.costs import pass_tasks
from specdec_lib.measure.core.models import draft, target
from specdec_lib.measure.core.timing import Picked, for_seconds
from specdec_lib.models.llama import Llama

WIDTHS = 16  # tokens of a pass, each held against one more
SECONDS, ROUNDS = 3.0, 11  # of a model, all widths interleaved: at least
SIZES = (None, "40m", "234m")


def widest_cliff(bench: Workbench) -> Picked:
    """The largest ratio of the time of a pass over that of the next wider one.

    Over the drafts and the targets in every dtype that can be chosen, each its largest.
    """
    widest: dict[str, float] = {}
    for name, model in tqdm(models(bench.dtypes).items(), desc="models", leave=False):
        ratios = steps_down(model)
        width = max(ratios, key=lambda width: ratios[width])
        widest[f"{name}, {width} tokens against {width + 1}"] = ratios[width]
    where = max(widest, key=lambda name: widest[name])
    bench.note(f"widest cliff: {widest[where]:.2f}, {where}")
    return Picked(widest[where], widest)


def models(dtypes: Sequence[torch.dtype]) -> Mapping[str, Llama]:
    """The drafts, which stay in float32, and the targets in each of `dtypes`, by name."""
    found = {f"{name} draft, float32": draft(name) for name in BUILT_IN_DRAFTS}
    for size in SIZES:
        for dtype in dtypes:
            found[f"{size or 'built-in'} target, {name_of(dtype)}"] = target(size, dtype)
    return found


def steps_down(model: Llama) -> dict[int, float]:
    """By width the time of a pass over that of the next wider one: the median over rounds."""
    times = for_seconds(pass_tasks(model, range(1, WIDTHS + 2)), SECONDS, ROUNDS)
    return {
        width: statistics.median(
            [one / more for one, more in zip(times[width], times[width + 1], strict=True)]
        )
        for width in range(1, WIDTHS + 1)
    }
