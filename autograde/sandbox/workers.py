"""A student's process: how it is started, spoken to, limited and ended.

A worker is a program of its own, `inside/start.py`. It gives up its rights, and then says that it
is ready.
"""

import contextlib
import math
import os
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from autograde.sandbox import mounts
from autograde.sandbox.inside import wire

PATIENCE = 5  # seconds by the clock that a worker may take for each second of a limit
START_SECONDS = 60.0  # of a worker, with torch to load on a busy machine


class SandboxError(RuntimeError):
    """A sandbox could not be set up; the text says which step failed."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use, on the machine that the limits were chosen on.

    The seconds of a cell or a call are a processor's, as `Stopwatch` counts them; a cell of the
    student's own has `extra_cell_seconds`. `total_seconds` go by the clock: a cell of one's own
    that is stopped at its limit leaves half of them to the exercises. `cpu_seconds` of processors
    are for one process: several threads may reach them before the total, one cannot. `slowness`
    multiplies all these seconds. `preload` names modules, each with names from it, that are loaded
    before the student's code arrives, for speed alone.
    """

    memory_mib: int = 2048
    cpu_seconds: int = 120
    total_seconds: float = 120.0
    cell_seconds: float = 10.0
    extra_cell_seconds: float = 60.0
    call_seconds: float = 2.0
    slowness: float = 1.0
    preload: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def process_seconds(self) -> int:
        """The limit that the kernel holds a process to, on this machine."""
        return math.ceil(self.cpu_seconds * self.slowness)


class Stopwatch:
    """What is left of a limit of `seconds` for one request to a worker.

    They are seconds of a processor that the worker uses, so another program on the machine takes
    none of them. By the clock the limit is `PATIENCE` times as long, and ends at `end_of_time` at
    the latest.
    """

    def __init__(
        self, seconds_used: Callable[[], float], seconds: float, end_of_time: float
    ) -> None:
        self.seconds_used, self.seconds = seconds_used, seconds
        self.start, self.used = time.monotonic(), seconds_used()
        self.end = min(end_of_time, self.start + PATIENCE * seconds)

    def left(self) -> float:
        """Seconds by the clock for which the limit cannot be reached; 0 or less once it is."""
        now = time.monotonic()
        sure = self.start + self.seconds - now
        if sure <= 0:  # only now: threads may have used more of the processors than of the clock
            sure = self.seconds - (self.seconds_used() - self.used)
        return min(sure, self.end - now)


class Worker:
    """A student's process that is ready: the link to it, and the way to end it.

    Raises SandboxError if the process does not become ready.
    """

    def __init__(self, link: socket.socket, process: Any) -> None:
        self.link, self.process = link, process
        self.answers = selectors.DefaultSelector()
        self.answers.register(link, selectors.EVENT_READ)
        try:
            self._wait_until_ready()
        except BaseException:
            self.end()
            raise
        self.pid = process.pid()

    def _wait_until_ready(self) -> None:
        try:
            answer = wire.receive(self.link, time.monotonic() + START_SECONDS)
        except (OSError, wire.ProtocolError) as error:
            answer = {"failed": str(error)}
        if answer is None or answer.get("ready") is not True:
            reason = answer.get("failed") if answer else last_words(self.process.errors)
            raise SandboxError(f"the worker did not start: {reason}")

    def limit(self, seconds: float, end_of_time: float = math.inf) -> Stopwatch:
        """A limit for a request that is sent now."""
        return Stopwatch(self.seconds_used, seconds, end_of_time)

    def seconds_used(self) -> float:
        """The seconds of processors that it has used, of which differences count."""
        return processor_seconds(self.pid)

    def is_full(self) -> bool:
        """Whether it was ended because it had too much memory; the kernel's limit ends nothing."""
        return False

    def exchange(self, request: dict | None, limit: Stopwatch) -> dict | None:
        """Send a request, if there is one, and read an answer; None if the worker has ended.

        Raises TimeoutError at the limit.
        """
        if request is not None:
            self.link.settimeout(max(1e-3, limit.end - time.monotonic()))
            wire.send(self.link, request)
        while not self.answers.select(max(0, left := limit.left())):
            if left <= 0:
                raise TimeoutError
        return wire.receive(self.link, limit.end)

    def end(self) -> None:
        """Kill the worker and all that it has started."""
        self.process.end()
        self.answers.close()
        self.link.close()


def processor_seconds(pid: int) -> float:
    """The seconds of processors that a process has used; the clock's where they cannot be read."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # MAKE_PROCESS_CPUCLOCK of linux/posix-timers.h
    except OSError:
        return time.monotonic()


def settings_of(limits: Limits, link: socket.socket, home: str = "") -> dict:
    """The settings of `inside/start.py`, which it gets as JSON on its command line.

    With a `home` they are those of a process without a sandbox.
    """
    return {
        "memory_mib": limits.memory_mib, "cpu_seconds": limits.process_seconds,
        "preload": limits.preload, "library": mounts.library_path() if home else [mounts.SHELF],
        "link": link.fileno(), "home": home or mounts.SCRATCH,
        "isolated": not home, "become_nobody": not home and mounts.is_root(),
    }  # fmt: skip


class Program:
    """The program of one worker, with the folder that goes with it, if any.

    It is in a session of its own, and `errors` is the file of its stderr.
    """

    def __init__(self, command: list[str], link: socket.socket, folder: str | None = None) -> None:
        self.folder = folder
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  read when the program has ended
        try:
            self.popen = subprocess.Popen(
                command, pass_fds=[link.fileno()], cwd=folder or "/", start_new_session=True,
                env=mounts.environment(folder or mounts.SCRATCH), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=self.errors,
            )  # fmt: skip
        except OSError as error:
            raise SandboxError(f"{command[0]} cannot be started: {error}") from None

    def pid(self) -> int:
        """The worker's number: that of the last program that bubblewrap has started, if any."""
        pid = self.popen.pid
        with contextlib.suppress(OSError):
            while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                pid = int(children[0])
        return pid

    def end(self) -> None:
        """Kill it and its process group, and remove its folder. A second call does nothing."""
        if self.popen.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def last_words(errors: IO[bytes]) -> str:
    """The last line that a program wrote to the file of its stderr."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:500] if lines else "it said nothing"
