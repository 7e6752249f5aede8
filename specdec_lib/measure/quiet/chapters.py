"""What the chapters time, as their cells do it; by the name of the recorded run.

Chapter 08 measures with what it finds on a machine; recorded is one setting of it.
"""

from collections.abc import Callable

import numpy as np
import torch

from specdec_lib.drafters.lookup import lookup
from specdec_lib.measure import gap as gaps
from specdec_lib.measure import strategies
from specdec_lib.measure.core import models
from specdec_lib.measure.core.costs import in_turn, pass_task
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.limits import machine_limits, pass_seconds
from specdec_lib.measure.core.timing import within
from specdec_lib.measure.experiment import batches, engineering
from specdec_lib.measure.experiment.loops import LIBRARY, yours
from specdec_lib.measure.experiment.machine import Effort, Machine
from specdec_lib.measure.quiet.runs import Runs
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair

WIDTHS = (1, 2, 4, 6, 8, 12, 16, 32, 64)  # of chapter 00
FAMILY = ("large", "base", "small")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}  # of chapter 00


def limits() -> dict[str, float]:
    """Chapter 00: the limits of the machine, over which its passes are drawn."""
    return machine_limits(DTYPES)


def passes() -> Runs:
    """Chapter 00: passes of two targets in two dtypes."""
    models = {
        (cost or "built-in", name): load_pair(target_cost=cost, dtype=dtype).target
        for cost in ("40m", None)
        for name, dtype in DTYPES.items()
    }
    return pass_seconds(models, WIDTHS)


def drafts() -> Runs:
    """Chapter 04: the drafts beside the built-in target."""
    family = strategies.built_in(*FAMILY) | {"first layer": strategies.first_layers(1)}
    return {"built-in": strategies.Laboratory().times(family)}


def drafts_of_a_costlier_target() -> Runs:
    """Chapter 04: the drafts beside the target at the 234M cost."""
    target = models.target("234m", torch.float32)
    return {"234M cost": strategies.Laboratory().times(strategies.built_in(*FAMILY), target)}


def gap() -> Runs:
    """Chapter 04: plain and speculative decoding at the 234M cost, with what they spend."""
    target, draft = models.target("234m", torch.float32), models.draft("base")
    return {("base", 4): gaps.texts(target, draft, 4, prompts(6))}


def gap_of_the_built_in() -> Runs:
    """Chapter 04: the same with the built-in target itself."""
    target, draft = models.target(None, torch.float32), models.draft("small")
    return {("small", 2): gaps.texts(target, draft, 2, prompts(6))}


def tables() -> Runs:
    """Chapter 04: a look into a table, whatever it holds, and prompt lookup."""
    lab = strategies.Laboratory()
    table = np.ones((lab.vocab_size, lab.vocab_size))
    return {
        "bigram, yours": lab.draft_times(lambda text: table[text[-1]]),
        "prompt lookup": lab.draft_times(lambda text: lookup(text, 1, max_ngram=3)),
    }


def pairs() -> Runs:
    """Chapter 05: plain and speculative decoding at the 40M cost, with what they spend."""
    pair = _costlier("small")
    return {("small", 2): gaps.texts(pair.target, pair.draft, 2, prompts(8))}


def costs() -> Runs:
    """Chapter 05: c and v of that pair."""
    pair = _costlier("small")
    return {"40M cost": strategies.Laboratory().times({"small": pair.draft}, pair.target)}


def costs_by_k() -> Runs:
    """Chapter 06: c and v of the recorded pair up to K = 16."""
    return _costs(_costlier("base"), 16)


def engineering_of_08() -> Runs:
    """Chapter 08: three versions of one decoder."""
    loop = yours(LIBRARY.generate, LIBRARY.verify_block)  # the versions are named as a student's
    return engineering.measure(loop, _machine(), "40m", "base", 2)


def batches_of_08() -> Runs:
    """Chapter 08: several requests in one pass."""
    return batches.measure(LIBRARY, _machine(), "40m", "base")


def _machine() -> Machine:
    pair = _costlier("base")
    models = {"40m": pair.target}, {"base": pair.draft}
    return Machine(pair.target.device, pair.target.dtype, *models, (), Effort(), bandwidth=0.0)


def _costlier(draft: str) -> Pair:
    return load_pair(draft=draft, target_cost="40m")


def _costs(pair: Pair, k_max: int) -> Runs:
    tasks = in_turn(pair.target, {"draft": pass_task(pair.draft, 1)}, k_max)
    return {"40M cost": within(tasks, 4, 20)}


RUNS: dict[str, Callable[[], Runs]] = {
    "00 passes": passes,
    "04 drafts": drafts,
    "04 costlier": drafts_of_a_costlier_target,
    "04 gap": gap,
    "04 gap, built-in": gap_of_the_built_in,
    "04 tables": tables,
    "05 pairs": pairs,
    "05 costs": costs,
    "06 costs": costs_by_k,
    "08 engineering": engineering_of_08,
    "08 batches": batches_of_08,
}
