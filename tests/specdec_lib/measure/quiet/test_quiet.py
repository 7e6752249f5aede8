"""A disturbed run is called that, and a recorded quiet one stands beside it."""

import json
import re
from itertools import product
from pathlib import Path

import pytest
import torch

from specdec_lib.measure.core.disturbance import disturbance
from specdec_lib.measure.experiment import batches, engineering
from specdec_lib.measure.quiet import command, runs
from specdec_lib.measure.quiet.chapters import RUNS

SOLUTIONS = Path(__file__).resolve().parents[4] / "solutions"
CHAPTERS = {path.name[:2]: path.read_text(encoding="utf-8") for path in SOLUTIONS.glob("*.py")}
QUIET, BUSY = {1: [1.0] * 4, 2: [1.1] * 4}, {1: [1.0, 1.0, 2.0, 2.0], 2: [1.1, 1.1, 2.2, 2.2]}


def test_a_quiet_run_stands_alone(capsys):
    measured = {"40M cost": QUIET}
    assert list(runs.beside("05 costs", measured)) == [measured]
    assert capsys.readouterr().out == ""


def test_a_disturbed_run_is_called_that_and_a_quiet_one_follows(capsys):
    measured, recorded = runs.beside("05 costs", {"40M cost": BUSY})
    assert measured == {"40M cost": BUSY} and recorded == runs.runs("05 costs")
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80  # a longer line is cut inside a word
    first, last = (part.strip().replace("\n", " ") for part in out.split("\n\n"))
    assert first == (
        "This run was disturbed (the two halves of the rounds differ by 100%, and 15% is the "
        "most): close other programs and run the cell again."
    )
    found = runs.record()
    assert "recorded on 2026-11-23 on " in last and found["date"] == "2026-11-22"
    assert found["processor"] in last and found["class"] in last
    assert "on 2026-11-22 on" in runs.where(found, "06 costs")
    assert set(found["dates"]) <= set(found["runs"])


def test_sampled_texts_may_take_longer_or_less():
    times = {"plain": [1.0] * 4, "speculative": [1.0, 1.0, 2.0, 2.0]}
    assert runs.judged("05 pairs", {"40M cost": times}) is None
    assert runs.judged("05 pairs", {"40M cost": times | {"plain": BUSY[1]}}) is not None


def test_chapter_08_is_judged_by_plain_decoding_alone():
    """Sampled blocks are more or fewer; batches that share nothing are compared with themselves."""
    slow, last = [1.0, 2.0], "the last request, K = {}"
    for name, steady, free in (
        ("08 engineering", "plain", "your loop"),
        ("08 batches", last.format(0), last.format(2)),
    ):
        assert runs.judged(name, {"any": {steady: [1.0, 1.0], free: slow}}) is None
        assert "differ by 100%" in runs.judged(name, {"any": {steady: slow, free: slow}})


def test_the_recorded_runs_of_chapter_08_give_its_figures():
    versions = engineering.versions(runs.runs("08 engineering"))
    assert {"your loop", "the library's loop", engineering.GROWING} <= {v.name for v in versions}
    served = batches.served(runs.runs("08 batches"))
    assert [(s.batch, s.k) for s in served] == list(product(batches.BATCHES, (0, *batches.KS)))
    assert all(s.gain == 1 for s in served if s.k == 0)


def test_what_a_chapter_times_is_recorded_with_the_tasks_that_it_reads():
    used = {name for text in CHAPTERS.values() for name in re.findall(r'beside\("(.*?)"', text)}
    assert used == set(runs.record()["runs"]) == set(RUNS)
    for name in used:
        groups = re.findall(rf'beside\("{name}", {{"(.*?)"', CHAPTERS[name[:2]])
        assert not groups or set(groups) == set(runs.runs(name))
        assert runs.judged(name, runs.runs(name)) is None
    assert set(runs.runs("04 drafts")["built-in"]) >= {
        1,
        9,
        "large",
        "base",
        "small",
        "first layer",
    }
    assert set(runs.runs("00 passes")) == {
        (cost, dtype) for cost in ("40m", "built-in") for dtype in ("float32", "bfloat16")
    }
    assert set(runs.runs("06 costs")["40M cost"]) == {*range(1, 18), "draft"}


def test_a_record_is_read_as_it_was_measured():
    measured = {("40m", "float32"): {1: [0.0123456], "draft": [2.0]}, "b": {3: [1.0]}}
    data = json.loads(json.dumps(runs.plain_data(measured)))
    read = {runs._group(group): runs._times(times) for group, times in data}
    assert read == {("40m", "float32"): {1: [0.01235], "draft": [2.0]}, "b": {3: [1.0]}}


def test_recorded_passes_are_drawn_over_the_limits_of_their_own_machine():
    """A line at the limits of another machine, or of a busy one, says nothing of the points."""
    limits = runs.recorded_limits()
    assert set(limits) == {"bandwidth", "float32", "bfloat16"} and min(limits.values()) > 1e9
    cells = CHAPTERS["00"].split("# %%")
    (cell,) = (cell for cell in cells if 'beside("00 passes"' in cell)
    assert "recorded_limits()" in cell


@pytest.fixture
def threads():
    """Sets the number of threads back."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_the_command_writes_what_was_measured(tmp_path: Path, monkeypatch, threads):
    monkeypatch.setattr(command, "RUNS", {"a": lambda: {"model": QUIET}})
    monkeypatch.setattr(command, "limits", lambda: {"bandwidth": 12_345_678_901.0})
    out = tmp_path / "quiet.json"
    assert command.main(["--out", str(out)]) == 0
    data = json.loads(out.read_text())
    assert data["runs"] == {"a": [["model", {"1": [1.0] * 4, "2": [1.1] * 4}]]}
    assert data["threads"] == torch.get_num_threads() and data["processor"] and data["class"]
    assert data["limits"] == {"bandwidth": 1.235e10}


def test_the_command_tries_again_and_writes_no_disturbed_run(
    tmp_path: Path, monkeypatch, capsys, threads
):
    found = iter([BUSY, QUIET, BUSY, BUSY, BUSY])
    monkeypatch.setattr(command, "RUNS", dict.fromkeys("ab", lambda: {"model": next(found)}))
    assert command.main(["--out", str(tmp_path / "quiet.json")]) == 1
    assert "b: not written, since this machine is not quiet: the two" in capsys.readouterr().out
    assert not (tmp_path / "quiet.json").exists() and disturbance(BUSY)


def test_every_chapter_that_runs_a_model_takes_as_many_threads():
    # A race leaves cores by itself, for as long as it runs.
    texts = {n: text.replace("specdec_lib.measure.race", "") for n, text in CHAPTERS.items()}
    torch_too = {n for n, text in texts.items() if "specdec_lib.measure" in text}
    # Chapter 08 asks how fast the machine can be; papers are tables, not models.
    assert torch_too - {"08"} == {n for n, text in CHAPTERS.items() if "\nleave_cores()" in text}
    assert not any("set_num_threads" in text for text in CHAPTERS.values())
