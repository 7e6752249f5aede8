"""The experiment of chapter 08: what each row promises, and what is run beside it."""

from itertools import product

import pytest
import torch

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.acceptance import Acceptance
from specdec_lib.measure.core.runs import SAMPLED, choices
from specdec_lib.measure.experiment import engineering, grid, survey
from specdec_lib.measure.experiment.costs import Found
from specdec_lib.measure.experiment.loops import LIBRARY
from specdec_lib.theory import Costs, walltime_speedup

DRAFTS = {*BUILT_IN_DRAFTS, "bigram", "unigram"}


def test_a_row_promises_with_v_and_without():
    costs = Costs(0.05, {m: 1.0 + 0.2 * (m - 1) for m in range(1, 10)})
    found = Found({"base": costs}, seconds=0.01, prompt=4.0)
    row = grid.row_of("234m", "base", "code", 1, Acceptance(0.7, 0.6, 60), found)
    assert row["K"] == costs.best_k(0.7) and row["with v"] == costs.speedup(0.7, row["K"])
    flat = [walltime_speedup(0.7, 0.05, k) for k in range(9)]
    assert (row["its K"], row["formula"]) == (flat.index(max(flat)), max(flat))
    assert 1 < row["and prompt"] < row["with v"] < row["formula"]
    poor = grid.row_of("234m", "base", "code", 0, Acceptance(0.7, 0.0, 60), found)
    assert poor["alpha"] == 0 and poor["K"] == 1 and poor["with v"] < 1


def test_the_model_drafts_are_run_on_code_beside_hugging_face(machine):
    rows = grid.run(machine, LIBRARY)
    settings = zip(rows.draft, rows.task, rows.temperature, strict=True)
    assert set(settings) == set(product(DRAFTS, ("code", "prose"), (0, 1)))
    assert len(rows) == 20 and rows.alpha.between(0, 1).all()
    run = rows[rows.measured.notna()]
    assert len(run) == 6 and set(run.draft) == set(BUILT_IN_DRAFTS) and set(run.task) == {"code"}
    assert (run.low <= run.measured).all() and (run.measured <= run.high).all()
    assert (run[["low", "over generate", "over assisted"]] > 0).all(axis=None)


def test_the_costlier_target_is_the_largest_that_fits(monkeypatch: pytest.MonkeyPatch):
    cpu = torch.device("cpu")
    for free, size in ((None, "234m"), (3e9, "234m"), (1e9, "40m"), (1e6, "40m")):
        monkeypatch.setattr(survey, "free_memory", lambda device, free=free: free)
        assert survey.largest(survey.SIZES["cpu"], cpu, torch.float32) == size


def test_a_growing_cache_changes_no_token(machine):
    target, draft = machine.targets["built-in"], machine.drafts["small"]
    prompts = held_out.prompts(2)
    texts = []
    for wrap in (lambda model: model, engineering.Growing):
        drafter, drawn = ModelDrafter(wrap(draft)), choices(SAMPLED, 0, 2)
        out = speculative_generate(wrap(target), drafter, prompts, 3, Settings(12, SAMPLED), drawn)
        texts.append(out.tokens)
    assert texts[0] == texts[1]
    cache = engineering.Growing(draft).new_cache()
    draft.forward(torch.tensor([[1, 2, 3]]), cache)
    cache.truncate(1)
    draft.forward(torch.tensor([[4]]), cache)
    assert cache.keys.shape[2] == cache.capacity == 2
