"""Starting the student's process. Every fence around it is put up here, and nowhere else.

It is a plain subprocess with limits, an empty scratch folder and a bare environment.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from autograde.sandbox.inside import wire

PROGRAM = Path(__file__).parent / "inside" / "worker.py"


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds are wall time, but for `cpu_seconds`.

    `own_work` names the library's functions that raise there, since they answer an exercise.
    """

    memory_mib: int = 2048
    cpu_seconds: int = 60
    start_seconds: float = 30.0
    cell_seconds: float = 10.0
    extra_cell_seconds: float = 2.0
    call_seconds: float = 2.0
    own_work: tuple[str, ...] = ()


class Process:
    """A running worker: the link to it, and the way to end it with all it has started."""

    def __init__(self, limits: Limits) -> None:
        self.link, far_end = socket.socketpair()
        self.scratch = tempfile.mkdtemp(prefix="specdec-")
        settings = {
            "fd": far_end.fileno(),
            "memory_mib": limits.memory_mib,
            "cpu_seconds": limits.cpu_seconds,
            "own_work": limits.own_work,
        }
        with far_end:
            self.popen = subprocess.Popen(
                [sys.executable, "-I", "-B", str(PROGRAM), json.dumps(settings)],
                pass_fds=[far_end.fileno()],
                cwd=self.scratch,
                env=_bare_environment(self.scratch),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def wait_until_ready(self, seconds: float) -> None:
        """Wait for the worker's first word. Raises RuntimeError where it does not come."""
        try:
            ready = wire.receive(self.link, time.monotonic() + seconds)
        except (OSError, wire.ProtocolError):
            ready = None
        if ready is None:
            self.end()
            raise RuntimeError(f"the worker did not start; run it by hand to see why: {PROGRAM}")

    def exchange(self, request: dict, deadline: float) -> dict | None:
        """Send one request and read its answer; None where the worker has gone."""
        self.link.settimeout(max(1e-3, deadline - time.monotonic()))
        wire.send(self.link, request)
        return wire.receive(self.link, deadline)

    def end(self) -> None:
        """Kill the worker and its process group, and remove its scratch folder."""
        self.link.close()
        with contextlib.suppress(ProcessLookupError):  # it may have gone by itself
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)


def _bare_environment(scratch: str) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
