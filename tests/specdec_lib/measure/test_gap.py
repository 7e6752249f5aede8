"""What lies between a promised speed-up and the clock: every cost in its step."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from classes.chapter_cases import unwritten

from specdec_lib import theory
from specdec_lib.decoding.state import Generation
from specdec_lib.measure import gap, models, timing
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.strategies import DraftMeasurement
from specdec_lib.theory import Costs

COSTS = Costs(0.125, {m: 1 + 0.125 * (m - 1) for m in range(1, 10)})
ROW = DraftMeasurement(1, 1.0, 0.9, COSTS, cold_c=0.25)
# Two texts of four tokens; a bare pass takes 1 s, and Python 0.5 s for each plain token.
FRAME = pd.DataFrame({
    "decoder": ["plain", "speculative"] * 2,
    "prompt": [0, 0, 1, 1],
    "round": 0,
    "seconds": [6.0, 4.0, 6.0, 3.0],
    "inside": [4.0, 3.0, 4.0, 1.0],
    "tokens": 4,
    "passes": [4, 2, 4, 1],
})  # fmt: skip


def test_every_step_adds_one_cost():
    promise, verified, cold, (c, v) = gap.speedup_breakdown(ROW, FRAME, 2).steps.values()
    assert promise == (0.125, 1) and verified == (0.125, 1.25)
    assert cold == ((0.25 + 0.125) / 2, 1.25)
    # A block of 0.375 + 1.25 passes and 1 of Python, in plain tokens of 1.5 passes.
    assert 2 * c + v == pytest.approx((0.375 + 1.25 + 1) / 1.5)


def test_the_clock_is_that_of_the_same_texts():
    found = gap.speedup_breakdown(ROW, FRAME, 2)
    assert found.tokens_a_block == pytest.approx(8 / 3) and found.tokens == 4
    assert found.measured == pytest.approx(12 / 7) and found.by_text == [1.5, 2.0]


def best_k(alpha, c, k_max):
    return max(range(k_max + 1), key=lambda k: theory.walltime_speedup(alpha, c, k))


def test_the_readers_functions_choose_k_by_the_formula_and_then_with_the_measured_v():
    cheap = DraftMeasurement(1, 1.0, 0.6, Costs(0.01, COSTS.v), 0.01)
    rows = {"dear": ROW, "cheap": cheap}
    for verified, s in ((False, 0.0), (True, 0.125)):
        found = gap.draft_choices(rows, best_k, theory.walltime_speedup, verified)
        for name, row in rows.items():
            speeds = [theory.walltime_speedup(row.alpha, row.costs.c + s, k) for k in range(9)]
            assert found[name].k == np.argmax(speeds) and found[name].s == pytest.approx(s)
            assert found[name].speedup == pytest.approx(max(speeds))
        assert gap.best_choice(found)[0] == "dear"


def test_functions_that_do_not_run_are_replaced_and_odd_ones_give_a_k_that_can_run(capsys):
    found = gap.draft_choices({"draft": ROW}, unwritten, lambda *args: None)
    assert found == gap.draft_choices({"draft": ROW}, best_k, theory.walltime_speedup)
    assert "Your unwritten does not run yet" in capsys.readouterr().out
    for odd, k in ((99, 8), (-1, 1)):
        assert (
            gap.draft_choices({"draft": ROW}, lambda *args, odd=odd: odd, lambda *args: 1)[
                "draft"
            ].k
            == k
        )


def test_the_time_inside_the_passes_is_a_part_of_every_text():
    target = models.load_target(None, torch.float32)
    frame = gap.time_decoders(target, models.load_draft("small"), 2, prompts(2))
    assert frame.decoder.tolist() == ["plain", "speculative"] * 2
    assert (frame.tokens == gap.TEXT_TOKENS).all() and (frame.inside > 0).all()
    assert (frame.inside < frame.seconds).all()


def test_what_comes_before_the_first_block_is_neither_a_pass_nor_taken_from_one(monkeypatch):
    """Reading the prompt takes 5 s, a cache 100 s, and each of two passes that write 3 s."""
    now, cache = [0.0], SimpleNamespace(length=torch.tensor([0]))
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def forward(tokens: torch.Tensor, cache: SimpleNamespace) -> None:
        cache.length[0] += tokens.shape[1]
        now[0] += 5.0 if tokens.shape[1] > 1 else 3.0

    def decoder(prompt: list[int]) -> Generation:
        model.forward(torch.tensor([prompt[:-1]]), cache)
        now[0] += 100.0
        for token in (prompt[-1], 7):
            model.forward(torch.tensor([[token]]), cache)
        return Generation([[7, 8]], seconds=10.0)

    model = timing.PassRecorder(SimpleNamespace(forward=forward))
    run, times = gap.recording_times(decoder, model)
    run([4, 5, 6])
    assert times == [6.0]
