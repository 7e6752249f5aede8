"""What lies between a promised speed-up and the clock: every cost in its step."""

import pandas as pd
import pytest
import torch

from specdec_lib import theory
from specdec_lib.measure import gap
from specdec_lib.measure.core import models
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.strategies import Measured
from specdec_lib.theory import Costs

COSTS = Costs(0.25, {1: 1.0, 2: 1.125, 3: 1.25})
ROW = Measured(1, 1.0, 0.9, COSTS, again=0.125)
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
    promise, verified, cold, (c, v) = gap.account(ROW, FRAME, 2).steps.values()
    assert promise == (0.125, 1) and verified == (0.125, 1.25)
    assert cold == ((0.25 + 0.125) / 2, 1.25)
    # A block of 0.375 + 1.25 passes and 1 of Python, in plain tokens of 1.5 passes.
    assert 2 * c + v == pytest.approx((0.375 + 1.25 + 1) / 1.5)


def test_the_clock_is_that_of_the_same_texts():
    found = gap.account(ROW, FRAME, 2)
    assert found.tokens_a_block == pytest.approx(8 / 3)
    assert found.measured == pytest.approx(12 / 7) and found.by_text == [1.5, 2.0]


def test_the_draft_and_k_that_promise_most_with_the_measured_times():
    fast = Measured(1, 1.0, 0.6, Costs(0.01, COSTS.v), 0.01)
    slow = Measured(1, 1.0, 0.9, Costs(0.9, COSTS.v), 0.9)
    assert gap.best({"slow": slow, "fast": fast}, theory.walltime_speedup) == ("fast", 2)


def test_a_function_that_does_not_run_is_replaced_by_the_librarys():
    def unwritten(alpha, c, k, verify_cost=1.0):
        raise NotImplementedError

    for function in (unwritten, lambda *args: None):
        assert gap.usable(function)(0.5, 0.1, 2) == pytest.approx(1.75 / 1.2)
    assert gap.usable(lambda *args: 7)(0.5, 0.1, 2, 1.5) == 7.0


def test_the_time_inside_the_passes_is_a_part_of_every_text():
    target = models.target(None, torch.float32)
    frame = gap.texts(target, models.draft("small"), 2, prompts(2))
    assert frame.decoder.tolist() == ["plain", "speculative"] * 2
    assert (frame.tokens == gap.TOKENS).all() and (frame.inside > 0).all()
    assert (frame.inside < frame.seconds).all()
