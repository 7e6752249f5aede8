"""`specdec doctor`: the chapters first, then torch, the card and the pairs."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from specdec_lib import device
from specdec_lib.cli import main
from specdec_lib.measure import doctor
from specdec_lib.measure.bench import command as bench

CPU = torch.device("cpu")


def test_the_command_begins_with_what_a_student_asks(capsys: pytest.CaptureFixture):
    assert main(["doctor"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("Enough for chapters 00 to 08: ")
    assert len(others) == 3 and f"torch {torch.__version__}" in others[0]


def test_too_little_memory_is_told_with_what_to_do():
    assert doctor.chapters(8e9) == doctor.chapters(None) == "yes"
    assert "1.5 GB of memory are free" in doctor.chapters(1.5e9)


def test_a_card_is_named_with_its_memory(monkeypatch):
    card = SimpleNamespace(name="H100", total_memory=80e9)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    assert doctor.graphics(torch.device("cuda")) == "Card: H100, 80 GB"
    assert "no" in doctor.graphics(CPU)


def test_pairs_fit_by_their_gigabytes():
    line = doctor.pairs_that_fit(24e9)
    assert "vicuna (13.8 GB)" in line and "qwen3-14b" not in line
    assert "qwen3-32b" in doctor.pairs_that_fit(None) and "none" in doctor.pairs_that_fit(1e9)


def test_float32_halves_what_fits(monkeypatch):
    monkeypatch.setattr(doctor, "free_memory", lambda device: 24e9)
    assert doctor.memory_for_pairs(CPU) == 12e9


def test_the_processor_is_named_as_linux_does_or_by_its_kind(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(device, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert device.processor().startswith("Processor: riscv64, ")
    device.CPUINFO.write_text("processor\t: 0\nmodel name\t: Fast: 9000\nflags\t\t: fpu avx2\n")
    assert device.processor().startswith("Processor: Fast: 9000, ")
    assert bench.machine().startswith("Fast: 9000, ")
