"""What one submission may cost the grader's own process: the kernel holds it to that.

Values that a student's function gives are compared here, and a test's objects are used here. With
too much memory the comparison fails. After too much time the process ends, if it is one of several
that grade for another one, which goes on (pool.py).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from pathlib import Path

MEMORY = 550 * 2**20  # bytes over what the process has before
SECONDS = 55  # of its processor


@contextmanager
def bounded() -> Iterator[None]:
    """Let this process have so much more memory and processor time until the block ends.

    Nothing happens on other systems than Linux, which isolate nothing either.
    """
    try:
        import resource
    except ImportError:  # on Windows
        resource = None
    if resource is None or sys.platform != "linux":
        yield
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = {resource.RLIMIT_DATA: _data() + MEMORY}
    if parent_process() is not None:
        most[resource.RLIMIT_CPU] = int(used.ru_utime + used.ru_stime) + SECONDS
    before = {what: resource.getrlimit(what) for what in most}
    try:
        for what, limit in most.items():
            hard = before[what][1]
            resource.setrlimit(what, (limit if hard < 0 else min(limit, hard), hard))
        yield
    finally:
        for what, limits in before.items():
            resource.setrlimit(what, limits)


def _data() -> int:
    """The bytes of memory of this process that count: written, or meant to be."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE")
