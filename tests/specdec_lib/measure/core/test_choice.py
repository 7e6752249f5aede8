"""The choice of dtype, draft and K: one function, from passes that are interleaved long enough."""

import pytest
import torch
from decoders.stand_in_clock import Clock

from specdec_lib.measure.core import costs, models, timing
from specdec_lib.measure.core.choice import best_k, choices, fastest, fastest_plain
from specdec_lib.theory import Costs

DTYPES = torch.float32, torch.bfloat16


def test_tasks_go_round_for_as_long_as_is_asked(monkeypatch):
    clock = Clock(monkeypatch)
    tasks = {"a": clock.task(0.25), "b": clock.task(0.75)}
    assert {key: len(each) for key, each in timing.for_seconds(tasks, 20).items()} == {
        "a": 20,
        "b": 20,
    }
    assert clock.now == 21  # a first round is not counted
    assert len(timing.for_seconds(tasks, 2)["a"]) == 10
    assert len(timing.for_seconds(tasks, 2, least=3)["a"]) == 3


def test_all_candidates_are_interleaved_and_costs_are_relative_to_their_own_pass(monkeypatch):
    clock, order = Clock(monkeypatch), []
    grows = {torch.float32: 0.010, torch.bfloat16: 0.001}

    def task(model, width):
        run = clock.task(0.01 + grows[model] * (width - 1))
        return lambda: order.append((model, width)) or run()

    def tasks(model, widths):
        return {width: task(model, width) for width in widths}

    steps = {dtype: {"small": clock.task(0.002)} for dtype in DTYPES}
    monkeypatch.setattr(costs, "pass_tasks", tasks)
    measured = costs.costs_by_dtype(dict(zip(DTYPES, DTYPES, strict=True)), steps, 1.0)
    once = [(dtype, width) for dtype in DTYPES for width in range(1, 10)]
    assert order[:18] == order[18:36] == once and clock.now > 1.0
    assert measured[torch.float32][0]["small"].v[5] == pytest.approx(5)
    assert measured[torch.bfloat16][0]["small"].v[5] == pytest.approx(1.4)
    assert measured[torch.bfloat16][0]["small"].c == pytest.approx(0.2)
    best = fastest(choices(measured, {"small": 0.7}))
    assert best.dtype == torch.bfloat16 and best.k > 1


def test_the_best_k_is_that_of_the_cost_model():
    growing = Costs(0.1, {m: 1 + 0.1 * (m - 1) for m in range(1, 10)})
    choice = best_k(torch.float32, "small", 0.7, growing, 0.02)
    assert choice.k == growing.best_k(0.7)
    assert choice.tokens_per_second == pytest.approx(growing.speedup(0.7, choice.k) / 0.02)
    hopeless = best_k(torch.float32, "small", 0.01, Costs(1.0, growing.v), 0.02)
    assert hopeless.k == 1 and hopeless.speedup < 1  # a block drafts at least one token


def test_plain_decoding_is_chosen_by_its_own_pass():
    flat, steep = Costs(0.1, dict.fromkeys(range(1, 10), 1.0)), Costs(0.1, {1: 1.0, 2: 9.0})
    measured = {torch.float32: ({"a": steep}, 0.010), torch.bfloat16: ({"a": flat}, 0.011)}
    assert fastest_plain(measured) == torch.float32
    assert fastest(choices(measured, {"a": 0.7})).dtype == torch.bfloat16


def test_bfloat16_is_a_candidate_where_there_are_instructions_for_it(monkeypatch):
    for has in (True, False):
        monkeypatch.setattr(models, "multiplies_bfloat16", lambda has=has: has)
        assert models.dtypes() == DTYPES[: 1 + has]
