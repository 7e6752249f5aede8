"""What lies between a promised speed-up and the clock: every cost in its step."""

import numpy as np
import pandas as pd
import pytest
import torch
from classes.chapter_cases import unwritten

from specdec_lib import theory
from specdec_lib.measure import gap, models
from specdec_lib.measure.strategies import DraftMeasurement
from specdec_lib.theory import Costs

COSTS = Costs(0.125, {m: 1 + 0.125 * (m - 1) for m in range(1, 10)})
ROW = DraftMeasurement(1, 1.0, 0.9, COSTS)
# Two texts of four tokens; a plain token takes 1.5 s.
FRAME = pd.DataFrame({
    "decoder": ["plain", "fast"] * 2,
    "prompt": [0, 0, 1, 1],
    "round": 0,
    "seconds": [6.0, 4.0, 6.0, 3.0],
    "tokens": 4,
    "passes": [4, 2, 4, 1],
})  # fmt: skip


def test_every_step_adds_one_cost_and_the_last_is_the_clock():
    found = gap.speedup_breakdown(ROW, 2, 2.5, FRAME, "fast")
    block = 7 / 3 / 1.5  # of the three blocks, which take 2, 2 and 3 s, in plain tokens
    assert [*found.steps.values()] == [(0.125, 1), (0.125, 1.25), (0, pytest.approx(block))]
    assert found.measured == pytest.approx(2.5 / block)
    assert found.by_text == pytest.approx([2.5 * 1.5 / 2, 2.5 * 1.5 / 3])


def best_k(alpha, c, v):
    return max(range(len(v)), key=lambda k: theory.walltime_speedup(alpha, c, k, v[k]))


def test_the_readers_functions_choose_k_by_the_formula_and_then_with_the_measured_v():
    cheap = DraftMeasurement(1, 1.0, 0.6, Costs(0.01, COSTS.v))
    rows = {"dear": ROW, "cheap": cheap}
    assert ROW.costs.s == 0.125
    for verified, s in ((False, 0.0), (True, 0.125)):
        found = gap.draft_choices(rows, best_k, theory.walltime_speedup, verified)
        for name, row in rows.items():
            speeds = [theory.walltime_speedup(row.alpha, row.costs.c + s, k) for k in range(9)]
            assert found[name].k == np.argmax(speeds)
            assert found[name].speedup == pytest.approx(max(speeds))
        assert gap.best_choice(found)[0] == "dear"


def test_functions_that_do_not_run_are_replaced_and_odd_ones_give_a_k_that_can_run(capsys):
    found = gap.draft_choices({"draft": ROW}, unwritten, lambda *args: None)
    assert found == gap.draft_choices({"draft": ROW}, best_k, theory.walltime_speedup)
    assert "Your unwritten does not run yet" in capsys.readouterr().out
    for odd, k in ((99, 8), (-1, 1)):
        found = gap.draft_choices({"draft": ROW}, lambda *args, odd=odd: odd, lambda *args: 1)
        assert found["draft"].k == k


def test_both_choices_are_clocked_on_the_same_texts_and_counted_on_more(monkeypatch):
    monkeypatch.setattr(gap, "COUNTED", 4)
    target, draft = models.load_target(None, torch.float32), models.load_draft("small")
    tables = [{"small": gap.DraftChoice(k, 2.0)} for k in (5, 2)]
    measured = {"small": ROW}
    found = gap.clock_choices((target, target), {"small": draft}, measured, tables, longer=1 / 3)
    assert list(found) == ["small, K = 5", "small, K = 2"]
    for account in found.values():
        assert 1 < account.tokens_a_block < account.k + 1
        assert account.by_text == pytest.approx([account.measured]) and account.measured > 0
