"""A student's process: start it, send it requests, limit it and kill it.

A worker runs the program `inside/start.py`, in bubblewrap or not. It drops its privileges, and then
reports that it is ready. Without a sandbox it is an ordinary program of the account, on any system;
its memory is limited on Linux.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from autograde.course import library_folders
from autograde.sandbox import isolation
from autograde.sandbox.inside import wire

WORKER_PROGRAM = isolation.PROGRAM / "start.py"
TICK_SECONDS = 0.02  # between two checks of the deadlines
READY_SECONDS = 60.0  # for a worker to load what answers need, on a busy machine too
END_SECONDS = 10.0  # for the kernel to end a worker that was killed


class SandboxError(RuntimeError):
    """A sandbox could not be set up; the text says which step failed."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Seconds are wall-clock seconds, many times what an answer needs, on a slow or busy machine too.
    A cell of the student's own has `extra_cell_seconds`: if it times out, half of `total_seconds`
    is left to the exercises. A process may also use `total_seconds` of processor time, which only
    several threads can use up sooner. `preload` has modules, each with names to import from it,
    that are loaded before the student's code arrives.
    """

    memory_mib: int = 2048
    total_seconds: float = 120.0
    cell_seconds: float = 20.0
    extra_cell_seconds: float = 60.0
    call_seconds: float = 4.0
    preload: tuple[tuple[str, tuple[str, ...]], ...] = ()


_deadlines: dict["Worker", float] = {}  # monotonic seconds, per busy worker


@cache
def _start_watchdog() -> None:
    """Start the one thread that watches all deadlines, with the first request.

    Once a student's values have filled the process's memory, Python waits for ever for a new one.
    """
    threading.Thread(target=_watch_deadlines, daemon=True).start()


def _watch_deadlines() -> None:
    while True:
        time.sleep(TICK_SECONDS)
        with contextlib.suppress(MemoryError):
            now = time.monotonic()
            for worker in [w for w, deadline in _deadlines.copy().items() if now > deadline]:
                worker.timed_out = True
                worker.kill()


class Worker:
    """A student's process that is ready. Raises SandboxError if it does not become ready."""

    def __init__(self, command: list[str], **popen_options: Any) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="specdec-", ignore_cleanup_errors=True)
        # A pipe would block the worker once it is full; a file takes any number of errors.
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  `end` closes it
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.errors}
        options = {"cwd": self.folder.name, "start_new_session": True} | popen_options
        try:
            self.popen = subprocess.Popen(command, **pipes, **options)
        except OSError as error:
            self.errors.close()
            self.folder.cleanup()
            raise SandboxError(f"{command[0]} cannot be started: {error}") from None
        self.connection = wire.Connection(self.popen.stdout, self.popen.stdin)
        self.timed_out = False
        try:
            self._wait_until_ready()
        except BaseException:
            self.end()
            raise

    def _wait_until_ready(self) -> None:
        try:
            with self._kill_after(READY_SECONDS):
                ready = self.connection.receive()
        except TimeoutError:
            raise SandboxError(f"the worker was not ready after {READY_SECONDS:g} s") from None
        except ValueError as error:
            raise SandboxError(f"the worker did not say that it is ready: {error}") from None
        if ready is None:
            self.errors.seek(0)
            lines = self.errors.read().decode(errors="replace").strip().splitlines()
            reason = lines[-1][:500] if lines else "it said nothing"
            raise SandboxError(f"the worker did not start: {reason}")

    def ask(self, request: dict, seconds: float, serve: Callable | None = None) -> dict | None:
        """The worker's answer to a request; None if the process has ended.

        Until it answers, `serve` answers its own questions. Raises TimeoutError, with the process
        killed, after `seconds`.
        """
        with self._kill_after(seconds), contextlib.suppress(BrokenPipeError):
            self.connection.send(request)
            answer = self.connection.receive()
            while serve is not None and answer is not None and "ask" in answer:
                self.connection.send(serve(answer["ask"]))
                answer = self.connection.receive()
            return answer

    @contextmanager
    def _kill_after(self, seconds: float) -> Iterator[None]:
        """Kill the process after `seconds`, and raise TimeoutError in place of any other error."""
        _start_watchdog()
        _deadlines[self] = time.monotonic() + seconds
        try:
            yield
        finally:
            del _deadlines[self]
            if self.timed_out:
                raise TimeoutError(f"a worker took longer than {seconds:g} s")

    def kill(self) -> None:
        """Kill the process and all of its children. A second call does nothing."""
        if self.popen.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.popen.pid, signal.SIGKILL)
            else:
                self.popen.kill()

    def end(self) -> None:
        """Kill the process, close its files and remove its folder."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(END_SECONDS)
        for file in (self.popen.stdin, self.popen.stdout, self.errors):
            with contextlib.suppress(OSError):  # the rest of an unread request is lost
                file.close()
        self.folder.cleanup()


def start_worker(limits: Limits, isolated: bool) -> Worker:
    """Start a worker, in bubblewrap or as a program of this account. Raises SandboxError."""
    folders = [str(folder.parent) for folder in library_folders()]
    settings = asdict(limits) | {
        "isolated": isolated, "become_nobody": isolated and isolation.is_root(),
        "home": isolation.SCRATCH, "library": [isolation.LIBRARY_FOLDER] if isolated else folders,
    }  # fmt: skip
    if isolated:
        return Worker(isolation.bwrap_command(json.dumps(settings)), cwd="/", env={})
    environment = os.environ | isolation.ONE_THREAD | {"MPLBACKEND": "Agg"}
    command = [sys.executable, "-X", "utf8", str(WORKER_PROGRAM), json.dumps(settings)]
    return Worker(command, env=environment)
