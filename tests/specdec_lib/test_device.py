"""The device that models run on: its class, its memory, its dtype, and when it is done."""

import os
import platform

import pytest
import torch

from specdec_lib import device

CPU = torch.device("cpu")
AVX2 = {"avx2"}
AVX512 = AVX2 | {"avx512_vl"}
BFLOAT16 = AVX512 | {"avx512_bf16"}
AMX = BFLOAT16 | {"amx_bf16"}


def machine(monkeypatch, flags: set[str], name: str = "x86_64") -> None:
    """A machine with these instructions."""
    monkeypatch.setattr(platform, "machine", lambda: name)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(flags, True))


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (set(), "other"),
        (AVX2, "AVX2"),
        (AVX512, "AVX512"),
        (BFLOAT16, "AVX512 with bfloat16"),
        (AMX, "AMX"),
    ],
)
def test_a_class_has_what_the_processor_has(monkeypatch, flags, expected):
    machine(monkeypatch, flags)
    assert device.processor_class() == expected


def test_arm_is_a_class_of_its_own(monkeypatch):
    machine(monkeypatch, {"bf16"}, "arm64")
    assert device.processor_class() == "ARM" and device.multiplies_bfloat16()
    machine(monkeypatch, {"neon"}, "aarch64")
    assert device.processor_class() == "ARM" and not device.multiplies_bfloat16()


def test_products_in_bfloat16_need_instructions(monkeypatch):
    for flags in (AVX2, AVX512, BFLOAT16, AMX):
        machine(monkeypatch, flags)
        assert device.multiplies_bfloat16() == (flags in (BFLOAT16, AMX))


def test_marks_on_a_gpu_are_events_and_only_reading_them_waits(monkeypatch):
    said = []

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            self.at = 1000.0 * len(said)  # milliseconds

        def record(self, stream: str) -> None:
            said.append(stream)

        def synchronize(self) -> None:
            said.append("wait")

        def elapsed_time(self, later: "Event") -> float:
            return later.at - self.at

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"stream of {device}")
    watch = device.Stopwatch(torch.device("cuda:1"))
    for _ in range(3):
        watch.mark()
    assert said == ["stream of cuda:1"] * 3
    assert watch.seconds() == [1, 1] and said[3:] == ["wait"]


def test_what_is_sent_may_be_changed_at_once():
    numbers = [1, 2]
    there = device.sent(numbers, torch.device("cpu"))
    numbers[0] = 5
    assert there.tolist() == [1, 2]


def test_free_memory_is_what_linux_calls_available(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal:  900 kB\nMemAvailable:  321 kB\n")
    monkeypatch.setattr(device, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(device, "CGROUP_MEMORY", tmp_path / "memory.max")
    assert device.free_memory(CPU) == 321 * 1024
    for limit, free in {"max": 321 * 1024, "1000": 1000, "999999": 321 * 1024}.items():
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        assert device.free_memory(CPU) == free


@pytest.mark.parametrize("allowed, threads", [({5}, 1), ({0, 1, 2, 7}, 2)])
def test_half_of_the_cores_are_half_of_those_that_the_process_may_use(
    monkeypatch, allowed: set[int], threads: int
):
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: allowed, raising=False)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: asked.append(count))
    asked = []
    device.leave_cores()
    assert asked == [threads]


@pytest.mark.parametrize(
    "capability, dtype",
    [((7, 5), torch.float16), ((8, 0), torch.bfloat16), ((9, 0), torch.bfloat16)],
)
def test_the_default_dtype_follows_the_device(monkeypatch, capability: tuple[int, int], dtype):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert device.default_dtype(torch.device("cuda")) == dtype
    assert device.default_dtype(CPU) == torch.float32
