"""The bench's trials of Hugging Face's settings."""

from types import SimpleNamespace

import torch
from decoders.stand_in_clock import Clock

from specdec_lib.measure.bench import comparisons

DTYPES = torch.float32, torch.bfloat16


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

    def counted(folder, dtype):
        return SimpleNamespace(dtype=dtype)

    monkeypatch.setattr(comparisons.hugging, "generate", generate)
    monkeypatch.setattr(comparisons, "hugging_draft", counted)
    targets = {dtype: counted("target", dtype) for dtype in DTYPES}
    name = comparisons.fastest_hugging(targets, [1], 64, "small")[1]
    assert "small draft in torch.bfloat16" in name
    tried = {each for each in made if each[1]}
    assert tried == {(t, torch.bfloat16, k) for t in DTYPES for k in comparisons.TRIED_K}
