"""The bench's cliffs and trials, and how stable its choices are."""

from types import SimpleNamespace

import pytest
import torch
from decoders.stand_in_clock import Clock

from specdec_lib.measure.bench import cliff, comparisons, stability, workbench
from specdec_lib.measure.bench.figures import FIGURES
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.acceptance import Acceptance
from specdec_lib.theory import Costs

DTYPES = torch.float32, torch.bfloat16


def each_of(task):
    """Passes of several widths from a function that makes one."""
    return lambda model, widths: {width: task(model, width) for width in widths}


def test_the_widest_cliff_is_found_and_named(monkeypatch):
    clock = Clock(monkeypatch)

    def task(model: str, width: int):
        cliffs = {"target": {7: 2.0}, "draft": {3: 1.2}}
        return clock.task(0.001 * (1 + 0.01 * width) * cliffs[model].get(width, 1.0))

    monkeypatch.setattr(cliff, "pass_tasks", each_of(task))
    monkeypatch.setattr(cliff, "models", lambda dtypes: {"a": "target", "b": "draft"})
    bench = Workbench([], 1, 1)
    found = FIGURES["widest_cliff"].measure(bench)
    assert found.value == pytest.approx(2 * 1.07 / 1.08)
    assert list(found.among) == ["a, 7 tokens against 8", "b, 3 tokens against 4"]
    assert bench.notes == ["widest cliff: 1.98, a, 7 tokens against 8"]
    assert not FIGURES["widest_cliff"].met(found)


def test_a_disturbance_of_some_rounds_makes_no_cliff(monkeypatch):
    clock, calls = Clock(monkeypatch), {}

    def task(model: str, width: int):
        def run() -> None:
            calls[width] = calls.get(width, 0) + 1
            clock.task(0.5 if width == 5 and calls[width] % 3 == 0 else 0.1)()

        return run

    monkeypatch.setattr(cliff, "pass_tasks", each_of(task))
    assert max(cliff.steps_down("model").values()) == pytest.approx(1.0)


def test_every_model_is_looked_at_in_every_format_that_can_be_chosen(monkeypatch):
    monkeypatch.setattr(cliff, "target", lambda size, dtype: (size, dtype))
    monkeypatch.setattr(cliff, "draft", lambda name: name)
    assert set(cliff.models(DTYPES).values()) == {
        *("large", "base", "small"),
        *((size, dtype) for size in (None, "40m", "234m") for dtype in DTYPES),
    }


def test_what_is_far_behind_on_a_few_tokens_is_not_tried_on_a_whole_text(monkeypatch):
    clock, tried = Clock(monkeypatch), []
    per_token = {"slow": 0.3, "near": 0.12, "best": 0.1}

    def ways(targets, tokens, draft):
        def way(name: str):
            sooner = 3 if (tokens, name) == (64, "near") else 0
            run = clock.task(per_token[name] * tokens - sooner)
            return lambda prompt: tried.append((name, tokens)) or run()

        return {name: way(name) for name in per_token}

    monkeypatch.setattr(comparisons, "ways", ways)
    assert comparisons.fastest_hugging({}, [1], 64, None)[1] == "near"
    assert {name for name, tokens in tried if tokens == 64} == {"near", "best"}
    assert {name for name, tokens in tried if tokens == comparisons.SHORT} == set(per_token)


def test_hugging_face_may_take_bfloat16_where_ours_may_not(monkeypatch):
    monkeypatch.setattr(workbench, "dtypes", lambda: DTYPES[:1])
    assert comparisons.their_dtypes(Workbench([], 1, 1)) == DTYPES


def test_choices_are_made_anew_and_counted(monkeypatch):
    v, made = dict.fromkeys(range(1, 10), 1.0), []

    def measured(models, *how):
        made.append(1)
        seconds = {torch.float32: 0.010, torch.bfloat16: 0.009 if len(made) == 2 else 0.011}
        return {each: ({"small": Costs(0.1, v)}, seconds[each]) for each in models}

    monkeypatch.setattr(workbench, "costs_by_dtype", measured)
    monkeypatch.setattr(workbench, "dtypes", lambda: DTYPES)
    monkeypatch.setattr(workbench, "target", lambda *model: None)
    monkeypatch.setattr(Workbench, "steps", lambda *what: {})
    monkeypatch.setattr(workbench, "accepted", lambda name: Acceptance(0.6, 0.5, 1))
    lines = stability.report(Workbench([], 1, 1), 3).splitlines()
    assert len(made) == 3
    assert "234m cost, 3 times; plain: float32: 2; bfloat16: 1" in lines[0]
    k = Costs(0.1, v).best_k(0.6)
    expected = f"float32: 2; bfloat16: 1; in all float32, small draft, K = {k}: 2; "
    assert lines[1].startswith(f"sampled: {expected}bfloat16, small draft, K = {k}: 1")


def test_one_way_that_is_far_ahead_needs_no_trial_on_a_whole_text(monkeypatch):
    clock, tried = Clock(monkeypatch), []

    def ways(targets, tokens, draft):
        def way(seconds: float):
            return lambda prompt: tried.append(tokens) or clock.task(seconds)()

        return {"best": way(0.1), "slow": way(0.3)}

    monkeypatch.setattr(comparisons, "ways", ways)
    assert comparisons.fastest_hugging({}, [1], 64, None)[1] == "best"
    assert set(tried) == {comparisons.SHORT}


def test_hugging_faces_draft_runs_in_the_dtype_in_which_it_writes_fastest_by_itself(monkeypatch):
    clock, made = Clock(monkeypatch), []
    seconds = {torch.float32: 0.02, torch.bfloat16: 0.01}

    def generate(model, prompt, new_tokens, draft=None, k=None):
        clock.task(1.0 if draft else seconds[model.dtype])()
        made.append((model.dtype, draft and draft.dtype, k))

    def counted(folder, dtype, device):
        return SimpleNamespace(dtype=dtype, model=SimpleNamespace(device=device))

    monkeypatch.setattr(comparisons.hugging, "generate", generate)
    monkeypatch.setattr(comparisons, "hugging_draft", counted)
    targets = {dtype: counted("target", dtype, "cpu") for dtype in DTYPES}
    name = comparisons.fastest_hugging(targets, [1], 64, "small")[1]
    assert "small draft in torch.bfloat16" in name
    tried = {each for each in made if each[1]}
    assert tried == {(t, torch.bfloat16, k) for t in DTYPES for k in comparisons.TRIED_K}
