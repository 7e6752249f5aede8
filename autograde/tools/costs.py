"""What a command costs: CPU seconds of all its processes, wall seconds, and its peak of memory."""

import contextlib
import ctypes
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograde.chapter import ROOT

PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Cost:
    """CPU and wall seconds; `memory_mib` is the resident peak of the largest process."""

    cpu: float
    wall: float
    memory_mib: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu + other.cpu, self.wall + other.wall)

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu - other.cpu, self.wall - other.wall)

    def __truediv__(self, number: float) -> "Cost":
        return Cost(self.cpu / number, self.wall / number)

    def over(self, other: "Cost") -> tuple[float, float]:
        """The ratios of CPU and of wall time."""
        return self.cpu / other.cpu, self.wall / other.wall

    def seconds(self) -> dict[str, float]:
        return {"cpu": round(self.cpu, 2), "wall": round(self.wall, 2)}

    def milliseconds(self) -> dict[str, float]:
        return {"cpu": round(1000 * self.cpu, 1), "wall": round(1000 * self.wall, 1)}


def run(
    arguments: tuple[str, ...], folder: Path = ROOT, environment: Mapping[str, str] | None = None
) -> Cost:
    """Run this Python with `arguments` in `folder`, on one thread; what it and its children cost.

    Raises RuntimeError with the end of its output where it fails.
    """
    settings = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "autograde.tools.costs", sys.executable, *arguments],
        cwd=folder, env=settings | dict(environment or {}), text=True, capture_output=True,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)[:200]} failed:\n{done.stderr[-2000:]}")
    return Cost(*json.loads(done.stdout))


def measure(command: list[str]) -> tuple[Cost, int]:
    """Run a command in this process, made for it alone: its cost and its exit code.

    A sandbox does not wait for all that it has started, and CPU time counts only where somebody
    waits: so whatever is left comes to this process, which does.
    """
    become_subreaper()
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    process.wait()
    wall = time.monotonic() - start
    with contextlib.suppress(ChildProcessError):  # raised when none is left
        while True:
            os.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(cpu, wall, usage.ru_maxrss / 1024), process.returncode


def become_subreaper() -> None:
    """Make this process the parent of all orphans among its descendants, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def machine() -> str:
    """The machine in a line."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    cost, code = measure(sys.argv[1:])
    print(json.dumps([cost.cpu, cost.wall, cost.memory_mib]))
    sys.exit(code)
