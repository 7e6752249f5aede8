"""The bench: who is held against whom, and what its table and file say."""

import json

import pandas as pd
import pytest
import torch

from specdec_lib.measure.acceptance import Acceptance
from specdec_lib.measure.bench import __main__ as bench
from specdec_lib.measure.bench import chat, figures
from specdec_lib.measure.costs import DraftCosts
from specdec_lib.measure.library_decoders import GREEDY
from specdec_lib.measure.prompts import chat_questions
from specdec_lib.theory import Costs

RAN = {"best plain": 4.0, "speculative": 2.0, "HF generate": 8.0, "HF assisted": 6.0}
V = {width: 1.0 + 0.1 * width for width in range(1, 10)}


def frame() -> pd.DataFrame:
    """Eight tokens of each decoder on two prompts, in the seconds of RAN."""
    rows = [
        {"decoder": name, "prompt": i, "round": 0, "seconds": seconds, "tokens": 8, "passes": 8}
        for i in range(2)
        for name, seconds in RAN.items()
    ]
    return pd.DataFrame(rows)


def test_the_file_has_a_spread_for_every_key_and_the_tokens_a_second(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(figures, "run_comparison", lambda size, warp: (frame(), ["a note"]))
    monkeypatch.setattr(chat, "run_comparison", lambda warp: (frame(), []))
    monkeypatch.setattr(bench, "is_fetched", lambda: True)
    monkeypatch.setattr(bench, "memory_overhead", lambda *pair: 1.25 if pair else 1.125)
    bench.main(["--json", str(tmp_path / "new" / "bench.json")])
    written = json.loads((tmp_path / "new" / "bench.json").read_text())
    assert written["cost234m_vs_best_plain_greedy"] == {"median": 2.0, "low": 2.0, "high": 2.0}
    assert written["cost234m_vs_hf_generate"]["median"] == 4.0
    assert written["builtin_vs_hf_assisted"]["median"] == 3.0
    assert written["smollm2_vs_hf_assisted"]["median"] == 3.0
    assert (written["memory_overhead"], written["smollm2_memory"]) == (1.125, 1.25)
    speeds = written["tokens_per_second"]["234M cost, greedy"]
    assert speeds == {"best plain": 2, "speculative": 4, "HF generate": 1, "HF assisted": 8 / 6}
    printed = capsys.readouterr().out
    assert all(key in printed for key in bench.FIGURES) and "a note" in printed


def test_without_the_chat_model_a_line_says_how_to_get_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path))
    monkeypatch.setattr(figures, "run_comparison", lambda size, warp: (frame(), []))
    monkeypatch.setattr(bench, "memory_overhead", lambda: 1.125)
    bench.main([])
    printed = capsys.readouterr().out
    assert "`specdec fetch smollm2-135m`" in printed and "smollm2_vs" not in printed


def test_the_questions_are_24_different_ones():
    questions = chat_questions()
    assert len(questions) == len(set(questions)) == 24


@pytest.fixture
def known_rates(monkeypatch):
    """Every draft is accepted equally often."""
    monkeypatch.setattr(figures, "draft_acceptance", lambda name: Acceptance(0.6, 0.5, 1))


@pytest.mark.slow
def test_every_decoder_runs_on_the_same_prompts_in_its_own_best_way(known_rates, monkeypatch):
    steep = {width: float(width) for width in V}  # a verification that gains nothing
    passes = {torch.float32: DraftCosts({"large": Costs(0.1, steep)}, 0.010)}
    passes |= {torch.bfloat16: DraftCosts({"large": Costs(0.1, V)}, 0.011)}
    monkeypatch.setattr(figures, "bare_passes", lambda size: passes)
    small = {"BENCH_PROMPTS": 1, "BENCH_TOKENS": 8, "BENCH_ROUNDS": 1, "TRIED_K": (1,)}
    for name, value in small.items():
        monkeypatch.setattr(figures, name, value)
    frame, notes = figures.run_comparison(None, GREEDY)
    assert set(frame.decoder) == set(RAN) and set(frame.tokens) == {8}
    assert notes[0] == "best plain: float32" and notes[1].startswith("speculative: bfloat16, ")
    assert [note.split(":")[0] for note in notes] == list(RAN)
    assert notes[-1].endswith("K = 1, constant, no early stop")
