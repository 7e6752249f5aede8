"""The device that models run on: which one, in which dtype, with how much memory, and when done."""

import os
import platform
import re
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import torch

FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")  # what products on a CPU are fast with
# Classes of x86 processors, each with the instructions of those before it, and what shows each.
CLASSES = {
    "AVX2": "avx2",
    "AVX512": "avx512_vl",
    "AVX512 with bfloat16": "avx512_bf16",
    "AMX": "amx_bf16",
}
CPUINFO, MEMINFO = Path("/proc/cpuinfo"), Path("/proc/meminfo")
CGROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")  # bytes that a container may use, or "max"


def default_device() -> torch.device:
    """CUDA if there is a GPU, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def default_dtype(device: torch.device) -> torch.dtype:
    """The dtype that `device` is fast in and the models are good in.

    float32 on a CPU; on CUDA bfloat16, or float16 before compute capability 8.0.
    """
    if device.type != "cuda":
        return torch.float32
    return torch.bfloat16 if torch.cuda.get_device_capability(device) >= (8, 0) else torch.float16


def draft_dtype(device: torch.device, dtype: torch.dtype) -> torch.dtype:
    """The dtype of a draft beside a target in `dtype`.

    On a CPU at least float32: a matrix as small as a draft's is fastest there in float32.
    """
    return torch.promote_types(dtype, torch.float32) if device.type == "cpu" else dtype


def name_of(dtype: torch.dtype) -> str:
    """torch.float32 -> "float32"."""
    return str(dtype).removeprefix("torch.")


def free_memory(device: torch.device) -> int | None:
    """Bytes that can be had on `device`; None if that cannot be known.

    On Linux what the kernel calls available, or the limit of a container if that is less; on other
    systems of the same kind all memory.
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type != "cpu":
        return None
    if MEMINFO.exists():
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        free = int(lines["MemAvailable"].split()[0]) * 1024
        limit = CGROUP_MEMORY.read_text().strip() if CGROUP_MEMORY.exists() else "max"
        return free if limit == "max" else min(free, int(limit))
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows; a name that the system lacks
        return None


def wait_for(device: torch.device | None = None) -> None:
    """Wait until a GPU is done: `device`, or by default the present one; nothing without one."""
    on_gpu = torch.cuda.is_available() if device is None else device.type == "cuda"
    if on_gpu:
        torch.cuda.synchronize(device)


def sent(numbers: Sequence, device: torch.device) -> torch.Tensor:
    """`numbers` as a tensor on `device`, without waiting for what the device has to do before.

    `torch.tensor(numbers, device=...)` does wait. A copy from ordinary memory of the host is staged
    before the call returns, so the numbers may be changed at once. NVIDIA does not promise that the
    staging never waits ("API synchronization behavior" in the manual of the CUDA driver API: such a
    transfer "might be synchronous").
    """
    return torch.tensor(numbers).to(device, non_blocking=True)


class Stopwatch:
    """Marks in the work of a device, and the seconds between them; no mark waits.

    On a GPU the marks are events between its kernels: the host is ahead of it, and its own clock
    would tell how long starting them took.
    """

    def __init__(self, device: torch.device) -> None:
        self.marks: list = []
        self.device, self.on_gpu = device, device.type == "cuda"

    def mark(self) -> None:
        """Mark the end of what was started so far."""
        if not self.on_gpu:
            self.marks.append(time.perf_counter())
            return
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self.device))
        self.marks.append(event)

    def seconds(self) -> list[float]:
        """From each mark to the next; here the host waits, if the device is not there yet."""
        pairs = list(pairwise(self.marks))
        if not self.on_gpu:
            return [end - start for start, end in pairs]
        self.marks[-1].synchronize()
        return [start.elapsed_time(end) / 1000 for start, end in pairs]


def cores() -> int:
    """The cores that this process may use: in a container often fewer than the machine has."""
    may_use = getattr(os, "sched_getaffinity", None)  # macOS and Windows have none
    return len(may_use(0)) if may_use else os.cpu_count() or 1


def leave_cores() -> int:
    """Let torch compute on half of the cores, at least one, as chapters 00 to 07 do; returns them.

    On all of them every product waits for its slowest thread, so that any other program is in all
    times. Chapter 08 asks how fast the machine can be, and takes what torch takes by itself.
    """
    torch.set_num_threads(max(1, cores() // 2))
    return torch.get_num_threads()


def processor() -> str:
    """The processor's name, its cores and the instructions that matter."""
    flags = [flag for flag in FLAGS if re.search(rf"\b{flag}\b", cpuinfo())]
    with_flags = f", {' '.join(flags)}" if flags else ""
    threads = f"{torch.get_num_threads()} of {cores()} threads"
    return f"Processor: {processor_name()}, {threads}{with_flags}"


def processor_class() -> str:
    """The processor's class: the last of CLASSES that it has, "ARM" or "other"."""
    if platform.machine().lower() in ("arm64", "aarch64"):
        return "ARM"
    has = torch.cpu.get_capabilities()
    return (["other"] + [name for name, flag in CLASSES.items() if has.get(flag)])[-1]


def multiplies_bfloat16() -> bool:
    """Whether this processor has instructions for products in bfloat16."""
    if processor_class() == "ARM":
        return bool(torch.cpu.get_capabilities().get("bf16"))
    return processor_class() in ("AVX512 with bfloat16", "AMX")


def processor_name() -> str:
    """The processor's name as Linux tells it; elsewhere at least its kind."""
    name = re.search(r"^model name\s*: (.*)$", cpuinfo(), re.M)
    return name[1] if name else platform.processor() or platform.machine()


def cpuinfo() -> str:
    """What Linux tells of the processor; nothing elsewhere."""
    return CPUINFO.read_text() if CPUINFO.exists() else ""
