"""A student's process: how it is started, spoken to, limited and ended.

A worker is a copy of a fork server, or a program of its own. Either way it runs `inside/server.py`,
which sets up the sandbox around itself before it says that it is ready.
"""

import atexit
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import IO

from autograde.sandbox import library, mounts
from autograde.sandbox.inside import wire

THREADS = 128  # of one submission
START_SECONDS = 60.0  # of a worker, with torch to load on a busy machine

Command = Callable[[dict], list[str]]  # from the settings of inside/server.py


class SandboxError(RuntimeError):
    """A sandbox could not be set up; the text says which step failed."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds are wall time, except for `cpu_seconds`.

    `blocklist` names the library's functions that are not there, since they answer an exercise.
    `preload` names modules, each with names from it, that are loaded before the student's code
    arrives, for speed alone.
    """

    memory_mib: int = 2048
    cpu_seconds: int = 60
    cell_seconds: float = 10.0
    extra_cell_seconds: float = 2.0
    call_seconds: float = 2.0
    blocklist: tuple[str, ...] = ()
    preload: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Worker:
    """A student's process that is ready: the link to it, and the way to end it.

    Raises SandboxError if it does not become ready.
    """

    def __init__(self, link: socket.socket, process: "Forked | Alone") -> None:
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

    def exchange(self, request: dict | None, deadline: float) -> dict | None:
        """Send a request, if there is one, and read an answer; None if the worker has ended."""
        if request is not None:
            self.link.settimeout(max(1e-3, deadline - time.monotonic()))
            wire.send(self.link, request)
        return wire.receive(self.link, deadline)

    def end(self) -> None:
        """Kill the worker and all that it has started."""
        self.process.end()
        self.link.close()


def settings_of(limits: Limits, forks: bool = False, isolated: bool = True) -> dict:
    """The settings of `inside/server.py`, which it gets as JSON on its command line."""
    copy = library.without(limits.blocklist)
    return {
        "memory_mib": limits.memory_mib, "cpu_seconds": limits.cpu_seconds, "threads": THREADS,
        "preload": limits.preload, "library": str(copy) if copy else None,
        "forks": forks, "isolated": isolated, "become_nobody": isolated and mounts.is_root(),
        "home": mounts.SCRATCH, "rootfs": asdict(mounts.rootfs(copy)), "makes_rootfs": False,
    }  # fmt: skip


class Alone:
    """A program of its own for one worker, with the folder that goes with it, if any."""

    def __init__(self, command: list[str], link: socket.socket, folder: str | None = None) -> None:
        self.folder = folder
        self.popen, self.errors = launch(command, [link.fileno()], folder)

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
            server = self.by_key.pop((command, limits), None) or Server(command, limits)
            self.by_key[command, limits] = server  # the last used is the last to be stopped
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
