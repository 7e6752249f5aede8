"""What chapter 08 runs on: the device, the models on it, and what their passes cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import pandas as pd
import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype, dtype_name, free_memory
from specdec_lib.device import processor as processor_line
from specdec_lib.measure.costs import costs_from_times, interleave_draft_steps, pass_task
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.timing import interleaved_times
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import prefill
from specdec_lib.models.scale import TARGET_COSTS, grow_shape, load_scaled_llama, parameter_count
from specdec_lib.theory import Costs

# What the target costs: the first of these whose weights fit into the memory.
SIZES = {"cpu": ("234m", "40m"), "cuda": ("7b", "1b", "234m", "40m")}
_MEMORY_FACTOR = 2.5  # memory over the weights alone: Hugging Face has its own copy
_ROUNDS = 15  # of bare passes
PROMPT_TOKENS = 16
_PREFILL = "a prompt"  # a task that is no draft


class TargetCosts(NamedTuple):
    """The costs of `drafts` and the reading of a `prompt`, in passes over one token.

    Such a plain pass takes `seconds`.
    """

    drafts: dict[str, Costs]
    seconds: float
    prompt: float

    @property
    def v(self) -> Mapping[int, float]:
        """The target's passes by width."""
        return next(iter(self.drafts.values())).v


@dataclass(frozen=True)
class ExperimentMachine:
    """The built-in target and the same one at the cost of `size`, its drafts, and what they cost.

    `longer` multiplies how much is measured.
    """

    device: torch.device
    size: str
    target: Llama  # the costlier one
    built_in: Llama
    drafts: dict[str, Llama]
    costs: TargetCosts
    longer: float = 1

    def scaled(self, count: int) -> int:
        """`count` times `longer`; at least 1."""
        return max(1, round(self.longer * count))

    def about(self) -> dict[str, str]:
        """The machine as data, for a results file."""
        return {"device": device_line(self.device), "dtype": dtype_name(self.target.dtype)}

    def passes(self) -> pd.DataFrame:
        """Milliseconds a token of plain decoding, v by width, and c of the drafts, in one row."""
        row = {"ms per token": 1e3 * self.costs.seconds}
        row |= {f"v({width})": self.costs.v[width] for width in (2, 3, 5, 9)}
        row |= {f"c of {name}": self.costs.drafts[name].c for name in self.drafts}
        return pd.DataFrame([row])


def load_machine(longer: float = 1) -> ExperimentMachine:
    """The models on this machine's device, and what their passes cost; prints the device.

    Raises ValueError unless `longer` is positive.
    """
    if not longer > 0:
        raise ValueError(f"LONGER is {longer}; it is a positive number, 1 for the usual time")
    device = default_device()
    dtype = default_dtype(device)
    size = largest_size(SIZES[device.type], device, dtype)
    machine = f"{device_line(device)}, {dtype_name(dtype)}"
    print(f"{machine}. The target costs what {size.upper()} would.")
    target = load_scaled_llama(ASSETS / "target", size, device, dtype)
    built_in = Llama.from_folder(ASSETS / "target", device, dtype)
    small = draft_dtype(device, dtype)
    drafts = {name: Llama.from_folder(ASSETS / name, device, small) for name in BUILT_IN_DRAFTS}
    costs = measure_costs(target, drafts, max(1, round(longer * _ROUNDS)))
    return ExperimentMachine(device, size, target, built_in, drafts, costs, longer)


def measure_costs(target: Llama, drafts: Mapping[str, Llama], rounds: int) -> TargetCosts:
    """What every draft and every width costs, in `rounds` rounds by turns."""
    (text,) = prompts(1, PROMPT_TOKENS)
    steps = {name: pass_task(draft, 1) for name, draft in drafts.items()}
    tasks = interleave_draft_steps(target, steps)
    tasks[_PREFILL] = lambda: prefill(target, target.new_cache(1, len(text)), [text])
    times = interleaved_times(tasks, rounds)
    prompt_seconds = median(times.pop(_PREFILL))
    costs = costs_from_times(times)
    return TargetCosts(costs.by_draft, costs.pass_seconds, prompt_seconds / costs.pass_seconds)


def largest_size(sizes: Sequence[str], device: torch.device, dtype: torch.dtype) -> str:
    """The first of `sizes` whose weights fit into the free memory; if none does, the last one."""
    shape, free = read_shape(ASSETS / "target"), free_memory(device)
    for size in sizes:
        weights = parameter_count(grow_shape(shape, TARGET_COSTS[size])) * dtype.itemsize
        if free is None or _MEMORY_FACTOR * weights <= free:
            return size
    return sizes[-1]


def device_line(device: torch.device) -> str:
    """The device in words."""
    if device.type == "cpu":
        return processor_line()
    card = torch.cuda.get_device_properties(device)
    return f"{card.name}, compute capability {card.major}.{card.minor}"
