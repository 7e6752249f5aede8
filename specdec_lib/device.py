"""The device and dtype that models run in, free memory, synchronisation, and the cores."""

import math
import os
import platform
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import torch

CPUINFO, CGROUP = Path("/proc/cpuinfo"), Path("/sys/fs/cgroup")
# A container's files for its limit and for what it uses: of cgroup v2, and of v1.
CGROUP_FILES = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


@contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """Keep PyTorch from cuDNN's attention; then its setting is what it was before.

    cuDNN compiles a plan for every new shape (pull request 155958 of PyTorch), and nearly every
    pass of a decoder has one. On an H200 a text took seven times as long as when it ran again.
    """
    was_enabled = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(was_enabled)


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


def dtype_name(dtype: torch.dtype) -> str:
    """torch.float32 -> "float32"."""
    return str(dtype).removeprefix("torch.")


def free_memory(device: torch.device) -> int | None:
    """The free bytes of `device`; None if that cannot be known.

    For the CPU this is what the system calls available, or what a container's limit leaves if that
    is less.
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type != "cpu":
        return None
    files = [(CGROUP / limit, CGROUP / used) for limit, used in CGROUP_FILES]
    left = [_left_in_container(limit, used) for limit, used in files if limit.exists()]
    return min([psutil.virtual_memory().available, *left])


def _left_in_container(limit: Path, used: Path) -> float:
    """The bytes that a container's limit leaves; its cache of files counts as free."""
    if limit.read_text().strip() == "max":
        return math.inf
    lines = limit.with_name("memory.stat").read_text().splitlines()
    statistics = dict(line.split() for line in lines)
    cached = int(statistics["inactive_file"]) + int(statistics["active_file"])
    return max(0, int(limit.read_text()) - int(used.read_text()) + cached)


def wait_for() -> None:
    """Synchronise the current GPU. Without a GPU, do nothing."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def to_device(numbers: Sequence, device: torch.device) -> torch.Tensor:
    """`numbers` as a tensor on `device`, without synchronising as torch.tensor(device=...) does.

    The copy starts from ordinary memory, so the numbers may be changed at once.
    """
    return torch.tensor(numbers).to(device, non_blocking=True)


def cores() -> int:
    """The cores that this process may use: in a container often fewer than the machine has."""
    may_use = getattr(os, "sched_getaffinity", None)  # macOS and Windows have none
    return len(may_use(0)) if may_use else os.cpu_count() or 1


def use_half_the_cores() -> int:
    """Set the threads of torch, in this process, to half of the cores, at least two; returns them.

    With all of them, every product would wait for its slowest thread, so any other program would
    slow every pass. Two threads on two cores (AMD EPYC) write 1.5 times as fast as one. torch never
    gets more threads than it has, so OMP_NUM_THREADS holds. Chapters 00 to 07 do this; chapter 08,
    which asks how fast the machine can be, keeps torch's own number.
    """
    torch.set_num_threads(min(torch.get_num_threads(), max(2, cores() // 2)))
    return torch.get_num_threads()


def processor() -> str:
    """The processor's name (on some systems only its kind), and the threads in use."""
    text = CPUINFO.read_text() if CPUINFO.exists() else ""
    line = re.search(r"^model name\s*: (.*)$", text, re.M)
    name = line[1] if line else platform.processor() or platform.machine()
    return f"Processor: {name}, {torch.get_num_threads()} of {cores()} threads"
