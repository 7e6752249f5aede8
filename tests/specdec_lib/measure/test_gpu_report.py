"""The report of a card: one file, whatever its parts do."""

import sys
from pathlib import Path

import pytest

from specdec_lib.measure import gpu_report
from specdec_lib.measure.gpu_report import Part


def says(name: str, code: str, seconds: float = 60, leaves: str | None = None) -> Part:
    return Part(name, ("-c", code), seconds, leaves)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "a card")


def test_a_part_that_fails_or_hangs_is_in_the_report_and_the_next_one_runs(tmp_path, card, capsys):
    left = tmp_path / "left.json"
    endless = "import os; print('begun', flush=True); os.system('sleep 60')"
    parts = [
        says("bad", "print('seen'); raise SystemExit(3)"),
        says("broken", "raise RuntimeError('CUDA error: an illegal memory access')"),
        says("endless", endless, seconds=1),
        says("good", f"open({str(left)!r}, 'w').write('figures')", leaves=str(left)),
    ]
    path = tmp_path / "folder" / "report.txt"
    assert gpu_report.main(["--out", str(path)], parts) == 1
    text = path.read_text()
    assert text.startswith("# a card, 20") and "torch " in text and "commit " in text
    for words in (
        "seen", "bad: failed with exit code 3", "illegal memory access", "broken: failed",
        "begun", "endless: stopped after 1 s", "figures", "good: done",
    ):  # fmt: skip
        assert words in text
    assert text.index("## good") > text.index("endless: stopped")
    shown = capsys.readouterr().out
    assert "4 of 4: good, 1 minutes at most" in shown and "send this file back" in shown


def test_what_a_part_has_said_is_kept_when_the_report_is_stopped(tmp_path, monkeypatch):
    path, seen = tmp_path / "report.txt", []
    part = says("one", "print('first')")

    def stopped(line: str) -> str:
        seen.append(path.read_text())
        raise KeyboardInterrupt

    monkeypatch.setattr(gpu_report, "last_state", stopped)
    with pytest.raises(KeyboardInterrupt):
        gpu_report.report([part], path)
    assert "## one" in seen[0]


def test_of_a_progress_bar_the_last_state_is_kept():
    assert gpu_report.last_state("0%\r50%\r100%\r\n") == "100%"
    assert gpu_report.last_state("a line\n") == "a line"


def test_without_a_card_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert gpu_report.main(["--out", str(tmp_path / "report.txt")]) == 2
    said = capsys.readouterr().out
    assert "no card here" in said and "--rehearse" in said and not list(tmp_path.iterdir())


def test_the_parts_are_commands_that_there_are(capsys):
    """Each names a module with these options; what they measure is tested where it stands."""
    for part in (*gpu_report.PARTS, gpu_report.DOWNLOADS):
        assert part.command[0] == "-m" and part.seconds > 0
    names = " ".join(" ".join(part.command) for part in gpu_report.PARTS)
    for module in ("cli doctor", "measure.bench", "experiment.launches", "measure.experiment"):
        assert module in names
    from specdec_lib.measure.bench.command import parser as bench
    from specdec_lib.measure.experiment.grid import parser as experiment

    assert bench().parse_args(gpu_report.PARTS[2].command[2:]).only
    assert experiment().parse_args(gpu_report.DOWNLOADS.command[2:]).yes
    assert Path(sys.executable).exists()


def test_a_rehearsal_needs_no_card_and_has_every_part_of_the_report(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    ran: list[Part] = []

    def run(part: Part, write) -> gpu_report.Done:
        ran.append(part)
        return gpu_report.Done(part, 0, 1.0)

    monkeypatch.setattr(gpu_report, "run", run)
    path = tmp_path / "report.txt"
    assert gpu_report.main(["--rehearse", "--out", str(path)]) == 0
    assert len(ran) == len(gpu_report.PARTS)
    for part, stands_in in zip(gpu_report.PARTS, ran, strict=True):
        assert stands_in.name.startswith(part.name)
    assert path.read_text().startswith("# no card, 20") and "## Summary" in path.read_text()
    shown = capsys.readouterr().out
    assert "a rehearsal" in shown and "send this file back" not in shown
