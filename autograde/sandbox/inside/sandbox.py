"""The inner sandbox: what one submission's process gives up between the fork and the first cell."""

import os
import resource

import kernel
import rootfs
from filter import program

NAMESPACES = kernel.NEW_USER | kernel.NEW_NETWORK | kernel.NEW_IPC | kernel.NEW_MOUNTS
USER, SERVER = 1000, 999  # the numbers that the student's code and the server see as their own
FIRST_FREE = 3
MIB = 2**20
FILE_MIB = 64
PENDING = 64  # signals and timers


def enter_server_namespaces(proc: int) -> None:
    """Enter the server's own user and process namespaces, in which its children may make theirs.

    `proc` is an open handle of /proc. Raises OSError if the system refuses.
    """
    user, group = os.geteuid(), os.getegid()
    kernel.set_dumpable(True)  # or its user map would belong to root
    kernel.unshare(kernel.NEW_USER | kernel.NEW_PIDS, "a user namespace in the outer sandbox")
    rootfs.map_ids(proc, SERVER, SERVER, user, group)
    rootfs.go_on_as_first_process()


def fork(home: int) -> int:
    """os.fork(), with the child the first process of a namespace of its own.

    `home` is a handle of the caller's own process namespace, to which it comes back.
    """
    kernel.unshare(kernel.NEW_PIDS, "a process namespace")
    child = os.fork()
    if child:
        kernel.enter(home, kernel.NEW_PIDS)
    return child


def close_all_but(*handles: int) -> None:
    """Close every open file from 3 on except `handles`."""
    first = FIRST_FREE
    for handle in sorted(handles):
        os.closerange(first, handle)
        first = handle + 1
    os.closerange(first, 4096)


def enter_namespaces(proc: int, scratch: list[tuple[str, int]]) -> None:
    """Enter the other namespaces, with empty scratch folders of so many MiB.

    Raises OSError if one of them cannot be had.
    """
    kernel.unshare(NAMESPACES, "inner namespaces")
    rootfs.map_ids(proc, USER, USER, SERVER, SERVER)
    for path, mib in scratch:
        rootfs.mount_scratch(path, mib)


def limit(memory_mib: int, cpu_seconds: int, threads: int | None) -> None:
    """Limit this process for good. The kernel holds these limits, not this program.

    `threads` needs a user namespace of its own, in which nobody else's processes are counted.
    """
    _limit(resource.RLIMIT_CPU, cpu_seconds)
    _limit(resource.RLIMIT_FSIZE, FILE_MIB * MIB)
    _limit(resource.RLIMIT_NOFILE, 256)
    _limit(resource.RLIMIT_CORE, 0)
    if hasattr(resource, "RLIMIT_SIGPENDING"):  # of all processes of the server's user together
        _limit(resource.RLIMIT_SIGPENDING, PENDING)
    if threads is not None:
        _limit(resource.RLIMIT_NPROC, threads)
    if os.uname().sysname != "Darwin":  # macOS accepts no limit of the address space
        _limit(resource.RLIMIT_AS, memory_mib * MIB)


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(what, (value, value))


def lock_down(root: dict) -> None:
    """Give up what is left, the system calls last. Raises OSError with the step that failed."""
    readable = [*root["binds"], *root["shelves"], root["inside"]]
    writable = [*(path for path, _ in root["scratch"]), *root["devices"]]
    kernel.drop_capabilities()
    kernel.no_new_privileges()
    kernel.set_dumpable(False)
    kernel.landlock(readable, writable)
    kernel.filter_calls(program())
