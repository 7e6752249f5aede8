"""The contest of chapter 08: two loops, two forward passes, and what is told of them."""

import pandas as pd
import pytest

from specdec_lib.lessons.ch08 import charts
from specdec_lib.measure.experiment import contest, grid
from specdec_lib.measure.experiment.decoders import LIBRARY_DECODER
from specdec_lib.measure.recording.contest import solution_loop


def made(loop: float, spread: float = 0.0, plain: float = 1.0) -> contest.Contest:
    """A contest of three texts in which the student's loop takes `loop` times as long as theirs."""
    runs = pd.DataFrame(
        {"decoder": name, "prompt": i, "round": 0, "seconds": s, "tokens": 32, "passes": 16}
        for i in range(3)
        for name, s in {
            contest.THEIRS: 4.0, "theirs with drafts": 2.0, contest.OWN_PASS: plain,
            "same pass with drafts": 2.0 * loop + spread * (i - 1), "own pass with drafts": 0.5,
        }.items()
    )  # fmt: skip
    about = {"pair": "a pair", "K": 3, "dtype": "", "device": "", "date": "", "loop": "your"}
    return contest.Contest(about, runs, {})


def test_the_sentence_follows_the_numbers_whatever_they_are():
    faster, slower, same = (
        charts.contest_sentences(found) for found in (made(0.5), made(2.0), made(1.0, 0.5))
    )
    assert "your loop is 2.00 (2.00 to 2.00) times as fast as Hugging Face's." in faster[0]
    assert "your loop is 0.50 (0.50 to 0.50) times as fast as Hugging Face's." in slower[0]
    assert "this run finds neither faster" in same[0]
    assert "makes your loop 2.00 (2.00 to 2.00) times as fast" in faster[1]
    assert "Hugging Face's loop 2.00 (2.00 to 2.00), and your loop" in faster[2]
    *said, disturbed = charts.contest_sentences(made(1.0, plain=1.6))  # a block in 0.6 of a pass
    assert len(said) == len(faster) == 3 and "other programs ran beside" in disturbed


def test_both_loops_write_the_same_texts_in_as_many_passes(machine, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path))
    monkeypatch.setattr(contest, "GRID_TOKENS", 12)
    monkeypatch.setattr(grid, "_PROMPTS", 1)
    student = LIBRARY_DECODER._replace(generate=solution_loop())
    found = contest.measure_contest(student, machine)
    assert "stands in" in capsys.readouterr().out
    plain, *others = found.race.lanes
    assert all(found.race.same(lane) and found.race.ratio(lane) > 0 for lane in others)
    passes = found.by_decoder()["passes for 100 tokens"]
    assert passes["theirs"] == passes["own pass"] == 100
    drafted = {passes[name + " with drafts"] for name in ("theirs", "same pass", "own pass")}
    assert len(drafted) == 1 and drafted.pop() < 100
    assert found.texts == {"the same": 1, "near-tie": 0, "different": 0}
    path = tmp_path / "contest.json"
    path.write_text(contest.contest_json(found))
    again = contest.recorded_contest(path)
    assert all(again.speedup(name) == found.speedup(name) for name in contest.SPEEDUPS)


def test_the_recorded_contest_is_of_the_chat_model():
    found = contest.recorded_contest()
    assert "SmolLM2" in found.about["pair"] and found.about["loop"] == "the solution's"
    assert set(found.runs.tokens) == {contest.CHAT_TOKENS} and found.texts["different"] == 0
    passes = found.by_decoder()["passes for 100 tokens"]
    assert passes["theirs with drafts"] == pytest.approx(passes["same pass with drafts"], rel=0.02)
