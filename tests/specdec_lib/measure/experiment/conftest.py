"""The machine that tests of chapter 08 measure on: the built-in models, and little to do."""

import pytest
import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.measure.costs import DraftCosts
from specdec_lib.measure.experiment.survey import ExperimentMachine
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import load_pair
from specdec_lib.theory import Costs

# c and v that were measured: plain passes of 10 ms, whose length grows with their tokens.
TARGET_COSTS = DraftCosts(
    dict.fromkeys(BUILT_IN_DRAFTS, Costs(0.1, {m: 1 + 0.05 * (m - 1) for m in range(1, 10)})),
    pass_seconds=0.01,
)


@pytest.fixture(scope="module")
def machine() -> ExperimentMachine:
    """A machine with the built-in target, in the place of a costlier one too, and its drafts."""
    pair = load_pair(device="cpu")
    drafts = {name: Llama.from_folder(ASSETS / name) for name in BUILT_IN_DRAFTS}
    return ExperimentMachine(
        torch.device("cpu"), "built-in", pair.target, pair, drafts, TARGET_COSTS
    )
