"""The bench on a restricted processor, its cliffs, its trials, and how stable its choices are."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from decoders.stand_in_clock import Clock
from jupyter_client.manager import start_new_kernel

from specdec_lib.measure.bench import cliff, command, comparisons, stability, workbench
from specdec_lib.measure.bench.figures import FIGURES
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.acceptance import Acceptance
from specdec_lib.measure.imitate import restricted
from specdec_lib.measure.imitate.command import main as imitate
from specdec_lib.theory import Costs

DTYPES = torch.float32, torch.bfloat16


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


def each_of(task):
    """Passes of several widths from a function that makes one."""
    return lambda model, widths: {width: task(model, width) for width in widths}


def test_the_widest_cliff_is_found_and_named(monkeypatch):
    clock = Clock(monkeypatch)

    def task(model: str, width: int):
        cliffs = {"target": {7: 2.0}, "draft": {3: 1.2}}
        return clock.task(0.001 * (1 + 0.01 * width) * cliffs[model].get(width, 1.0))

    monkeypatch.setattr(cliff, "pass_tasks", each_of(task))
    monkeypatch.setattr(cliff, "models", lambda dtypes: {"a": "target", "b": "draft"})
    bench = Workbench([], 1, 1)
    found = FIGURES["widest_cliff"].measure(bench)
    assert found.value == pytest.approx(2 * 1.07 / 1.08)
    assert list(found.among) == ["a, 7 tokens against 8", "b, 3 tokens against 4"]
    assert bench.notes == ["widest cliff: 1.98, a, 7 tokens against 8"]
    assert not FIGURES["widest_cliff"].met(found)


def test_a_disturbance_of_some_rounds_makes_no_cliff(monkeypatch):
    clock, calls = Clock(monkeypatch), {}

    def task(model: str, width: int):
        def run() -> None:
            calls[width] = calls.get(width, 0) + 1
            clock.task(0.5 if width == 5 and calls[width] % 3 == 0 else 0.1)()

        return run

    monkeypatch.setattr(cliff, "pass_tasks", each_of(task))
    assert max(cliff.steps_down("model").values()) == pytest.approx(1.0)


def test_every_model_is_looked_at_in_every_format_that_can_be_chosen(monkeypatch):
    monkeypatch.setattr(cliff, "target", lambda size, dtype: (size, dtype))
    monkeypatch.setattr(cliff, "draft", lambda name: name)
    assert set(cliff.models(DTYPES).values()) == {
        *("large", "base", "small"),
        *((size, dtype) for size in (None, "40m", "234m") for dtype in DTYPES),
    }


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


def test_hugging_face_may_take_bfloat16_where_ours_may_not(monkeypatch):
    monkeypatch.setattr(workbench, "dtypes", lambda: DTYPES[:1])
    assert comparisons.their_dtypes(Workbench([], 1, 1)) == DTYPES


def test_choices_are_made_anew_and_counted(monkeypatch):
    v, made = dict.fromkeys(range(1, 10), 1.0), []

    def measured(models, *how):
        made.append(1)
        seconds = {torch.float32: 0.010, torch.bfloat16: 0.009 if len(made) == 2 else 0.011}
        return {each: ({"small": Costs(0.1, v)}, seconds[each]) for each in models}

    monkeypatch.setattr(workbench, "costs_by_dtype", measured)
    monkeypatch.setattr(workbench, "dtypes", lambda: DTYPES)
    monkeypatch.setattr(workbench, "target", lambda *model: None)
    monkeypatch.setattr(Workbench, "steps", lambda *what: {})
    monkeypatch.setattr(workbench, "accepted", lambda name: Acceptance(0.6, 0.5, 1))
    lines = stability.report(Workbench([], 1, 1), 3).splitlines()
    assert len(made) == 3
    assert "234m cost, 3 times; plain: float32: 2; bfloat16: 1" in lines[0]
    k = Costs(0.1, v).best_k(0.6)
    expected = f"float32: 2; bfloat16: 1; in all float32, small draft, K = {k}: 2; "
    assert lines[1].startswith(f"sampled: {expected}bfloat16, small draft, K = {k}: 1")


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

    def counted(folder, dtype, device):
        return SimpleNamespace(dtype=dtype, model=SimpleNamespace(device=device))

    monkeypatch.setattr(comparisons.hugging, "generate", generate)
    monkeypatch.setattr(comparisons, "hugging_draft", counted)
    targets = {dtype: counted("target", dtype, "cpu") for dtype in DTYPES}
    name = comparisons.fastest_hugging(targets, [1], 64, "small")[1]
    assert "small draft in torch.bfloat16" in name
    tried = {each for each in made if each[1]}
    assert tried == {(t, torch.bfloat16, k) for t in DTYPES for k in comparisons.TRIED_K}
