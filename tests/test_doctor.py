"""`specdec doctor`: every finding in a line, and the right advice about drivers."""

from types import SimpleNamespace

import pytest
import torch

from specdec_lib.cli import main
from specdec_lib.measure import doctor

SMI = "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
CPU = torch.device("cpu")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an NVIDIA driver."""
    monkeypatch.setattr(doctor.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    ran = SimpleNamespace(stdout=SMI)
    monkeypatch.setattr(doctor.subprocess, "run", lambda *args, **options: ran)


def test_the_command_reports_this_machine(capsys: pytest.CaptureFixture, monkeypatch):
    monkeypatch.setattr(doctor, "copy_bandwidth", lambda device: 12.34e9)
    monkeypatch.setattr(doctor, "matrix_rate", lambda dtype, device: 5e9)
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for part in ("Processor: ", "torch 2.", "Copy bandwidth: 12.3 GB/s", "float32: 5 GFLOP/s"):
        assert part in text
    assert "pairs that fit: stdlib (built in)" in text


def test_a_driver_is_read_and_a_cpu_build_is_told_apart(driver, monkeypatch):
    assert doctor.nvidia_driver() == "550.54.15, CUDA up to 12.4"
    monkeypatch.setattr(torch.version, "cuda", None)
    (line,) = doctor.graphics(CPU)
    assert "built for the CPU: install a build for that CUDA version or an older one" in line
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    (line,) = doctor.graphics(CPU)
    assert "built for CUDA 13.0 and sees no GPU: where that is newer, update the driver" in line


def test_a_machine_without_a_driver_is_told_that_none_is_needed(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    (line,) = doctor.graphics(CPU)
    assert "everything works without one" in line


def test_a_card_is_described(driver, monkeypatch):
    card = SimpleNamespace(name="H100", major=9, minor=0, total_memory=80e9)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    monkeypatch.setattr(torch.version, "cuda", "12.4")
    lines = list(doctor.graphics(torch.device("cuda")))
    assert lines[0] == ("GPU: H100, compute capability 9.0, 80 GB; torch was built for CUDA 12.4")
    assert lines[1] == "NVIDIA driver: 550.54.15, CUDA up to 12.4"


@pytest.mark.parametrize(
    ("gigabytes", "names"), [(1, ""), (16, ", gpt2"), (1000, ", gpt2, pythia, qwen2.5")]
)
def test_pairs_fit_by_their_weights(gigabytes: float, names: str, monkeypatch):
    monkeypatch.setattr(doctor, "free_memory", lambda device: int(gigabytes * 1e9))
    line = doctor.pairs_that_fit(CPU, torch.float32)
    assert line.startswith(
        f"Memory: {gigabytes}.0 GB free; pairs that fit: stdlib (built in){names}"
    )
