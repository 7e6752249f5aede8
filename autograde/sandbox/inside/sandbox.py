"""What a student's process gives up between its start and the first cell.

bubblewrap has set up what it can see. The numbers are those of linux/prctl.h and of the two tables
of system calls, x86_64 and aarch64.
"""

import ctypes
import os
import resource
import struct

from filter import program

NOBODY = 65534
MIB = 2**20
FILE_MIB = 64
_DUMPABLE, _SECCOMP, _CAPABILITY_BOUND, _NO_NEW_PRIVILEGES = 4, 22, 24, 38
_CAPSET = {"x86_64": 126, "aarch64": 91}

_libc = ctypes.CDLL(None, use_errno=True)


def become_nobody() -> None:
    """Root gives itself up: the kernel holds limits against every user but root."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def limit(memory_mib: int, cpu_seconds: int) -> None:
    """Limit this process for good. The kernel holds these limits, not this program.

    The limit of memory holds for threads too, each of which takes some for its stack.
    """
    _limit(resource.RLIMIT_CPU, cpu_seconds)
    _limit(resource.RLIMIT_FSIZE, FILE_MIB * MIB)
    _limit(resource.RLIMIT_NOFILE, 256)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory_mib * MIB)
    _limit(resource.RLIMIT_DATA, memory_mib * MIB)  # not the grader's own


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(what, (value, value))


def lock_down() -> None:
    """Give up all rights, the system calls last. Raises OSError with the step that failed."""
    _drop_capabilities()
    _control(_NO_NEW_PRIVILEGES, 1)
    _control(_DUMPABLE, 0)  # nobody may look into this process
    steps = program()
    buffer = ctypes.create_string_buffer(steps, len(steps))
    _control(_SECCOMP, 2, struct.pack("HxxxxxxP", len(steps) // 8, ctypes.addressof(buffer)))


def _drop_capabilities() -> None:
    """Give up every right over the namespaces, also for programs started later."""
    for number in range(64):
        if _libc.prctl(_CAPABILITY_BOUND, number, 0, 0, 0) < 0:
            break
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    _check(_libc.syscall(ctypes.c_long(_CAPSET[os.uname().machine]), header, nothing), "capset")


def _control(option: int, *arguments: object) -> None:
    """prctl(2)."""
    rest = [0] * (4 - len(arguments))
    _check(_libc.prctl(option, *arguments, *rest), f"prctl {option}")


def _check(outcome: int, what: str) -> None:
    if outcome < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
