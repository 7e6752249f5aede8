"""What chapter 08 runs on: the device, the models on it, and what their passes cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype, free_memory, name_of
from specdec_lib.device import processor as processor_line
from specdec_lib.measure.experiment.costs import Found, costs_on
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS, grown_shape, parameters, scaled

BUILT_IN = "built-in"
# The costlier target: the first of these whose weights fit into the memory.
SIZES = {"cpu": ("234m", "40m"), "cuda": ("7b", "1b", "234m", "40m")}
ROOM = 2.5  # memory over the weights alone: Hugging Face has its own copy
ROUNDS = 15  # of bare passes


@dataclass(frozen=True)
class Machine:
    """The built-in target and a costlier one, by name, their drafts, and what each costs here.

    `longer` multiplies how much is measured.
    """

    device: torch.device
    targets: dict[str, Llama]
    drafts: dict[str, Llama]
    costs: dict[str, Found]
    longer: float = 1

    def times(self, count: int) -> int:
        """`count`, multiplied; at least 1."""
        return max(1, round(self.longer * count))

    def about(self) -> dict[str, str | int]:
        """The machine as data, for a results file."""
        dtype = next(iter(self.targets.values())).dtype
        return {"device": device_line(self.device), "dtype": name_of(dtype)}

    def passes(self) -> pd.DataFrame:
        """By target: milliseconds a token of plain decoding, v by width, and c of the drafts."""
        rows = {
            name: {"ms a token": 1e3 * found.seconds}
            | {f"v({width})": found.v[width] for width in (2, 3, 5, 9)}
            | {f"c of {draft}": found.drafts[draft].c for draft in self.drafts}
            for name, found in self.costs.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index")


def look(longer: float = 1) -> Machine:
    """The models on this machine's device, and what their passes cost; says what was found.

    Raises ValueError unless `longer` is positive.
    """
    if not longer > 0:
        raise ValueError(f"LONGER is {longer}; it is a positive number, 1 for the usual time")
    device = default_device()
    dtype = default_dtype(device)
    print(f"{device_line(device)}, {name_of(dtype)}")
    size = largest(SIZES[device.type], device, dtype)
    targets = {
        BUILT_IN: Llama.from_folder(ASSETS / "target", device, dtype),
        size: scaled(ASSETS / "target", size, device, dtype),
    }
    small = draft_dtype(device, dtype)
    drafts = {name: Llama.from_folder(ASSETS / name, device, small) for name in BUILT_IN_DRAFTS}
    machine = Machine(device, targets, drafts, {}, longer)
    rounds = machine.times(ROUNDS)
    machine.costs.update({n: costs_on(target, drafts, rounds) for n, target in targets.items()})
    return machine


def largest(sizes: Sequence[str], device: torch.device, dtype: torch.dtype) -> str:
    """The first of `sizes` whose weights fit into the free memory; if none does, the last one."""
    shape, free = read_shape(ASSETS / "target"), free_memory(device)
    needed = {
        size: ROOM * parameters(grown_shape(shape, COSTS[size])) * dtype.itemsize for size in sizes
    }
    return next((size for size in sizes if free is None or needed[size] <= free), sizes[-1])


def device_line(device: torch.device) -> str:
    """The device in words."""
    if device.type == "cpu":
        return processor_line()
    card = torch.cuda.get_device_properties(device)
    return f"{card.name}, compute capability {card.major}.{card.minor}"
