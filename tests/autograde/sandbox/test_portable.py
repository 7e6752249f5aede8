"""The worker of who marks their own notebook: limits of time, and an end, on any system."""

import os
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autograde.sandbox import portable
from autograde.sandbox.inside.portable import LOOPBACK, TOKEN
from autograde.sandbox.isolation import OWN, TRIAL, Isolation
from autograde.sandbox.workers import SandboxError, Worker

ENDLESS = {"do": "cell", "source": "while True: pass"}


@pytest.fixture
def worker():
    one = Isolation(OWN).start(TRIAL)
    yield one
    one.end()


def test_it_runs_cells_and_leaves_nothing_behind(worker: Worker):
    asked = {"do": "cell", "source": "print(6 * 7)"}
    assert worker.exchange(asked, time.monotonic() + 10)["printed"] == "42\n"
    folder = worker.process.folder
    assert folder.is_dir()
    worker.end()
    assert worker.process.popen.poll() is not None and not folder.exists()


def test_what_never_ends_is_left_at_the_deadline(worker: Worker):
    with pytest.raises(TimeoutError):
        worker.exchange(ENDLESS, time.monotonic() + 0.3)


def test_a_program_that_cannot_start_says_why(tmp_path: Path, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text("raise SystemExit('no room left')")
    monkeypatch.setattr(portable, "PROGRAM", program)
    with pytest.raises(SandboxError, match="did not start: no room left"):
        Isolation(OWN).start(TRIAL)


FILLING = {"do": "cell", "source": "kept = []\nwhile True:\n    kept.append(bytearray(2**24))"}
LITTLE = replace(TRIAL, memory_mib=128)


def test_a_list_without_an_end_meets_the_kernels_limit():
    worker = Isolation(OWN).start(LITTLE)
    assert worker.exchange(FILLING, time.monotonic() + 10)["error"]["name"] == "MemoryError"
    worker.end()


class Running:
    """A program that has not ended."""

    class popen:  # noqa: N801  as OwnProcess calls it
        poll = staticmethod(lambda: None)


def test_another_program_is_not_taken_for_it():
    token = "a" * TOKEN
    with socket.create_server((LOOPBACK, 0)) as server:
        server.settimeout(0.2)
        stranger, ours = (socket.create_connection(server.getsockname()) for _ in range(2))
        stranger.sendall(b"b" * TOKEN)
        ours.sendall(token.encode() + b"more")
        link = portable._connection(server, Running(), token)
        assert link.recv(4) == b"more"
        assert stranger.recv(1) == b""  # it was sent away
        for each in (link, stranger, ours):
            each.close()


STARTED = """
import os
from autograde.sandbox.inside import wire
from autograde.sandbox.isolation import OWN, TRIAL, Isolation
worker = Isolation(OWN).start(TRIAL)
wire.send(worker.link, {"do": "cell", "source": "while True: pass"})
print(worker.process.popen.pid, flush=True)
os._exit(1)  # as if it was killed
"""


def test_it_ends_when_the_grader_is_killed():
    said = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True).stdout
    until = time.monotonic() + 20
    while _lives(int(said)):
        assert time.monotonic() < until
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    """Whether a process that is no child of ours runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
