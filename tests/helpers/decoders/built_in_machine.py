"""The machine that tests of chapter 08 measure on: the built-in models, and little to do."""

import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.measure.core.acceptance import NGRAMS
from specdec_lib.measure.experiment.budget import Budget
from specdec_lib.measure.experiment.costs import EARLY_EXIT, LOOKUP, Found
from specdec_lib.measure.experiment.machine import Effort, Machine
from specdec_lib.models.llama import Llama
from specdec_lib.theory import Costs

CPU = torch.device("cpu")
SMALL = Effort(positions=60, passes=1, prompts=1, tokens=6, rounds=1)


# c and v that were measured: plain passes of 10 ms, whose length grows with their tokens.
FOUND = Found(
    dict.fromkeys(
        (*BUILT_IN_DRAFTS, *NGRAMS, LOOKUP, EARLY_EXIT),
        Costs(0.1, {m: 1 + 0.05 * (m - 1) for m in range(1, 10)}),
    ),
    seconds=0.01,
    prompt=5.0,
    disturbed=None,
)


def built_in_machine() -> Machine:
    """A machine with the built-in target and its drafts, and a budget that is never used up."""
    target = Llama.from_folder(ASSETS / "target")
    drafts = {name: Llama.from_folder(ASSETS / name) for name in BUILT_IN_DRAFTS}
    targets, budget = {"built-in": target}, Budget(longer=1000)
    costs = {"built-in": FOUND}
    return Machine(CPU, torch.float32, targets, drafts, (), SMALL, 1e9, costs, budget=budget)
