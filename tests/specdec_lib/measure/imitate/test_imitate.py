"""A processor that has less: a restricted bench, kernel and program."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from jupyter_client.manager import start_new_kernel

from specdec_lib.measure.bench import command
from specdec_lib.measure.imitate import restricted
from specdec_lib.measure.imitate.command import main as imitate


@pytest.fixture
def classes(monkeypatch: pytest.MonkeyPatch):
    """Sets the class of the machine, and that which the environment leaves of it."""

    def set_to(machine: str, left: str | None = None) -> None:
        monkeypatch.setattr(
            restricted,
            "processor_class",
            lambda environment=None: machine if environment == {} else left or machine,
        )

    return set_to


def test_a_class_above_the_machine_is_refused(classes, capsys):
    for machine, wanted in {"AVX2": "avx512", "AVX512": "avx512-bf16", "ARM": "avx2"}.items():
        classes(machine)
        with pytest.raises(SystemExit):
            command.main(["--class", wanted])
        message = f"this machine is of the class {machine}; it cannot stand for"
        assert message in capsys.readouterr().err


def test_a_restricted_bench_is_a_process_of_its_own(classes, monkeypatch):
    started = []

    def run(command, env, check):
        started.append((command, env))
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(subprocess, "run", run)
    classes("AMX")
    assert command.main(["--class", "avx2", "--only", "model_error"]) == 3
    words, environment = started[0]
    given = ["--class", "avx2", "--only", "model_error"]
    assert words == [sys.executable, "-m", command.MODULE, *given]
    assert environment["ATEN_CPU_CAPABILITY"] == "avx2" and "PATH" in environment
    classes("AMX", "AVX2")  # there it goes on
    assert not restricted.has_to_restart("avx2")
    classes("AVX512 with bfloat16")
    assert not restricted.has_to_restart("avx512-bf16") and restricted.has_to_restart("avx512")


def test_fbgemm_is_restricted_with_the_others(classes, monkeypatch):
    told = []
    monkeypatch.setattr(restricted, "forced", lambda number: told.append(number) or number)
    for left in ("AVX512 with bfloat16", "AVX512", "AVX2"):
        classes("AVX512 with bfloat16", left)
        restricted.restrict_fbgemm()
    assert told == [2, 1]
    classes("AMX", "other")
    with pytest.raises(restricted.CannotImitate, match="the class other, which is not measured"):
        restricted.restrict_fbgemm()


def test_where_fbgemm_cannot_be_told_a_class_cannot_be_imitated(classes, monkeypatch, tmp_path):
    classes("AVX512", "AVX2")
    for library, symbol in ((restricted.LIBRARY, "no_such_symbol"), (tmp_path, restricted.FORCE)):
        monkeypatch.setattr(restricted, "LIBRARY", library)
        monkeypatch.setattr(restricted, "FORCE", symbol)
        with pytest.raises(restricted.CannotImitate, match="AVX2 cannot be imitated"):
            restricted.restrict_fbgemm()


def test_every_library_of_a_restricted_kernel_knows_it():
    """It is the kernel of a chapter; nothing is left in the notebook's names."""
    if not (restricted.LIBRARY.exists() and torch.cpu.get_capabilities().get("avx2")):
        assert restricted.forced(1) != 1  # nothing to restrict here, and nothing is claimed
        return
    code = (
        "print('restrict_fbgemm' in dir())\n"
        "import ctypes, numba, torch\n"
        "from specdec_lib.measure.imitate.restricted import *\n"
        "active = getattr(ctypes.CDLL(str(LIBRARY)), ACTIVE)()\n"
        "print(active, torch.backends.cpu.get_cpu_capability(), numba.config.CPU_NAME)"
    )
    manager, client = start_new_kernel(env=restricted.environment_of("avx2"))
    said = []
    try:
        client.execute_interactive(code, timeout=60, output_hook=said.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    text = "".join(each["content"].get("text", "") for each in said)
    assert text.split() == ["False", "1", "AVX2", "haswell"]


def test_a_program_runs_on_a_lesser_processor(classes, monkeypatch, capsys):
    started = []

    def run(command, env, check):
        started.append((command, env["ONEDNN_MAX_CPU_ISA"], Path(env["PYTHONSTARTUP"]).name))
        return subprocess.CompletedProcess(command, 4)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(restricted, "forced", lambda number: number)
    classes("AVX512")
    assert imitate(["avx2", "specdec", "start", "--work", "here"]) == 4
    assert started == [(["specdec", "start", "--work", "here"], "AVX2", "kernel.py")]
    for words, why in {
        ("avx2",): "name a program",
        ("avx512-bf16", "x"): "cannot stand for",
    }.items():
        with pytest.raises(SystemExit):
            imitate(words)
        assert why in capsys.readouterr().err
    assert len(started) == 1
