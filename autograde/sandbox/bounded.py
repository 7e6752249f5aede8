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

MEMORY = 512 * 2**20  # bytes over what the process has before
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
    import resource

    if threading.current_thread() is threading.main_thread():  # else the signal ends us
        signal.signal(signal.SIGXCPU, _stop)
    most = {resource.RLIMIT_DATA: _data() + MEMORY, resource.RLIMIT_CPU: _used() + SECONDS}
    before = {what: resource.getrlimit(what) for what in most}
    try:
        for what, limit in most.items():
            hard = before[what][1]
            resource.setrlimit(what, (limit if hard < 0 else min(limit, hard), hard))
        yield
    except _Stopped:
        raise TooCostly(f"it kept the grader busy for more than {SECONDS} s") from None
    except MemoryError:
        mib = MEMORY // 2**20
        raise TooCostly(f"what it returned takes more than {mib} MiB of the grader") from None
    finally:
        for what, limits in before.items():
            resource.setrlimit(what, limits)


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
