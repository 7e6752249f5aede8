"""What one worker does is not seen by another that runs at the same time, but for its timing."""

import os
import threading
from collections.abc import Iterator

import pytest
from classes.sessions import call, session

from autograde.sandbox import isolation
from autograde.sandbox.isolation import Isolation
from autograde.sandbox.session import Session

CODE = """
import ctypes, errno, fcntl, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
column = ("x86_64", "aarch64").index(os.uname().machine)
def syscall(numbers, *arguments):
    return libc.syscall(numbers[column], *arguments)

file = os.open(os.__file__, os.O_RDONLY)
page = libc.mmap(None, 4096, 1, 1, file, 0)  # both have this file
word = ctypes.c_uint32.from_address(page).value
def wait():
    half_a_second = (ctypes.c_long * 2)(0, 5 * 10**8)
    return syscall((202, 98), ctypes.c_void_p(page), 0, word, half_a_second, None, 0)
def wake(): return syscall((202, 98), ctypes.c_void_p(page), 1, 9, None, None, 0)

def signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, [36])
    sent = 0
    while sent < 200_000 and libc.sigqueue(os.getpid(), 36, 1) == 0:
        sent += 1
    return sent

kept = []
def pipes():
    for _ in range(60):
        kept.append(os.pipe())
        try:
            fcntl.fcntl(kept[-1][0], 1031, 2**20)
        except OSError:
            pass
def size_of_a_pipe(): return fcntl.fcntl(os.pipe()[0], 1032)

def hint():
    try:
        fcntl.fcntl(file, 1036, (5).to_bytes(8, "little"))
    except OSError:
        pass
def look(): return fcntl.fcntl(file, 1035, bytes(8))[0]
"""


@pytest.fixture(params=[name for name in isolation.ways() if not Isolation(name).cold])
def two(request: pytest.FixtureRequest, monkeypatch) -> Iterator[tuple[Session, Session]]:
    """Two workers of one server, with the functions of CODE."""
    monkeypatch.setattr(isolation, "chosen", lambda: Isolation(request.param))
    with session(CODE) as one, session(CODE) as other:
        yield one, other


def does(worker: Session, name: str) -> object:
    return call(worker, name, ()).value


def test_a_wait_on_a_shared_file_cannot_be_ended_by_another(two):
    waited: list[object] = []
    thread = threading.Thread(target=lambda: waited.append(does(two[0], "wait")))
    thread.start()
    woken = [does(two[1], "wake") for _ in range(200)]
    thread.join()
    assert set(woken) == {-1} and waited == [-1]


def test_signals_that_wait_in_one_leave_room_in_another(two):
    assert [does(worker, "signals") for worker in two] == [64, 64]


def test_large_pipes_of_one_make_no_pipe_of_another_smaller(two):
    before = does(two[1], "size_of_a_pipe")
    does(two[0], "pipes")
    assert does(two[1], "size_of_a_pipe") == before


def test_a_hint_on_a_shared_file_is_refused(two):
    does(two[0], "hint")
    assert does(two[1], "look") == 0


NUMBERS = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
column = ("x86_64", "aarch64").index(os.uname().machine)
calls = {"sysinfo": (99, 179), "sync": (162, 81), "syncfs": (306, 267), "preadv2": (327, 286)}
def f():
    got = []
    for name, numbers in calls.items():
        if libc.syscall(numbers[column], ctypes.create_string_buffer(512), 0, 0, 0) >= 0:
            got.append(name)
        elif ctypes.get_errno() != errno.EPERM:
            got.append((name, ctypes.get_errno()))
    try:
        got.append(os.getloadavg())
    except OSError:
        pass
    return got
"""


@pytest.mark.parametrize("name", isolation.ways())
def test_numbers_of_the_whole_machine_are_refused(name: str, monkeypatch: pytest.MonkeyPatch):
    assert os.getloadavg()
    monkeypatch.setattr(isolation, "chosen", lambda: Isolation(name))
    with session(NUMBERS) as s:
        assert does(s, "f") == []
