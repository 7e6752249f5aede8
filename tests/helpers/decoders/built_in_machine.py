"""The machine that tests of chapter 08 measure on: the built-in models, and little to do."""

import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.measure.experiment.machine import Effort, Machine
from specdec_lib.models.llama import Llama

CPU = torch.device("cpu")
SMALL = Effort(positions=60, passes=1, prompts=1, tokens=6, rounds=1)


def built_in_machine() -> Machine:
    """A machine with the built-in target and its drafts."""
    target = Llama.from_folder(ASSETS / "target")
    drafts = {name: Llama.from_folder(ASSETS / name) for name in BUILT_IN_DRAFTS}
    return Machine(CPU, torch.float32, {"built-in": target}, drafts, (), SMALL, 1e9)
