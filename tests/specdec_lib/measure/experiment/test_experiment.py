"""The experiment of chapter 08: what each row promises, and what is run beside it."""

from itertools import product

import pytest
import torch

from specdec_lib.assets import BUILT_IN_DRAFTS, tokenizer
from specdec_lib.decoding.state import VerifiedBlock
from specdec_lib.measure.acceptance import Acceptance
from specdec_lib.measure.costs import DraftCosts
from specdec_lib.measure.experiment import batches, grid, survey, traces
from specdec_lib.measure.experiment.decoders import LIBRARY_DECODER
from specdec_lib.measure.experiment.survey import measure_costs
from specdec_lib.models.catalogue import PairError
from specdec_lib.text_stream import TextStream
from specdec_lib.theory import Costs, walltime_speedup


def test_a_row_promises_with_v_and_without():
    costs = Costs(0.05, {m: 1.0 + 0.2 * (m - 1) for m in range(1, 10)})
    found = DraftCosts({"base": costs}, pass_seconds=0.01, prompt=4.0)
    about = {"draft": "base", "task": "code", "temperature": 1}
    row = grid.promised_row(about, Acceptance(0.7, 0.6, 60), found)
    assert row["K"] == costs.best_k(0.7) and row["measured v"] == costs.speedup(0.7, row["K"])
    assert row["v = 1"] == max(walltime_speedup(0.7, 0.05, k) for k in range(9))
    assert 1 < row["measured v + prompt"] < row["measured v"] < row["v = 1"]
    poor = grid.promised_row(about | {"temperature": 0}, Acceptance(0.7, 0.0, 60), found)
    assert poor["alpha"] == 0 and poor["K"] == 1 and poor["measured v"] < 1


def test_hugging_face_comes_first_and_then_all_six_rows(machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(grid.GRID_TOKENS, "code", 12)
    promised = grid.promised_rows(machine)
    settings = set(zip(promised.draft, promised.temperature, strict=True))
    assert settings == set(product(BUILT_IN_DRAFTS, (0, 1))) and len(promised) == 6
    met = grid.compare_with_hugging_face(machine, LIBRARY_DECODER, promised)
    assert met.row.temperature == 0 and met.texts == {"the same": 1, "near-tie": 0, "different": 0}
    assert (met.over > 0).all(axis=None) and met.speeds.tokens_per_pass["loop"] > 1
    rows = grid.measure_rows(machine, LIBRARY_DECODER, promised, met)
    assert rows.clock[met.row.name] == met.over.speedup["plain"]
    assert (rows["tokens per pass"] > 0).all()
    assert (rows.low <= rows.clock).all() and (rows.clock <= rows.high).all()


def test_every_draft_has_a_cost_in_plain_passes(machine):
    found = measure_costs(machine.target, machine.drafts, [1, 2], rounds=1)
    assert (
        set(found.by_draft) == set(BUILT_IN_DRAFTS) and found.pass_seconds > 0 and found.prompt > 0
    )
    assert all(each.c > 0 for each in found.by_draft.values())
    assert set(found.v) == set(range(1, 10)) and found.v[1] == 1


def test_the_costlier_target_is_the_largest_that_fits(monkeypatch: pytest.MonkeyPatch):
    cpu = torch.device("cpu")
    for free, size in ((None, "234m"), (3e9, "234m"), (1e9, "40m"), (1e6, "40m")):
        monkeypatch.setattr(survey, "free_memory", lambda device, free=free: free)
        assert survey.largest_size(survey.SIZES["cpu"], cpu, torch.float32) == size


def test_longer_multiplies_what_is_measured(machine):
    assert machine.scaled(8000) == 80 and machine.scaled(2) == 1
    with pytest.raises(ValueError, match="LONGER is 0; it is a positive number"):
        survey.load_machine(0)


def test_without_the_fetched_pair_the_built_in_one_stands_in(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path))
    monkeypatch.setattr(survey, "SIZES", {"cpu": ("40m",)})
    monkeypatch.setattr(survey, "measure_costs", lambda *models: None)
    found = survey.load_machine()
    said = capsys.readouterr().out
    assert (found.name, found.task, found.race_subject) == ("40m", "code", None)
    assert "stands in" in said and "`specdec fetch smollm2-135m`" in said and "cost of 40M" in said
    for name, why in (
        ("smollm2-135m", "is not on this machine"),
        ("qwen", "no pair in this chapt"),
    ):
        with pytest.raises(PairError, match=why):
            survey.load_machine(name=name)


def test_the_passes_of_a_machine_are_one_row(machine):
    (row,) = machine.passes().to_dict("records")
    assert row["ms per token"] == 10 and row["v(5)"] == 1.2 and row["c of base"] == 0.1


def test_a_letter_of_several_tokens_stands_at_its_last_one():
    first, second, *_, last = tokenizer().encode("é😀").ids
    block = VerifiedBlock([first, second, last], [first], second, 2, False, [], [])
    shown = traces.block_pieces(block, TextStream(tokenizer()))
    assert shown["drafted"] == ["", "é", ""] and shown["token"] == "é"


def test_a_trace_holds_what_the_picture_needs(machine):
    blocks = traces.machine_trace(LIBRARY_DECODER, machine)["blocks"]
    written = sum(block["accepted"] + 1 for block in blocks)
    assert traces.TRACE_TOKENS <= written <= traces.TRACE_TOKENS + machine.pair.k
    assert all(len(b["drafted"]) == len(b["p"]) == len(b["q"]) for b in blocks)
    assert all(block["token"] for block in blocks)


def test_batches_run_every_way_by_turns(machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batches, "BATCH_TOKENS", 4)
    monkeypatch.setattr(batches, "BATCH_WARM_UP_TOKENS", 2)
    rows = batches.measure_batches(LIBRARY_DECODER, machine, "small")
    ways = (batches.BATCH_PLAIN, *(f"K = {k}" for k in batches.BATCH_KS))
    assert list(zip(rows.batch, rows.way, strict=True)) == list(product(batches.BATCH_SIZES, ways))
    assert (rows["tokens a second"] > 0).all()
