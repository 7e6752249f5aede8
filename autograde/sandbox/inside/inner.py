"""The inner fence: what one submission's process gives up between the fork and the first cell.

The steps are named. `autograde doctor` and its tests leave one out and see that it is missed.
"""

import os

import kernel
import limits
import room
from filter import program

NAMESPACES = {
    "user": kernel.NEW_USER,
    "network": kernel.NEW_NETWORK,
    "messages": kernel.NEW_IPC,
    "scratch": kernel.NEW_MOUNTS,
}
USER, SERVER = 1000, 999  # whom the student's code and the server take themselves for
FIRST_FREE = 3


def settle(proc: int) -> None:
    """The server's own user and process namespaces, in which it may make those of its children.

    `proc` is an open handle of /proc. Raises OSError where the system refuses.
    """
    user, group = os.geteuid(), os.getegid()
    kernel.set_dumpable(True)  # or its user map would belong to root
    kernel.unshare(kernel.NEW_USER | kernel.NEW_PIDS, "a user namespace in the outer fence")
    room.map_ids(proc, SERVER, SERVER, user, group)
    room.go_on_as_first_process()


def fork(layers: list[str], home: int) -> int:
    """os.fork(), with the child the first process of a namespace of its own.

    `home` is a handle of the caller's own process namespace, to which it comes back.
    """
    if "processes" not in layers:
        return os.fork()
    kernel.unshare(kernel.NEW_PIDS, "a process namespace")
    child = os.fork()
    if child:
        kernel.enter(home, kernel.NEW_PIDS)
    return child


def divide(layers: list[str], proc: int) -> None:
    """Take the other namespaces of `layers`. Raises OSError where one cannot be had."""
    flags = 0
    for layer in layers:
        flags |= NAMESPACES.get(layer, 0)
    kernel.unshare(flags, "inner namespaces")
    if flags & kernel.NEW_USER:
        room.map_ids(proc, USER, USER, SERVER, SERVER)


def close_all_but(*handles: int) -> None:
    """Close every open file from 3 on except `handles`."""
    first = FIRST_FREE
    for handle in sorted(handles):
        os.closerange(first, handle)
        first = handle + 1
    os.closerange(first, 4096)


def confine(layers: list[str], settings: dict) -> None:
    """Give up what is left, the system calls last. Raises OSError with the step that failed."""
    if "scratch" in layers:
        for path, mib in settings["scratch"]:
            room.scratch(path, mib)
    os.chdir(settings["home"])
    if "limits" in layers:
        threads = settings["threads"] if "user" in layers else None
        limits.apply(settings["memory_mib"], settings["cpu_seconds"], threads)
    if "privileges" in layers:
        kernel.drop_capabilities()
        kernel.no_new_privileges()
        kernel.set_dumpable(False)
    if "landlock" in layers:
        kernel.landlock(settings["readable"], settings["writable"])
    if "calls" in layers:
        kernel.filter_calls(program())
