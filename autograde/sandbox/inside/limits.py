"""What the student's process may use. The kernel holds these limits, not this program."""

import os
import resource

MIB = 2**20


def apply(
    memory_mib: int, cpu_seconds: int, threads: int | None = None, file_mib: int = 64
) -> None:
    """Limit this process for good: address space, CPU time, file size, open files, no core.

    `threads` is for a user namespace of its own, where nobody else's processes are counted.
    """
    _limit(resource.RLIMIT_CPU, cpu_seconds)
    _limit(resource.RLIMIT_FSIZE, file_mib * MIB)
    _limit(resource.RLIMIT_NOFILE, 256)
    _limit(resource.RLIMIT_CORE, 0)
    if threads is not None:
        _limit(resource.RLIMIT_NPROC, threads)
    if os.uname().sysname != "Darwin":  # macOS accepts no address-space limit
        _limit(resource.RLIMIT_AS, memory_mib * MIB)


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(what, (value, value))
