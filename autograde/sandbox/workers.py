"""A student's process: how it is started, spoken to, limited and ended.

A worker is a copy of a fork server, or a program of its own. Either way it runs `inside/server.py`,
which sets up the sandbox around itself before it says that it is ready.
"""

import atexit
import contextlib
import json
import math
import os
import select
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from autograde.sandbox import mounts
from autograde.sandbox.inside import wire

THREADS = 128  # of one submission
PATIENCE = 5  # seconds by the clock that a worker may take for each second of a limit
START_SECONDS = 60.0  # of a worker, with torch to load on a busy machine

Command = Callable[[dict], list[str]]  # from the settings of inside/server.py


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

    @property
    def of_server(self) -> tuple:
        """What a fork server is started with: limits that differ in other seconds share one."""
        return self.memory_mib, self.process_seconds, self.preload


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


def settings_of(limits: Limits, forks: bool = False, isolated: bool = True) -> dict:
    """The settings of `inside/server.py`, which it gets as JSON on its command line."""
    library = [mounts.SHELF] if isolated else mounts.library_path()
    return {
        "memory_mib": limits.memory_mib, "cpu_seconds": limits.process_seconds, "threads": THREADS,
        "preload": limits.preload, "library": library,
        "forks": forks, "isolated": isolated, "become_nobody": isolated and mounts.is_root(),
        "home": mounts.SCRATCH, "rootfs": asdict(mounts.rootfs()), "makes_rootfs": False,
    }  # fmt: skip


class Alone:
    """A program of its own for one worker, with the folder that goes with it, if any."""

    def __init__(self, command: list[str], link: socket.socket, folder: str | None = None) -> None:
        self.folder = folder
        self.popen, self.errors = launch(command, [link.fileno()], folder)

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


class Forked:
    """A copy of a fork server, by the kernel's handle on it: a number may get another process."""

    errors = None  # its stderr goes nowhere

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def pid(self) -> int:
        """The worker's number in this process's namespace."""
        lines = Path(f"/proc/self/fdinfo/{self.handle}").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))

    def end(self) -> None:
        """Kill it, the first process of its namespace, and with it all that it has started.

        A second call does nothing.
        """
        if self.handle < 0:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        select.select([self.handle], [], [], 10.0)  # readable once it has ended
        os.close(self.handle)
        self.handle = -1


class Server:
    """A running fork server. It ends when this end of its control socket closes."""

    def __init__(self, command: Command, limits: Limits) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(START_SECONDS)
        self.lock = threading.Lock()
        self.has_forked = False
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        settings = settings_of(limits, forks=True) | {"control": theirs.fileno(), "proc": proc}
        try:
            self.popen, self.errors = launch(command(settings), [theirs.fileno(), proc])
        finally:
            os.close(proc)
            theirs.close()

    def fork(self, link: socket.socket) -> Forked:
        """A new worker at the far end of `link`. Raises SandboxError."""
        with self.lock:
            try:
                socket.send_fds(self.control, [b"{}"], [link.fileno()])
                data, handles, _, _ = socket.recv_fds(self.control, 2**16, 1)
            except TimeoutError:
                raise SandboxError("the fork server does not answer") from None
            except OSError:  # it has closed its end
                data, handles = b"", []
        if not data:
            how = "ended" if self.has_forked else "did not start"
            raise SandboxError(f"the sandbox {how}: {last_words(self.errors)}")
        answer = json.loads(data)
        if "failed" in answer or len(handles) != 1:
            raise SandboxError(answer.get("failed", "no handle on the worker"))
        self.has_forked = True
        return Forked(handles[0])

    def stop(self) -> None:
        """Close the control socket, upon which the server and all its children end."""
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(5)
        self.popen.kill()
        self.popen.wait()


class Servers:
    """The fork servers of this process: those for the limits that were asked for last."""

    MAX = 3

    def __init__(self) -> None:
        self.by_key: dict[tuple, Server] = {}
        self.owner = os.getpid()
        self.lock = threading.Lock()

    def fork(self, command: Command, limits: Limits, link: socket.socket) -> Forked:
        """A worker from the server for `limits`; if that has ended since, from a new one."""
        server = self.get(command, limits)
        try:
            return server.fork(link)
        except SandboxError:
            has_ended = server.popen.poll() is not None
            self.drop(server)
            if not (has_ended and server.has_forked):
                raise
        return self.get(command, limits).fork(link)

    def get(self, command: Command, limits: Limits) -> Server:
        """The server for a command and limits; a new one if there is none."""
        with self.lock:
            if self.owner != os.getpid():  # a fork has the parent's list, but not its servers
                self.by_key, self.owner = {}, os.getpid()
            key = command, limits.of_server
            server = self.by_key.pop(key, None) or Server(command, limits)
            self.by_key[key] = server  # the last used is the last to be stopped
            while len(self.by_key) > self.MAX:
                self.by_key.pop(next(iter(self.by_key))).stop()
            return server

    def drop(self, server: Server) -> None:
        """Stop and forget a server that does not answer any more."""
        with self.lock:
            self.by_key = {k: s for k, s in self.by_key.items() if s is not server}
        server.stop()

    def stop(self) -> None:
        """End them all."""
        if self.owner == os.getpid():
            for server in self.by_key.values():
                server.stop()
        self.by_key = {}


SERVERS = Servers()
atexit.register(SERVERS.stop)


def launch(
    command: list[str], handles: list[int], folder: str | None = None
) -> tuple[subprocess.Popen, IO[bytes]]:
    """Start a command in a session of its own with open `handles`; also the file of its stderr."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115  read when the command has ended
    try:
        popen = subprocess.Popen(
            command, pass_fds=handles, cwd=folder or "/", start_new_session=True,
            env=mounts.environment(folder or mounts.SCRATCH), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors,
        )  # fmt: skip
    except OSError as error:
        raise SandboxError(f"{command[0]} cannot be started: {error}") from None
    return popen, errors


def last_words(errors: IO[bytes] | None) -> str:
    """The last line that a program wrote to the file of its stderr, if it has one."""
    if errors is None:
        return "it ended before it was ready"
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:500] if lines else "it said nothing"
