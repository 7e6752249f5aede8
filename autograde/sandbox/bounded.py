"""What one submission may cost the grader's own process: the kernel holds it to that.

Values that a student's function gives are compared here, and a test's objects are used here. With
too much memory that fails, and after too much time the submission is given up; the process goes on
to the next one.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = 550 * 2**20  # bytes over what the process has before
SECONDS = 30  # of its processor


class TooCostly(RuntimeError):
    """A submission that takes too much of the grader's memory or time; the text says so."""


class _Stopped(KeyboardInterrupt):
    """Raised wherever the grader is. What lets Ctrl+C through lets it through too."""


@contextmanager
def bounded() -> Iterator[None]:
    """Let this process have so much more memory and processor time until the block ends.

    Raises TooCostly for more than that. Nothing happens on other systems than Linux, which isolate
    nothing either.
    """
    if sys.platform != "linux" or sys.modules.get("resource", True) is None:
        yield
        return
    try:
        with _limits({"RLIMIT_DATA": _data() + MEMORY, "RLIMIT_CPU": _used() + SECONDS}):
            yield
    except _Stopped:
        raise TooCostly(f"it kept the grader busy for more than {SECONDS} s") from None
    except MemoryError:
        mib = MEMORY // 2**20
        raise TooCostly(f"what it returned takes more than {mib} MiB of the grader") from None


@contextmanager
def _limits(most: dict[str, int]) -> Iterator[None]:
    """These limits of the kernel, for a while."""
    import resource

    handled = threading.current_thread() is threading.main_thread()  # else the signal ends us
    handler = signal.signal(signal.SIGXCPU, _stop) if handled else None
    before = {name: resource.getrlimit(getattr(resource, name)) for name in most}
    try:
        for name, limit in most.items():
            hard = before[name][1]
            soft = limit if hard < 0 else min(limit, hard)
            resource.setrlimit(getattr(resource, name), (soft, hard))
        yield
    finally:
        for name, limits in before.items():
            resource.setrlimit(getattr(resource, name), limits)
        if handled:
            signal.signal(signal.SIGXCPU, handler)


def _stop(*_: object) -> None:
    raise _Stopped


def _used() -> int:
    """The seconds of processors that this process has used."""
    times = os.times()
    return int(times.user + times.system)


def _data() -> int:
    """The bytes of memory of this process that count: written, or meant to be."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE")
