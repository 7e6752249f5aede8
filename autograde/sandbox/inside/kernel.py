"""The kernel calls that the sandbox is made of, for which Python has no function of its own.

The numbers are those of linux/sched.h, mount.h, prctl.h, landlock.h and the two tables of system
calls, x86_64 and aarch64; from 424 on, both have the same numbers.
"""

import ctypes
import os
import struct

NEW_MOUNTS, NEW_CGROUP, NEW_UTS, NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEW_USER, NEW_PIDS, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 0x1, 0x2, 0x4, 0x8
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
DETACH = 2

_AT_RECURSIVE, _MOUNT_SETATTR = 0x8000, 442
_DUMPABLE, _NO_NEW_PRIVILEGES, _SECCOMP, _CAPABILITY_BOUND = 4, 38, 22, 24
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_READS, _ALL_OF_ABI = 0b1101, {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF}
_ALL_FROM_ABI_5 = 0xFFFF
_OF_A_FILE = 0b100_0000_0000_0111  # execute, write, read, truncate: what a rule on a file may hold
_SCOPES_FROM_ABI_6 = 0b11  # abstract sockets and signals stay within the domain

_libc = ctypes.CDLL(None, use_errno=True)


def check(outcome: int, what: str) -> int:
    """`outcome`, or OSError with `what` in its text if the call failed."""
    if outcome < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return outcome


def _call(what: str, number: int, *arguments: object) -> int:
    return check(_libc.syscall(ctypes.c_long(number), *arguments), what)


def unshare(flags: int, what: str = "namespaces") -> None:
    """Enter new namespaces of the kinds in `flags`; a new process namespace is for children."""
    check(_libc.unshare(flags), what)


def enter(namespace: int, kind: int) -> None:
    """Enter the namespace of an open handle."""
    check(_libc.setns(namespace, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2)."""
    source_, target_, kind_, options_ = (t.encode() for t in (source, target, kind, options))
    outcome = _libc.mount(source_, target_, kind_, ctypes.c_ulong(flags), options_)
    check(outcome, f"mount on {target}")


def make_read_only(target: str) -> None:
    """All mounts at and below `target` become read-only, without devices and set-user-id."""
    attributes = struct.pack("QQQQ", READ_ONLY | NO_SUID | NO_DEVICES, 0, 0, 0)
    what = f"read-only {target}"
    _call(what, _MOUNT_SETATTR, -100, target.encode(), _AT_RECURSIVE, attributes, 32)


def move_root(new_root: str, old_root: str) -> None:
    """`new_root` becomes the root of this mount namespace; the old one lies at `old_root` in it."""
    number = _PIVOT_ROOT[os.uname().machine]
    _call("pivot_root", number, new_root.encode(), old_root.encode())
    os.chdir("/")


def unmount(target: str) -> None:
    """Unmount `target` and all below it."""
    check(_libc.umount2(target.encode(), DETACH), f"umount of {target}")


def set_dumpable(yes: bool) -> None:
    """Whether others of the same user may look into this process."""
    check(_libc.prctl(_DUMPABLE, int(yes), 0, 0, 0), "dumpable")


def no_new_privileges() -> None:
    """No program that is started from here on gets more rights than this one."""
    check(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no new privileges")


def drop_capabilities() -> None:
    """Give up every right over the namespaces, also for programs started later."""
    for number in range(64):
        if _libc.prctl(_CAPABILITY_BOUND, number, 0, 0, 0) < 0:
            break
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    _call("capset", _CAPSET[os.uname().machine], header, nothing)


def filter_calls(program: bytes) -> None:
    """Filter this process's system calls for good; `program` is BPF, 8 bytes a step."""
    steps = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
    check(_libc.prctl(_SECCOMP, 2, filter_, 0, 0), "seccomp")


def landlock_version() -> int:
    """The kernel's version of landlock; 0 where it has none."""
    return max(0, _libc.syscall(ctypes.c_long(_LANDLOCK_CREATE), None, 0, 1))


def landlock(readable: list[str], writable: list[str]) -> None:
    """From now on only files at or below `readable` can be read, and below `writable` written."""
    version = landlock_version()
    if version < 1:
        raise OSError("landlock: the kernel has none (5.13 or newer is needed)")
    everything = _ALL_OF_ABI.get(version, _ALL_FROM_ABI_5)
    rules = struct.pack("QQQ", everything, 3 if version >= 4 else 0, _SCOPES_FROM_ABI_6)
    rules = rules[: 24 if version >= 6 else 16 if version >= 4 else 8]
    handle = _call("landlock", _LANDLOCK_CREATE, rules, len(rules), 0)
    for path, rights in [*((p, _READS) for p in readable), *((p, everything) for p in writable)]:
        _allow(handle, path, rights)
    _call("landlock", _LANDLOCK_RESTRICT, handle, 0)
    os.close(handle)


def _allow(handle: int, path: str, rights: int) -> None:
    file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):
        rights &= _OF_A_FILE
    _call(f"landlock {path}", _LANDLOCK_ADD, handle, 1, struct.pack("=Qi", rights, file), 0)
    os.close(file)
