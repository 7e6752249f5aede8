"""The inner fence: what one submission's process gives up between the fork and the first cell.

The steps are named. `autograde doctor` and its tests leave one out and see that it is missed.
"""

import os
from collections.abc import Callable

import kernel
import limits
import room
from filter import program

NAMESPACES = {
    "user": kernel.NEW_USER,
    "processes": kernel.NEW_PIDS,
    "network": kernel.NEW_NETWORK,
    "messages": kernel.NEW_IPC,
    "scratch": kernel.NEW_MOUNTS,
}
USER = 1000  # whom the student's code takes itself for; outside it is the server's user
FIRST_FREE = 3


def divide(layers: list[str], proc: int, announce: Callable[[int], None]) -> None:
    """Take the namespaces of `layers`, fork, and return in the child, the first process in them.

    `proc` is an open handle of /proc; `announce` is told the child's number in the process that
    ends here. Raises OSError where a namespace cannot be had.
    """
    user, group = os.geteuid(), os.getegid()
    kernel.set_dumpable(True)  # or its user map would belong to root
    flags = 0
    for layer in layers:
        flags |= NAMESPACES.get(layer, 0)
    kernel.unshare(flags, "inner namespaces")
    if flags & kernel.NEW_USER:
        room.map_ids(proc, USER, USER, user, group)
    child = os.fork()
    if child:
        announce(child)
        os._exit(0)


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
