"""The seccomp filter of a student's process, written as BPF.

What an answer never needs is refused: other processes and programs, other machines, the kernel's
keys and tracing, memory that no limit counts, new namespaces and mounts, and every call of another
ABI or newer than this list. Reference: Documentation/userspace-api/seccomp_filter.rst in Linux.
"""

import errno
import os
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_UNIX, _THREAD, _NEW_NAMESPACES = 1, 0x00010000, 0x7E020000
_PUSH_INPUT, _CONSOLE = 0x5412, 0x541C  # ioctls that put keys into a terminal

# Name: its number on x86_64 and on aarch64; None where there is no such call.
REFUSED = {
    # Other processes, and other programs in this one.
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "setns": (308, 268), "unshare": (272, 97), "personality": (135, 92),
    # Mounts and roots.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "swapon": (167, 224), "swapoff": (168, 225), "quotactl": (179, 60), "acct": (163, 89),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "fanotify_init": (300, 262),
    "mknod": (133, None), "mknodat": (259, 33),
    # Keys, tracing, programs for the kernel, the machine itself.
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "lookup_dcookie": (212, 18),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142),
    "syslog": (103, 116), "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162),
    "vhangup": (153, 58), "_sysctl": (156, None), "io_setup": (206, 0), "io_submit": (209, 2),
    # Memory that no limit of ours counts, and memory of others.
    "memfd_create": (319, 279), "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186),
    "semget": (64, 190), "mbind": (237, 235), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "set_mempolicy": (238, 237), "remap_file_pages": (216, 234),
    # What shows others' use of files, and what makes the whole machine wait.
    "inotify_init": (253, None), "inotify_init1": (294, 26),
    "sync": (162, 81), "syncfs": (306, 267),
}  # fmt: skip

# From number 424 on only these are let through: close_range, openat2, faccessat2, epoll_pwait2 and
# fchmodat2. clone3 is not: a filter cannot see its flags,
# and the C library then takes clone, whose flags it can see.
FROM_424 = (436, 437, 439, 441, 452)

_CLONE, _SOCKET, _SOCKETPAIR, _IOCTL = (56, 220), (41, 198), (53, 199), (16, 29)


def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """One step of BPF; `yes` and `no` say how many steps to leave out."""
    return struct.pack("HBBI", code, yes, no, value)


def program(machine: str | None = None) -> bytes:
    """The filter for a machine; OSError where there is no table for it."""
    machine = machine or os.uname().machine
    if machine not in _AUDIT:
        raise OSError(f"seccomp: no table of system calls for {machine}")
    column = ("x86_64", "aarch64").index(machine)
    refused = [numbers[column] for numbers in REFUSED.values() if numbers[column] is not None]
    return b"".join(
        [
            step(_LOAD, _ARCHITECTURE),
            step(_EQUAL, _AUDIT[machine], 1, 0),
            step(_RETURN, _KILL),
            step(_LOAD, _NUMBER),
            *_when(_AT_LEAST, _X32, _KILL),
            *[part for number in refused for part in _when(_EQUAL, number, _no(errno.EPERM))],
            *_newer(),
            *_by_argument(column),
            step(_RETURN, _ALLOW),
        ]
    )


def _no(number: int) -> int:
    return _ERROR | number


def _when(test: int, value: int, answer: int) -> list[bytes]:
    return [step(test, value, 0, 1), step(_RETURN, answer)]


def _newer() -> list[bytes]:
    """Calls from 424 on: the few that are known, and no others."""
    known = [part for number in FROM_424 for part in _when(_EQUAL, number, _ALLOW)]
    return [step(_AT_LEAST, 424, 0, len(known) + 1), *known, step(_RETURN, _no(errno.ENOSYS))]


def _by_argument(column: int) -> list[bytes]:
    """The calls that depend on an argument; a block is passed over unless the call is its own."""
    socket = _switch(_FIRST_ARGUMENT, [(_EQUAL, _UNIX, _ALLOW)], _no(errno.EAFNOSUPPORT))
    clone = [(_ANY_BIT, _NEW_NAMESPACES, _no(errno.EPERM)), (_ANY_BIT, _THREAD, _ALLOW)]
    keys = [(_EQUAL, request, _no(errno.EPERM)) for request in (_PUSH_INPUT, _CONSOLE)]
    blocks = (
        (_CLONE, _switch(_FIRST_ARGUMENT, clone, _no(errno.EPERM))),
        (_SOCKET, socket),
        (_SOCKETPAIR, socket),
        (_IOCTL, _switch(_SECOND_ARGUMENT, keys, _ALLOW)),
    )
    return [
        part
        for numbers, body in blocks
        for part in (step(_EQUAL, numbers[column], 0, len(body)), *body)
    ]


def _switch(argument: int, cases: list[tuple[int, int, int]], otherwise: int) -> list[bytes]:
    """The steps that decide by one argument: threads but no processes, and so on."""
    tests = [part for case in cases for part in _when(*case)]
    return [step(_LOAD, argument), *tests, step(_RETURN, otherwise)]
