"""A worker without isolation: for who marks their own notebook, and grades what they trust.

It is a program like any other of the account, on any system. It speaks through a loopback
connection, as a notebook's kernel does. Its memory is limited on Linux; elsewhere it is as free as
that kernel.
"""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograde.sandbox import mounts
from autograde.sandbox.inside.portable import LOOPBACK, TOKEN
from autograde.sandbox.workers import START_SECONDS, Limits, SandboxError, Worker, last_words

PROGRAM = mounts.PROGRAM / "portable.py"
LOOK_SECONDS, TOKEN_SECONDS = 0.2, 2.0


class OwnProcess:
    """The running program and its folder; it ends when its stdin does, so never after us."""

    def __init__(self, limits: Limits, address: tuple[str, int], token: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="specdec-"))
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  read when the program has ended
        settings = {"address": address, "token": token, "library": mounts.library_path()}
        settings |= {"preload": limits.preload, "memory_mib": limits.memory_mib}
        self.popen = subprocess.Popen(
            [sys.executable, "-X", "utf8", str(PROGRAM)], cwd=self.folder, env=_environment(),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.errors,
        )  # fmt: skip
        with contextlib.suppress(OSError):  # not on its command line: all of the machine may
            self.popen.stdin.write(json.dumps(settings).encode() + b"\n")  # read that
            self.popen.stdin.flush()

    def end(self) -> None:
        """Kill it, and remove its folder. A second call does nothing."""
        self.popen.kill()
        self.popen.wait()
        self.errors.close()
        with contextlib.suppress(OSError):
            self.popen.stdin.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def start(limits: Limits) -> Worker:
    """A new worker. Raises SandboxError if it does not become ready."""
    token = secrets.token_hex(TOKEN // 2)
    with socket.create_server((LOOPBACK, 0)) as server:
        server.settimeout(LOOK_SECONDS)
        process = OwnProcess(limits, server.getsockname(), token)
        try:
            link = _connection(server, process, token)
        except BaseException:
            process.end()
            raise
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # many small messages
    return Worker(link, process)


def _connection(server: socket.socket, process: OwnProcess, token: str) -> socket.socket:
    """The connection of the program; any other program on the machine may try one too."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.popen.poll() is None:
        with contextlib.suppress(TimeoutError):
            link, _ = server.accept()
            if secrets.compare_digest(_token_of(link), token.encode()):
                return link
            link.close()
    raise SandboxError(f"the worker did not start: {last_words(process.errors)}")


def _token_of(link: socket.socket) -> bytes:
    """What a new connection says first; less of it if that does not come at once."""
    token = b""
    link.settimeout(TOKEN_SECONDS)
    with contextlib.suppress(OSError):
        while len(token) < TOKEN and (part := link.recv(TOKEN - len(token))):
            token += part
    return token


def _environment() -> dict[str, str]:
    """The account's own variables; no window, and as many threads as where a class is graded."""
    return os.environ | mounts.ONE_THREAD | {"MPLBACKEND": "Agg"}
