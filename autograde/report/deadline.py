"""Making a page in a process of its own, which can be ended: nothing ends a search in C code."""

import gc
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

CPU_SECONDS = 30
WALL_SECONDS = 300  # a process that waits uses no processor
MEMORY = 400 * 2**20  # bytes over what this process has

Made = TypeVar("Made")


class TooCostly(Exception):
    """What was to be made took too long or too much memory; the text says which."""


def within_limits(make: Callable[[], Made]) -> Made:
    """What `make` returns, made in a copy of this process. Raises TooCostly, and what it raises.

    On other systems than Linux, where nothing is graded in isolation either, it is made here.
    """
    if sys.platform != "linux":
        return make()
    forked = multiprocessing.get_context("fork")
    receiver, sender = forked.Pipe(duplex=False)
    process = forked.Process(target=_send, args=(make, sender), daemon=True)
    process.start()
    sender.close()
    try:
        made, error = _received(receiver)
    finally:
        process.kill()
        process.join()
        receiver.close()
    if error is not None:
        raise error
    return made


def _send(make: Callable[[], Made], sender: Connection) -> None:
    """Runs in the copy, which SIGXCPU ends if it uses up its processor time."""
    import resource  # Windows has none

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    gc.freeze()  # to look for garbage in what was there before would copy all of it
    try:
        answer = (make(), None)
    except MemoryError:
        answer = (None, TooCostly(f"it took more than {MEMORY // 2**20} MiB"))
    except Exception as error:
        answer = (None, error)
    sender.send(answer)


def _received(receiver: Connection) -> tuple:
    try:
        if receiver.poll(WALL_SECONDS):
            return receiver.recv()
    except EOFError:  # it ended without an answer
        pass
    raise TooCostly(f"it took longer than {CPU_SECONDS} s")
