"""What chapter 08 runs on: the device, the built-in models on it, and what their passes cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype, dtype_name, free_memory
from specdec_lib.device import processor as processor_line
from specdec_lib.measure.costs import DraftCosts, costs_from_times, interleave_draft_steps
from specdec_lib.measure.timing import interleaved_times
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.protocol import Model
from specdec_lib.models.scale import TARGET_COSTS, grow_shape, parameter_count, target_weights

# What the target costs: the first of these whose weights fit into the memory.
SIZES = {"cpu": ("234m", "40m"), "cuda": ("7b", "1b", "234m", "40m")}
_MEMORY_FACTOR = 2.5  # memory over the weights alone: Hugging Face has its own copy
_ROUNDS = 15  # of bare passes


@dataclass(frozen=True)
class ExperimentMachine:
    """The built-in target, its drafts, and what they cost.

    `name` is the cost that the target has. The target of `pair` writes the same text at its own.
    """

    device: torch.device
    name: str
    target: Llama
    pair: Pair
    drafts: dict[str, Model]
    costs: DraftCosts

    def about(self) -> dict[str, str]:
        """The machine as data, for a results file."""
        return {"device": device_line(self.device), "dtype": dtype_name(self.target.dtype)}

    def passes(self) -> pd.DataFrame:
        """Milliseconds a token of plain decoding, v by width, and c of the drafts, in one row."""
        row = {"ms per token": 1e3 * self.costs.pass_seconds}
        row |= {f"v({width})": self.costs.v[width] for width in (2, 3, 5, 9)}
        row |= {f"c of {name}": self.costs.by_draft[name].c for name in self.drafts}
        return pd.DataFrame([row])


def load_machine() -> ExperimentMachine:
    """The built-in models on this machine, and what their passes cost; prints what they are."""
    device = default_device()
    dtype = default_dtype(device)
    pair, small = load_pair(device=device, dtype=dtype), draft_dtype(device, dtype)
    name = largest_size(SIZES[device.type], device, dtype)
    target = Llama(target_weights(name, dtype, device))
    drafts = {each: Llama.from_folder(ASSETS / each, device, small) for each in BUILT_IN_DRAFTS}
    print(f"{device_line(device)}, {dtype_name(dtype)}. The built-in target at {name.upper()}.")
    costs = costs_from_times(interleaved_times(interleave_draft_steps(target, drafts), _ROUNDS))
    return ExperimentMachine(device, name, target, pair, drafts, costs)


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
