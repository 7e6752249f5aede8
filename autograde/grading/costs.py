"""What a command costs: CPU seconds of all its processes, wall seconds, and its peak of memory."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograde.paths import ROOT


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
    settings = os.environ | {"OMP_NUM_THREADS": "1"} | dict(environment or {})
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=settings, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)[:200]} failed:\n{said[-2000:]}")
    wall = time.monotonic() - start
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def machine() -> str:
    """The machine in a line."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
