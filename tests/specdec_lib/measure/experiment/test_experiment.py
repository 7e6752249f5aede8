"""The experiment of chapter 08: what each row promises, and what is run beside it."""

from itertools import product

import pytest
import torch

from specdec_lib.assets import BUILT_IN_DRAFTS, tokenizer
from specdec_lib.decoding.state import VerifiedBlock
from specdec_lib.measure.acceptance import Acceptance
from specdec_lib.measure.experiment import batches, grid, survey, traces
from specdec_lib.measure.experiment.costs import Found, costs_on
from specdec_lib.measure.experiment.decoders import LIBRARY
from specdec_lib.text_stream import TextStream
from specdec_lib.theory import Costs, walltime_speedup


def test_a_row_promises_with_v_and_without():
    costs = Costs(0.05, {m: 1.0 + 0.2 * (m - 1) for m in range(1, 10)})
    found = Found({"base": costs}, seconds=0.01, prompt=4.0)
    row = grid.row_of("234m", "base", 1, Acceptance(0.7, 0.6, 60), found)
    assert row["K"] == costs.best_k(0.7) and row["measured v"] == costs.speedup(0.7, row["K"])
    assert row["v = 1"] == max(walltime_speedup(0.7, 0.05, k) for k in range(9))
    assert 1 < row["measured v + prompt"] < row["measured v"] < row["v = 1"]
    poor = grid.row_of("234m", "base", 0, Acceptance(0.7, 0.0, 60), found)
    assert poor["alpha"] == 0 and poor["K"] == 1 and poor["measured v"] < 1


def test_hugging_face_comes_first_and_then_all_six_rows(machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grid, "TOKENS", 12)
    promised = grid.promised(machine)
    settings = set(zip(promised.draft, promised.temperature, strict=True))
    assert settings == set(product(BUILT_IN_DRAFTS, (0, 1))) and len(promised) == 6
    met = grid.beside_hugging_face(machine, LIBRARY, promised)
    assert met.row.temperature == 0 and met.texts == {"the same": 1, "near-tie": 0, "different": 0}
    assert (met.over > 0).all(axis=None) and met.speeds.tokens_per_pass["loop"] > 1
    rows = grid.run(machine, LIBRARY, promised, met)
    assert rows.clock[met.row.name] == met.over.speedup["plain"]
    assert (rows["tokens per pass"] > 0).all()
    assert (rows.low <= rows.clock).all() and (rows.clock <= rows.high).all()


def test_every_draft_has_a_cost_in_plain_passes(machine):
    found = costs_on(machine.target, machine.drafts, rounds=1)
    assert set(found.drafts) == set(BUILT_IN_DRAFTS) and found.seconds > 0 and found.prompt > 0
    assert all(each.c > 0 for each in found.drafts.values())
    assert set(found.v) == set(range(1, 10)) and found.v[1] == 1


def test_the_costlier_target_is_the_largest_that_fits(monkeypatch: pytest.MonkeyPatch):
    cpu = torch.device("cpu")
    for free, size in ((None, "234m"), (3e9, "234m"), (1e9, "40m"), (1e6, "40m")):
        monkeypatch.setattr(survey, "free_memory", lambda device, free=free: free)
        assert survey.largest(survey.SIZES["cpu"], cpu, torch.float32) == size


def test_longer_multiplies_what_is_measured(machine):
    assert machine.times(8000) == 80 and machine.times(2) == 1
    with pytest.raises(ValueError, match="LONGER is 0; it is a positive number"):
        survey.look(0)


def test_the_passes_of_a_machine_are_one_row(machine):
    (row,) = machine.passes().to_dict("records")
    assert row["ms per token"] == 10 and row["v(5)"] == 1.2 and row["c of base"] == 0.1


def test_a_letter_of_several_tokens_stands_at_its_last_one():
    first, second, *_, last = tokenizer().encode("é😀").ids
    block = VerifiedBlock([first, second, last], [first], second, 2, False, [], [])
    shown = traces.as_shown(block, TextStream(tokenizer()))
    assert shown["drafted"] == ["", "é", ""] and shown["token"] == "é"


def test_a_trace_holds_what_the_picture_needs(machine):
    blocks = traces.of_built_in(LIBRARY, machine)["blocks"]
    written = sum(block["accepted"] + 1 for block in blocks)
    assert traces.TOKENS <= written <= traces.TOKENS + traces.K
    assert all(len(b["drafted"]) == len(b["p"]) == len(b["q"]) for b in blocks)
    assert all(block["token"] for block in blocks)


def test_batches_run_every_way_by_turns(machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batches, "TOKENS", 4)
    monkeypatch.setattr(batches, "WARM_UP", 2)
    rows = batches.measure(LIBRARY, machine, "small")
    ways = (batches.PLAIN, *(f"K = {k}" for k in batches.KS))
    assert list(zip(rows.batch, rows.way, strict=True)) == list(product(batches.BATCHES, ways))
    assert (rows["tokens a second"] > 0).all()
