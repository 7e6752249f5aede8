"""Decoders timed end to end: contests, versions, traces, batches."""

import pytest
import torch

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.runs import GREEDY, SAMPLED, choices
from specdec_lib.measure.experiment import batches, contest, engineering, traces
from specdec_lib.measure.experiment.budget import RUNS
from specdec_lib.measure.experiment.loops import LIBRARY, yours
from specdec_lib.measure.hugging import Counted


def test_a_contest_runs_every_decoder(machine, monkeypatch):
    monkeypatch.setattr(contest, "POOL", 6)
    held = contest.Contest(machine, "built-in", LIBRARY)
    held.__dict__["hugging"] = {"float32": Counted.of_folder(ASSETS / "target", torch.float32)}
    for warp in (GREEDY, SAMPLED):
        setting = contest.Setting("small", 2, ".py", warp)
        with machine.budget.part(RUNS) as part:
            outcome = held.outcome(setting, part)
        assert all(each.median > 0 for each in outcome[:4])
        assert outcome.hugging == "float32"
        assert outcome.assisted in ("float32, K = 2", "float32, K of its own")
        assert set(outcome.to_json()) == set(contest.Outcome._fields)


def test_settings_of_hugging_face_are_tried_on_few_tokens_and_run_on_all(machine, monkeypatch):
    written = []
    monkeypatch.setattr(
        contest.hugging, "generate", lambda *given, new_tokens, **how: written.append(new_tokens)
    )
    held = contest.Contest(machine, "built-in", LIBRARY)
    held.__dict__["hugging"] = {"float32": None, "bfloat16": None}
    with machine.budget.part(RUNS) as part:
        sides = held.sides(contest.Setting("small", 2, ".py", GREEDY), part)
    assert set(written) == {contest.TRIAL}
    for side in sides.values():
        side.decoder([1])
    assert written[-2:] == [machine.effort.tokens] * 2


def test_prompts_of_a_task_are_from_its_documents():
    prose = held_out.prompts(2, ending=".txt")
    texts = [each.ids for each in held_out.all_tokens() if each.name.endswith(".txt")]
    for prompt in prose:
        joined = ",".join(map(str, prompt))
        assert any(joined in ",".join(map(str, ids)) for ids in texts)
    with pytest.raises(ValueError, match="the held-out text has"):
        held_out.prompts(3, ending=".none")


def test_a_growing_cache_changes_no_token(machine):
    target, draft = machine.targets["built-in"], machine.drafts["small"]
    prompts = held_out.prompts(2)
    texts = []
    for wrap in (lambda model: model, engineering.Growing):
        drafter, drawn = ModelDrafter(wrap(draft)), choices(SAMPLED, 0, 2)
        out = speculative_generate(wrap(target), drafter, prompts, 3, Settings(12, SAMPLED), drawn)
        texts.append(out.tokens)
    assert texts[0] == texts[1]
    cache = engineering.Growing(draft).new_cache()
    draft.forward(torch.tensor([[1, 2, 3]]), cache)
    cache.truncate(1)
    draft.forward(torch.tensor([[4]]), cache)
    assert cache.keys.shape[2] == cache.capacity == 2


def test_three_versions_are_timed(machine):
    mine = yours(LIBRARY.generate, LIBRARY.verify_block)
    measured = engineering.measure(mine, machine, "built-in", "small", 2)
    assert list(measured) == ["target built-in, draft small, K = 2"]
    versions = engineering.versions(measured)
    names = [each.name for each in versions]
    assert len(names) == 3 and engineering.GROWING in names
    assert all(each.speedup.median > 0 for each in versions)


def test_traces_hold_what_the_picture_needs(machine, monkeypatch):
    for name, value in (("TEXTS", 2), ("TOKENS", 20), ("SHOWN", 8), ("CLASS_POSITIONS", 50)):
        monkeypatch.setattr(traces, name, value)
    recorded = traces.of_built_in(LIBRARY, machine, k=3)
    shown = recorded.picture()
    assert len(recorded.texts) == 2 and len(shown["blocks"]) <= len(recorded.blocks)
    written = sum(block["accepted"] + 1 for block in shown["blocks"])
    assert 8 <= written <= 11
    assert all(len(b["drafted"]) == len(b["p"]) == len(b["q"]) for b in shown["blocks"])
    assert all(0 <= cold <= 1 and 0 <= warm <= 1 for cold, warm, _ in recorded.classes.values())


def test_batches_tell_the_last_row_and_the_gain(machine, monkeypatch):
    for name, value in (("BATCHES", (1, 2)), ("KS", (2,)), ("TOKENS", 5)):
        monkeypatch.setattr(batches, name, value)
    served = batches.served(batches.measure(LIBRARY, machine, "built-in", "small"))
    assert [(each.batch, each.k) for each in served] == [(1, 0), (1, 2), (2, 0), (2, 2)]
    assert served[0].gain == served[2].gain == 1.0
    assert all(0 < each.latency <= each.slowest for each in served)
