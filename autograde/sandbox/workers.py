"""A student's process: how it is started, spoken to, limited and ended.

A worker is a program of its own, `inside/start.py`, in bubblewrap or not. It gives up its rights,
and then says that it is ready. Without a sandbox it is a program like any other of the account, on
any system; its memory is limited on Linux.
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
from autograde.sandbox import bwrap
from autograde.sandbox.inside import wire

START = bwrap.PROGRAM / "start.py"
TICK_SECONDS = 0.02  # between two looks at the clock
# By the clock, on a busy machine too: until a worker has loaded what answers need, and until the
# kernel has ended one.
READY_SECONDS, END_SECONDS = 60.0, 10.0


class SandboxError(RuntimeError):
    """A sandbox could not be set up; the text says which step failed."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    All seconds go by the clock; they are many times what an answer needs, on a slow or busy machine
    too. A cell of the student's own has `extra_cell_seconds`: if it is stopped there, half of
    `total_seconds` is left to the exercises. A process may use as many seconds of processors, which
    only several threads can use up before. `preload` names modules, each with names from it, that
    are loaded before the student's code arrives.
    """

    memory_mib: int = 2048
    total_seconds: float = 120.0
    cell_seconds: float = 20.0
    extra_cell_seconds: float = 60.0
    call_seconds: float = 4.0
    preload: tuple[tuple[str, tuple[str, ...]], ...] = ()


_UNTIL: dict["Worker", float] = {}  # when the time is over, of each worker that is asked


@cache
def _start_watch() -> None:
    """Start the one thread that watches all deadlines, with the first request.

    A later one might never start: in a process whose memory is full of what a student's function
    gave, Python waits without end for a new thread.
    """
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    while True:
        time.sleep(TICK_SECONDS)
        with contextlib.suppress(MemoryError):
            now = time.monotonic()
            for worker in [worker for worker, until in _UNTIL.copy().items() if now > until]:
                worker.late = True
                worker.kill()


class Worker:
    """A student's process that is ready. Raises SandboxError if it does not become ready."""

    def __init__(self, command: list[str], **how: Any) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="specdec-", ignore_cleanup_errors=True)
        # A file takes any number of errors, and nobody has to read them meanwhile.
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  `end` closes it
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.errors}
        how = {"cwd": self.folder.name, "start_new_session": True} | how
        try:
            self.popen = subprocess.Popen(command, **pipes, **how)
        except OSError as error:
            raise SandboxError(f"{command[0]} cannot be started: {error}") from None
        self.link, self.late = wire.Link(self.popen.stdout, self.popen.stdin), False
        try:
            self._wait_until_ready()
        except BaseException:
            self.end()
            raise

    def _wait_until_ready(self) -> None:
        try:
            with self._deadline(READY_SECONDS):
                ready = self.link.receive()
        except TimeoutError:
            raise SandboxError(f"the worker was not ready after {READY_SECONDS:g} s") from None
        except ValueError as error:
            raise SandboxError(f"the worker did not say that it is ready: {error}") from None
        if ready is None:
            self.errors.seek(0)
            lines = self.errors.read().decode(errors="replace").strip().splitlines()
            reason = lines[-1][:500] if lines else "it said nothing"
            raise SandboxError(f"the worker did not start: {reason}")

    def ask(self, request: dict, seconds: float, answer: Callable | None = None) -> dict | None:
        """The worker's answer to a request; None if it has ended.

        Before it answers it may ask, and `answer` says what is sent back. After so many seconds it
        is ended, and TimeoutError is raised.
        """
        with self._deadline(seconds), contextlib.suppress(BrokenPipeError):
            self.link.send(request)
            reply = self.link.receive()
            while answer is not None and reply is not None and "ask" in reply:
                self.link.send(answer(reply["ask"]))
                reply = self.link.receive()
            return reply

    @contextmanager
    def _deadline(self, seconds: float) -> Iterator[None]:
        """After so many seconds the process is killed, and TimeoutError raised in place of all."""
        _start_watch()
        _UNTIL[self] = time.monotonic() + seconds
        try:
            yield
        finally:
            del _UNTIL[self]
            if self.late:
                raise TimeoutError(f"a worker took longer than {seconds:g} s")

    def kill(self) -> None:
        """Kill the process and all that it has started. A second call does nothing."""
        if self.popen.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.popen.pid, signal.SIGKILL)
            else:
                self.popen.kill()

    def end(self) -> None:
        """Kill it, and remove what belongs to it."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(END_SECONDS)
        for file in (self.popen.stdin, self.popen.stdout, self.errors):
            with contextlib.suppress(OSError):  # what was not read of a request is lost
                file.close()
        self.folder.cleanup()


def start(limits: Limits, isolated: bool) -> Worker:
    """A new worker, in bubblewrap or as a program of this account. Raises SandboxError."""
    folders = [str(folder.parent) for folder in library_folders()]
    settings = asdict(limits) | {
        "isolated": isolated, "become_nobody": isolated and bwrap.is_root(),
        "home": bwrap.SCRATCH, "library": [bwrap.SHELF] if isolated else folders,
    }  # fmt: skip
    if isolated:
        return Worker(bwrap.command(json.dumps(settings)), cwd="/", env={})
    environment = os.environ | bwrap.ONE_THREAD | {"MPLBACKEND": "Agg"}
    command = [sys.executable, "-X", "utf8", str(START), json.dumps(settings)]
    return Worker(command, env=environment)
