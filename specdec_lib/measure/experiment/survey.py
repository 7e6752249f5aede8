"""What chapter 08 runs on: the device, the models on it, and what their passes cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype, dtype_name, free_memory
from specdec_lib.device import processor as processor_line
from specdec_lib.measure.experiment.costs import Found, costs_on
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import TARGET_COSTS, grow_shape, load_scaled_llama, parameter_count

# What the target costs: the first of these whose weights fit into the memory.
SIZES = {"cpu": ("234m", "40m"), "cuda": ("7b", "1b", "234m", "40m")}
ROOM = 2.5  # memory over the weights alone: Hugging Face has its own copy
ROUNDS = 15  # of bare passes


@dataclass(frozen=True)
class Machine:
    """The built-in target and the same one at the cost of `size`, its drafts, and what they cost.

    `longer` multiplies how much is measured.
    """

    device: torch.device
    size: str
    target: Llama  # the costlier one
    built_in: Llama
    drafts: dict[str, Llama]
    found: Found
    longer: float = 1

    def times(self, count: int) -> int:
        """`count`, multiplied; at least 1."""
        return max(1, round(self.longer * count))

    def about(self) -> dict[str, str]:
        """The machine as data, for a results file."""
        return {"device": device_line(self.device), "dtype": dtype_name(self.target.dtype)}

    def passes(self) -> pd.DataFrame:
        """Milliseconds a token of plain decoding, v by width, and c of the drafts, in one row."""
        row = {"ms per token": 1e3 * self.found.seconds}
        row |= {f"v({width})": self.found.v[width] for width in (2, 3, 5, 9)}
        row |= {f"c of {name}": self.found.drafts[name].c for name in self.drafts}
        return pd.DataFrame([row])


def look(longer: float = 1) -> Machine:
    """The models on this machine's device, and what their passes cost; says what was found.

    Raises ValueError unless `longer` is positive.
    """
    if not longer > 0:
        raise ValueError(f"LONGER is {longer}; it is a positive number, 1 for the usual time")
    device = default_device()
    dtype = default_dtype(device)
    size = largest(SIZES[device.type], device, dtype)
    machine = f"{device_line(device)}, {dtype_name(dtype)}"
    print(f"{machine}. The target costs what {size.upper()} would.")
    target = load_scaled_llama(ASSETS / "target", size, device, dtype)
    built_in = Llama.from_folder(ASSETS / "target", device, dtype)
    small = draft_dtype(device, dtype)
    drafts = {name: Llama.from_folder(ASSETS / name, device, small) for name in BUILT_IN_DRAFTS}
    found = costs_on(target, drafts, max(1, round(longer * ROUNDS)))
    return Machine(device, size, target, built_in, drafts, found, longer)


def largest(sizes: Sequence[str], device: torch.device, dtype: torch.dtype) -> str:
    """The first of `sizes` whose weights fit into the free memory; if none does, the last one."""
    shape, free = read_shape(ASSETS / "target"), free_memory(device)
    needed = {
        size: ROOM * parameter_count(grow_shape(shape, TARGET_COSTS[size])) * dtype.itemsize
        for size in sizes
    }
    return next((size for size in sizes if free is None or needed[size] <= free), sizes[-1])


def device_line(device: torch.device) -> str:
    """The device in words."""
    if device.type == "cpu":
        return processor_line()
    card = torch.cuda.get_device_properties(device)
    return f"{card.name}, compute capability {card.major}.{card.minor}"
