"""The experiment of chapter 08: what each row promises, and what is run beside it."""

from itertools import product

import pytest
import torch

from specdec_lib.assets import BUILT_IN_DRAFTS, tokenizer
from specdec_lib.decoding.state import VerifiedBlock
from specdec_lib.measure.acceptance import Acceptance
from specdec_lib.measure.costs import DraftCosts
from specdec_lib.measure.experiment import grid, survey, traces
from specdec_lib.measure.experiment.contest import Contestants
from specdec_lib.measure.experiment.decoders import LIBRARY_DECODER
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.race.turns import code_after
from specdec_lib.text_stream import TextStream
from specdec_lib.theory import Costs, walltime_speedup


def test_a_row_promises_with_v_and_without():
    costs = Costs(0.05, {m: 1.0 + 0.2 * (m - 1) for m in range(1, 10)})
    found = DraftCosts({"base": costs}, pass_seconds=0.01)
    about = {"draft": "base", "temperature": 1}
    row = grid.promised_row(about, Acceptance(0.7, 0.6, 60), found)
    assert row["K"] == costs.best_k(0.7) and row["measured v"] == costs.speedup(0.7, row["K"])
    assert row["v = 1"] == max(walltime_speedup(0.7, 0.05, k) for k in range(9))
    assert 1 < row["measured v"] < row["v = 1"]
    poor = grid.promised_row(about | {"temperature": 0}, Acceptance(0.7, 0.0, 60), found)
    assert poor["alpha"] == 0 and poor["K"] == 1 and poor["measured v"] < 1


def test_the_experiment_has_six_rows_with_promises_and_clocks(machine, monkeypatch):
    monkeypatch.setattr(grid, "GRID_TOKENS", 12)
    monkeypatch.setattr(grid, "_PROMPTS", 1)
    rows = grid.measure_rows(machine, LIBRARY_DECODER, positions=80)
    settings = set(zip(rows.draft, rows.temperature, strict=True))
    assert settings == set(product(BUILT_IN_DRAFTS, (0, 1))) and len(rows) == 6
    assert (rows["tokens per pass"] > 0).all()
    assert (rows.low <= rows.clock).all() and (rows.clock <= rows.high).all()


def test_the_costlier_target_is_the_largest_that_fits(monkeypatch: pytest.MonkeyPatch):
    cpu = torch.device("cpu")
    for free, size in ((None, "234m"), (3e9, "234m"), (1e9, "40m"), (1e6, "40m")):
        monkeypatch.setattr(survey, "free_memory", lambda device, free=free: free)
        assert survey.largest_size(survey.SIZES["cpu"], cpu, torch.float32) == size


def test_every_draft_of_a_machine_has_a_cost_in_plain_passes(monkeypatch, capsys):
    monkeypatch.setattr(survey, "SIZES", {"cpu": ("40m",)})
    monkeypatch.setattr(survey, "_ROUNDS", 1)
    found = survey.load_machine().costs
    assert "The built-in target at 40M." in capsys.readouterr().out
    assert set(found.by_draft) == set(BUILT_IN_DRAFTS) and found.pass_seconds > 0
    assert all(each.c > 0 for each in found.by_draft.values())
    assert set(found.v) == set(range(1, 10)) and found.v[1] == 1


def test_the_passes_of_a_machine_are_one_row(machine):
    (row,) = machine.passes().to_dict("records")
    assert row["ms per token"] == 10 and row["v(5)"] == 1.2 and row["c of base"] == 0.1


def test_a_letter_of_several_tokens_stands_at_its_last_one():
    first, second, *_, last = tokenizer().encode("é😀").ids
    block = VerifiedBlock([first, second, last], [first], second, 2, False, [], [])
    shown = traces.block_pieces(block, TextStream(tokenizer()))
    assert shown["drafted"] == ["", "é", ""] and shown["token"] == "é"


def test_a_trace_holds_what_the_picture_needs(machine):
    subject = code_after(prompts(1, 16), lambda: machine.target, "")
    models = Contestants(machine.pair, None, None, subject, 0)
    blocks = traces.first_trace(models)["blocks"]
    written = sum(block["accepted"] + 1 for block in blocks)
    assert traces.TRACE_TOKENS <= written <= traces.TRACE_TOKENS + machine.pair.k
    assert all(len(b["drafted"]) == len(b["p"]) == len(b["q"]) for b in blocks)
    assert all(block["token"] for block in blocks)
