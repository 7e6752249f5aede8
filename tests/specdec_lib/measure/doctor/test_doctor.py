"""`specdec doctor`: every finding in a line, and the right advice about nvidia."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from specdec_lib import device
from specdec_lib.cli import main
from specdec_lib.measure.bench import command as bench
from specdec_lib.measure.core.pages import table_in
from specdec_lib.measure.doctor import nvidia, plans, report

H100 = "NVIDIA H100 80GB HBM3, 580.65.06, 9.0, 81559"
CPU = torch.device("cpu")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes this a machine whose NVIDIA driver answers so."""

    def answer(text: str) -> None:
        monkeypatch.setattr(nvidia.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
        ran = SimpleNamespace(stdout=text)
        monkeypatch.setattr(nvidia.subprocess, "run", lambda *args, **options: ran)

    return answer


def test_the_command_reports_this_machine(capsys: pytest.CaptureFixture, monkeypatch):
    monkeypatch.setattr(report, "copy_bandwidth", lambda device: 12.34e9)
    monkeypatch.setattr(report, "matrix_rate", lambda dtype, device: 5e9)
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for part in ("Processor: ", "torch 2.", "Copy bandwidth: 12.3 GB/s", "float32: 5 GFLOP/s"):
        assert part in text
    assert "Pair stdlib: built in, nothing to fetch" in text and "Pair vicuna: " in text


def test_the_processor_is_named_as_linux_does_or_by_its_kind(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(device, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert device.processor().startswith("Processor: riscv64, ")
    device.CPUINFO.write_text("processor\t: 0\nmodel name\t: Fast: 9000\nflags\t\t: fpu avx2\n")
    assert device.processor().startswith("Processor: Fast: 9000, ")
    assert device.processor().endswith(" threads, avx2")
    assert bench.machine().startswith("Fast: 9000, ")


def test_a_driver_is_read_and_a_cpu_build_is_told_apart(driver, monkeypatch):
    driver(f"{H100}\nTesla V100-SXM2, 550.54.15, 7.0, 16384\n")
    monkeypatch.setattr(torch.version, "cuda", None)
    lines = list(report.graphics(CPU))
    assert lines[0] == (
        "GPU: NVIDIA H100 80GB HBM3, compute capability 9.0, 86 GB, driver 580.65.06; the build of "
        "torch that suits it is cu130 (https://download.pytorch.org/whl/cu130)"
    )
    assert "capability 7.0, 17 GB, driver 550.54.15" in lines[1] and "is cu126" in lines[1]
    assert lines[2].startswith("This torch is built for the CPU: install the build that suits")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert "built for CUDA 13.0 and sees no GPU" in list(report.graphics(CPU))[2]


@pytest.mark.parametrize("text", ["", "NVIDIA-SMI has failed because it could not talk", "a, b, c"])
def test_a_driver_that_does_not_answer_is_no_driver(driver, text: str):
    driver(text)
    (line,) = report.graphics(CPU)
    assert "everything works without one" in line


def test_a_driver_that_hangs_or_is_not_there_is_no_driver(driver, monkeypatch):
    def hang(*arguments, **options):
        raise subprocess.TimeoutExpired("nvidia-smi", 60)

    driver("")
    monkeypatch.setattr(nvidia.subprocess, "run", hang)
    assert nvidia.cards() is None
    monkeypatch.setattr(nvidia.shutil, "which", lambda name: None)
    assert nvidia.cards() is None


@pytest.mark.parametrize(
    ("version", "capability", "expected"),
    [
        ("580.65", (9, 0), "suits it is cu130"),
        ("615.01", (12, 1), "suits it is cu130"),
        ("550.54.15", (9, 0), "suits it is cu126"),
        ("580.65", (6, 1), "suits it is cu126"),
        (
            "470.82",
            (8, 0),
            "too old: cu126 (https://download.pytorch.org/whl/cu126) needs one from 525",
        ),
        (
            "550.54",
            (10, 0),
            "too old: cu130 (https://download.pytorch.org/whl/cu130) needs one from 580",
        ),
        ("580.65", (3, 7), "no build of torch 2.13 has kernels for capability 3.7"),
    ],
)
def test_the_build_follows_the_driver_and_the_capability(version, capability, expected):
    assert expected in nvidia.advice(nvidia.Card("x", version, capability, 1000))


def test_the_builds_are_those_of_the_pinned_torch():
    pinned = Path(__file__).parents[4].joinpath("constraints.txt").read_text()
    assert "\ntorch==2.13." in pinned  # another torch comes in other builds: nvidia.py


def test_a_card_is_described(driver, monkeypatch):
    driver(H100)
    card = SimpleNamespace(name="H100", major=9, minor=0, total_memory=80e9)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_80", "sm_90"])
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    lines = list(report.graphics(torch.device("cuda")))
    assert lines[1] == "torch is built for CUDA 13.0 and uses H100, 80 GB"
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_80", "compute_100"])
    (_, line) = report.graphics(torch.device("cuda"))
    assert line.endswith("it has no kernels for 9.0, see above")


def test_pairs_fit_by_their_plans_and_the_disk(monkeypatch):
    monkeypatch.setattr(report, "free_memory", lambda device: 24e9)
    monkeypatch.setattr(report.hub, "free_disk", lambda: 20e9)
    lines = {line.split(":")[0]: line for line in report.pairs_that_fit(CPU, torch.float16)}
    assert lines["Pair vicuna"] == (
        "Pair vicuna: fits: 19.2 of 24.0 GB on cpu; 13.8 GB with all drafts to fetch where it was "
        "not yet, 20 GB free on the disk"
    )
    large = lines["Pair qwen3-14b"]
    assert "; 33.8 GB with all drafts and heads to fetch" in large  # 31.04 and a head of 2.78
    assert "does not fit: 36.7 of 24.0 GB" in large and large.endswith(", too much for the disk")
    (wide,) = [x for x in report.pairs_that_fit(CPU, torch.float32) if "Pair vicuna" in x]
    assert "does not fit" in wide  # float32 takes twice as much


def test_the_page_has_the_plans_of_today(tmp_path: Path, capsys):
    docs = Path(__file__).parents[4] / "docs"
    assert table_in(docs / "gpu.md", plans.TABLE) == plans.page_table()
    page = tmp_path / "page.md"
    plans.main(["--markdown", str(page)])
    plans.main([])
    printed = capsys.readouterr().out.strip()
    assert printed == table_in(page, plans.TABLE)
    vicuna = next(line for line in printed.splitlines() if line.startswith("| vicuna "))
    assert vicuna.endswith("| 19.2 | no: 16.8 | no: 16.8 | fits | fits | fits |")
