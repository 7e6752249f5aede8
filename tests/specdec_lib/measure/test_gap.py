"""What lies between a promised speed-up and the clock: every cost in its step."""

import pytest
import torch

from specdec_lib import theory
from specdec_lib.measure import gap
from specdec_lib.measure.core import models
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.strategies import Measured
from specdec_lib.theory import Costs

COSTS = Costs(0.25, {1: 1.0, 2: 1.125, 3: 1.25})
# Two texts of four tokens; a bare pass takes 1 s, and Python 0.5 s for each plain token.
TIMES = {
    "plain": [6.0, 6.0],
    "plain, host": [2.0, 2.0],
    "plain, passes": [4, 4],
    "speculative": [4.0, 3.0],
    "speculative, host": [1.0, 2.0],
    "speculative, passes": [2, 1],
}


def test_an_account_is_in_bare_passes():
    found = gap.account(TIMES, 2)
    assert (found.plain_host, found.block_host) == (0.5, 1.0)
    assert found.tokens_a_block == pytest.approx(8 / 3)
    assert found.measured == pytest.approx(12 / 7) and found.by_text == [1.5, 2.0]


def test_every_step_adds_one_cost():
    promise, verified, cold, hosted = gap.steps(gap.account(TIMES, 2), COSTS, again=0.125)
    assert (promise.c, promise.verify_cost) == (0.125, 1)
    assert (verified.c, verified.verify_cost) == (0.125, 1.25)
    assert (cold.c, cold.verify_cost) == ((0.25 + 0.125) / 2, 1.25)
    # A block of 0.375 + 1.25 passes and 1 of Python, in plain tokens of 1.5 passes.
    assert 2 * hosted.c + hosted.verify_cost == pytest.approx((0.375 + 1.25 + 1) / 1.5)


def test_the_draft_and_k_that_promise_most_with_the_measured_times():
    rows = {
        "slow": Measured(1, 1.0, 0.9, Costs(0.9, COSTS.v), 0.9),
        "fast": Measured(1, 1.0, 0.6, Costs(0.01, COSTS.v), 0.01),
    }
    assert gap.best(rows, theory.walltime_speedup) == ("fast", 2)
    (alpha, found, steps), *rest = gap.accounts({("slow", 2): TIMES}, rows)
    assert (alpha, found.k, steps[0].c, rest) == (0.9, 2, 0.9, [])


def test_a_function_that_does_not_run_is_replaced_by_the_librarys():
    def unwritten(alpha, c, k, verify_cost=1.0):
        raise NotImplementedError

    assert gap.usable(unwritten)(0.5, 0.1, 2) == pytest.approx(1.75 / 1.2)
    assert gap.usable(lambda *args: 7)(0.5, 0.1, 2, 1.5) == 7.0


def test_plain_and_speculative_decoding_are_accounted_for_text_by_text(monkeypatch):
    monkeypatch.setattr(gap, "TOKENS", 3)
    target = models.target(None, torch.float32)
    found = gap.texts(target, models.draft("small"), 2, prompts(2))
    assert set(found) == set(TIMES) and found["plain, passes"] == [3, 3]
    for name in ("plain", "speculative"):
        pairs = zip(found[f"{name}, host"], found[name], strict=True)
        assert all(0 < host < whole for host, whole in pairs)
