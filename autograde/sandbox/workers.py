"""A student's process: how it is started, spoken to, limited and ended.

A worker is a program of its own, `inside/start.py`. It gives up its rights, and then says that it
is ready.
"""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import IO, Any

from autograde.sandbox import mounts
from autograde.sandbox.inside import wire

START_SECONDS = 60.0  # of a worker, with torch to load on a busy machine
END_SECONDS = 2.0  # from the end of a worker's link to its own end


class SandboxError(RuntimeError):
    """A sandbox could not be set up; the text says which step failed."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    All seconds but `cpu_seconds` go by the clock; they are many times what an answer needs, on a
    slow or busy machine too. A cell of the student's own has `extra_cell_seconds`: if it is stopped
    there, half of `total_seconds` is left to the exercises. `cpu_seconds` of processors are for one
    process: several threads may reach them before the total, one cannot. `preload` names modules,
    each with names from it, that are loaded before the student's code arrives.
    """

    memory_mib: int = 2048
    cpu_seconds: int = 120
    total_seconds: float = 120.0
    cell_seconds: float = 20.0
    extra_cell_seconds: float = 60.0
    call_seconds: float = 4.0
    preload: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Worker:
    """A student's process that is ready: the link to it, and the way to end it.

    Raises SandboxError if the process does not become ready.
    """

    def __init__(self, link: socket.socket, process: Any) -> None:
        self.link, self.process = link, process
        try:
            self._wait_until_ready()
        except BaseException:
            self.end()
            raise

    def _wait_until_ready(self) -> None:
        try:
            answer = wire.receive(self.link, time.monotonic() + START_SECONDS)
        except (OSError, wire.ProtocolError) as error:
            answer = {"failed": str(error)}
        if answer is None or answer.get("ready") is not True:
            reason = answer.get("failed") if answer else last_words(self.process.errors)
            raise SandboxError(f"the worker did not start: {reason}")

    def is_killed(self) -> bool:
        """Whether it has ended by SIGKILL: at its limit the kernel sends that, as nobody else does.

        bubblewrap passes the signal of its program on as a shell would.
        """
        try:
            return self.process.popen.wait(END_SECONDS) in (-signal.SIGKILL, 128 + signal.SIGKILL)
        except (subprocess.TimeoutExpired, AttributeError):  # no such signal on Windows
            return False

    def exchange(self, request: dict, deadline: float) -> dict | None:
        """Send a request and read an answer; None if the worker has ended.

        `deadline` is on the clock of `time.monotonic()`; TimeoutError is raised after it.
        """
        self.link.settimeout(max(1e-3, deadline - time.monotonic()))
        wire.send(self.link, request)
        return wire.receive(self.link, deadline)

    def end(self) -> None:
        """Kill the worker and all that it has started."""
        self.process.end()
        self.link.close()


class Program:
    """The program of one worker in bubblewrap, in a session of its own.

    `errors` is the file of its stderr.
    """

    def __init__(self, command: list[str], link: socket.socket) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  read when the program has ended
        try:
            self.popen = subprocess.Popen(
                command, pass_fds=[link.fileno()], cwd="/", start_new_session=True, env={},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors,
            )  # fmt: skip
        except OSError as error:
            raise SandboxError(f"{command[0]} cannot be started: {error}") from None

    def end(self) -> None:
        """Kill it and its process group. A second call does nothing."""
        if self.popen.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()


def start(limits: Limits) -> Worker:
    """A new worker in bubblewrap. Raises SandboxError if it does not become ready."""
    link, far_end = socket.socketpair()
    settings = {
        "memory_mib": limits.memory_mib, "cpu_seconds": limits.cpu_seconds,
        "preload": limits.preload, "library": [mounts.SHELF], "link": far_end.fileno(),
        "home": mounts.SCRATCH, "become_nobody": mounts.is_root(),
    }  # fmt: skip
    try:
        with far_end:
            process = Program(mounts.bubblewrap(settings), far_end)
    except BaseException:
        link.close()
        raise
    return Worker(link, process)


def last_words(errors: IO[bytes]) -> str:
    """The last line that a program wrote to the file of its stderr."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:500] if lines else "it said nothing"
