"""Starting workers: copies of a fork server behind both fences, or cold sandboxes of their own."""

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
from collections.abc import Callable
from dataclasses import dataclass

from autograde.chapter import library_folders
from autograde.sandbox import outer

LAYERS = (
    *("user", "processes", "network", "messages", "scratch"),
    *("limits", "privileges", "landlock", "calls"),
)
COLD_LAYERS = ("limits", "privileges", "landlock", "calls")  # those that need no namespace
THREADS = 128  # of one submission
START_SECONDS = 60.0  # the server's, with torch to load on a busy machine


class FenceError(RuntimeError):
    """A fence could not be put up; the text says which step failed."""


@dataclass(frozen=True)
class Kind:
    """What a worker is made for: the limits that the kernel holds, and what is loaded before."""

    memory_mib: int
    cpu_seconds: int
    own_work: tuple[str, ...] = ()
    preload: tuple[tuple[str, tuple[str, ...]], ...] = ()


def settings_of(kind: Kind, cold: bool, layers: tuple[str, ...]) -> dict:
    """What `inside/server.py` is told."""
    room = outer.plan()
    return {
        "memory_mib": kind.memory_mib, "cpu_seconds": kind.cpu_seconds, "threads": THREADS,
        "own_work": kind.own_work, "preload": kind.preload,
        "libraries": [str(folder.parent) for folder in library_folders()],
        "cold": cold, "layers": layers, "room": None, "connect": None,
        "become_nobody": outer.is_root(), "home": outer.SCRATCH,
        "readable": room.readable, "writable": room.writable, "scratch": room.scratch,
    }  # fmt: skip


Command = Callable[[dict, list[int]], list[str]]


class Server:
    """A running fork server. It ends when this end of its control socket closes."""

    def __init__(self, command: Command, kind: Kind, layers: tuple[str, ...] = LAYERS) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        handles = [theirs.fileno(), proc]
        settings = settings_of(kind, False, layers) | {"control": handles[0], "proc": proc}
        self.lock = threading.Lock()
        try:
            self.popen, self.errors = launch(command(settings, handles), handles)
        finally:
            os.close(proc)
            theirs.close()
        self._await_start()

    def _await_start(self) -> None:
        self.control.settimeout(START_SECONDS)
        try:
            ready = self.control.recv(2**16)
        except OSError:
            ready = b""
        if not ready:
            self.stop()
            raise FenceError(f"the sandbox did not start: {last_words(self.errors)}")

    def start(self, link: socket.socket) -> "Forked":
        """A new worker at the far end of `link`. Raises FenceError where it cannot be had."""
        with self.lock:
            try:
                socket.send_fds(self.control, [b"{}"], [link.fileno()])
                data, handles, _, _ = socket.recv_fds(self.control, 2**16, 1)
            except OSError as error:
                raise FenceError(f"the fork server does not answer: {error}") from None
        answer = json.loads(data) if data else {"failed": "the fork server has gone"}
        if "failed" in answer or len(handles) != 1:
            raise FenceError(answer.get("failed", "no handle on the worker"))
        return Forked(handles[0])

    def stop(self) -> None:
        """Close the control socket, upon which the server and all its children end."""
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(5)
        self.popen.kill()
        self.popen.wait()


class Forked:
    """A worker by the kernel's handle on it: never by a number, which somebody else may get."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def last_words(self) -> str:
        """What it said before it ended: it has no way to say anything."""
        return "the worker ended before it was ready"

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


class Cold:
    """A sandbox of its own for one worker; without any fence, a plain process in a folder."""

    def __init__(self, command: list[str], handles: list[int], folder: str | None) -> None:
        self.folder = folder
        self.popen, self.errors = launch(command, handles, folder)

    def last_words(self) -> str:
        """What it said before it ended."""
        return last_words(self.errors)

    def end(self) -> None:
        """Kill it and its process group, and remove its folder, if it had one."""
        with contextlib.suppress(ProcessLookupError):  # it may have gone by itself
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


Worker = Forked | Cold


def cold(command: Command, kind: Kind, link: socket.socket, layers: tuple[str, ...]) -> Cold:
    """A worker in an outer fence of its own, with the layers that need no namespace."""
    kept = tuple(name for name in COLD_LAYERS if name in layers)
    settings = settings_of(kind, True, kept) | {"control": link.fileno()}
    return Cold(command(settings, [link.fileno()]), [link.fileno()], None)


def unfenced(kind: Kind, link: socket.socket) -> Cold:
    """A worker with limits and nothing else around it."""
    folder = tempfile.mkdtemp(prefix="specdec-")
    settings = settings_of(kind, True, ("limits",)) | {"control": link.fileno(), "home": folder}
    settings["become_nobody"] = False
    return Cold(outer.program(settings, str(outer.PROGRAM)), [link.fileno()], folder)


def launch(command: list[str], handles: list[int], folder: str | None = None) -> tuple:
    """Start a command in a session of its own with open `handles`; also the file of its errors."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115  read when the command has ended
    try:
        popen = subprocess.Popen(
            command, pass_fds=handles, cwd=folder or "/", start_new_session=True,
            env=outer.environment(folder or outer.SCRATCH), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors,
        )  # fmt: skip
    except OSError as error:
        raise FenceError(f"{command[0]} cannot be started: {error}") from None
    return popen, errors


def last_words(errors: object) -> str:
    """The end of what a program wrote to its file of errors."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:500] if lines else "it said nothing"


class Servers:
    """The fork servers of this process, the last few kinds that were asked for."""

    MOST = 3

    def __init__(self) -> None:
        self.by_key: dict[tuple, Server] = {}
        self.owner = os.getpid()
        self.lock = threading.Lock()

    def get(self, command: Command, kind: Kind, layers: tuple[str, ...]) -> Server:
        """The server for a kind of worker, started where there is none."""
        with self.lock:
            if self.owner != os.getpid():  # a fork has the parent's list, but not its servers
                self.by_key, self.owner = {}, os.getpid()
            key = (command, kind, layers)
            server = self.by_key.pop(key, None) or Server(command, kind, layers)
            self.by_key[key] = server  # the last used is the last to go
            while len(self.by_key) > self.MOST:
                self.by_key.pop(next(iter(self.by_key))).stop()
            return server

    def drop(self, server: Server) -> None:
        """Forget a server that does not answer any more."""
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
