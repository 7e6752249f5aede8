"""The device and dtype that models run in, free memory, synchronisation, and the cores."""

import math
import os
import platform
import re
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import torch

CPUINFO, MEMINFO = Path("/proc/cpuinfo"), Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
# A container's files for its limit and for what it uses: of cgroup v2, and of v1.
CGROUP_FILES = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)

# cuDNN's attention compiles a plan for every new shape (pull request 155958 of PyTorch), and nearly
# every pass of a decoder has one. On an H200 a text took seven times as long as when it ran again.
torch.backends.cuda.enable_cudnn_sdp(False)


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

    On Linux, for the CPU, this is what the kernel calls available, or what a container's limit
    leaves if that is less. On other systems it is all memory.
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type != "cpu":
        return None
    if MEMINFO.exists():
        limits = [(CGROUP / limit, CGROUP / used) for limit, used in CGROUP_FILES]
        left = [_left(limit, used) for limit, used in limits if limit.exists()]
        return min(1024 * int(_table(MEMINFO)["MemAvailable:"]), *left, math.inf)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows; a name that the system lacks
        return None


def _left(limit: Path, used: Path) -> float:
    """The bytes that a container's limit leaves; its cache of files counts as free."""
    if limit.read_text().strip() == "max":
        return math.inf
    of_container = _table(limit.with_name("memory.stat"))
    cached = int(of_container["inactive_file"]) + int(of_container["active_file"])
    return max(0, int(limit.read_text()) - int(used.read_text()) + cached)


def _table(path: Path) -> dict[str, str]:
    """The first two words of every line, as key and value."""
    return dict(line.split()[:2] for line in path.read_text().splitlines())


def wait_for(device: torch.device | None = None) -> None:
    """Synchronise the GPU `device`, by default the current one. Without a GPU, do nothing."""
    on_gpu = torch.cuda.is_available() if device is None else device.type == "cuda"
    if on_gpu:
        torch.cuda.synchronize(device)


def to_device(numbers: Sequence, device: torch.device) -> torch.Tensor:
    """`numbers` as a tensor on `device`, without synchronising as torch.tensor(device=...) does.

    The copy starts from ordinary memory, so the numbers may be changed at once.
    """
    return torch.tensor(numbers).to(device, non_blocking=True)


class Stopwatch:
    """Marks in the work of a device, and the seconds between them. A mark synchronises a GPU."""

    def __init__(self, device: torch.device) -> None:
        self.device, self.marks = device, list[float]()

    def mark(self) -> None:
        """Mark the end of what was started so far."""
        wait_for(self.device)
        self.marks.append(time.perf_counter())

    def seconds(self) -> list[float]:
        """From each mark to the next."""
        return [end - start for start, end in pairwise(self.marks)]


def cores() -> int:
    """The cores that this process may use: in a container often fewer than the machine has."""
    may_use = getattr(os, "sched_getaffinity", None)  # macOS and Windows have none
    return len(may_use(0)) if may_use else os.cpu_count() or 1


def use_half_the_cores() -> int:
    """Let torch compute on half of the cores, at least one, as chapters 00 to 07 do; returns them.

    With all of them, every product would wait for its slowest thread, so any other program would
    slow every pass. Chapter 08 asks how fast the machine can be, so it keeps torch's own number.
    """
    torch.set_num_threads(max(1, cores() // 2))
    return torch.get_num_threads()


def processor() -> str:
    """The processor's name (on some systems only its kind), and the threads in use."""
    text = CPUINFO.read_text() if CPUINFO.exists() else ""
    found = re.search(r"^model name\s*: (.*)$", text, re.M)
    name = found[1] if found else platform.processor() or platform.machine()
    return f"Processor: {name}, {torch.get_num_threads()} of {cores()} threads"
