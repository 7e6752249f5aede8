"""Drop a student's process's privileges in the sandbox, before the first cell runs.

bubblewrap has set up what it can see, and has dropped its capabilities. Here it gets its limits,
and a seccomp filter, written as BPF, for what no answer needs and no namespace blocks: other
processes and programs, sockets, the kernel's keys and tracing, memory that no limit counts, new
namespaces, and every system call of another ABI or newer than this list. Reference:
Documentation/userspace-api/seccomp_filter.rst in Linux.
"""

import ctypes
import errno
import os
import resource
import struct

NOBODY = 65534
FILE_BYTES = 2**26


def become_nobody() -> None:
    """Switch from root to nobody: the kernel enforces limits for every user but root.

    Raises OSError where that is impossible, as in a namespace with no user but root.
    """
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError as error:
        raise OSError(
            error.errno,
            f"root cannot become nobody, user and group {NOBODY}: {error.strerror}. In this "
            "container map both (/proc/self/uid_map, gid_map) and allow setgroups, or be no root",
        ) from None


def limit_process(memory_mib: int, cpu_seconds: int) -> None:
    """Limit this process for good. The kernel enforces these limits, not this program.

    The limit of memory holds for threads too, each of which takes some for its stack.
    """
    limits = {
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: FILE_BYTES,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: memory_mib * 2**20,
        resource.RLIMIT_DATA: memory_mib * 2**20,  # not the grader's own
    }
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))


def filter_system_calls() -> None:
    """Block the system calls of `bpf_program`. Raises OSError if the kernel takes no filter."""
    steps = b"".join(bpf_program(os.uname().machine))
    buffer = ctypes.create_string_buffer(steps, len(steps))
    filter_ = struct.pack("HxxxxxxP", len(steps) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(22, 2, filter_, 0, 0) < 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        raise OSError(ctypes.get_errno(), "the kernel does not take the seccomp filter")


# The number of an ABI, and those of three of its calls.
ABIS = {
    "x86_64": {"number": 0xC000003E, "clone": 56, "socketpair": 53, "prctl": 157},
    "aarch64": {"number": 0xC00000B7, "clone": 220, "socketpair": 199, "prctl": 167},
}
# Name: its number on x86_64 and on aarch64; None where there is no such call.
BLOCKED = {
    # Other processes, other programs in this one, other machines, new namespaces.
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "setns": (308, 268), "unshare": (272, 97), "personality": (135, 92), "socket": (41, 198),
    # Keys, tracing, programs for the kernel, memory that no limit of ours counts.
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "syslog": (103, 116),
    "memfd_create": (319, 279), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "io_setup": (206, 0),
    # Observing others' use of files, and making the whole machine wait.
    "inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264), "sync": (162, 81), "syncfs": (306, 267),
}  # fmt: skip

# From number 424 on only these are allowed: close_range, openat2, faccessat2, epoll_pwait2 and
# fchmodat2. clone3 is blocked: a filter cannot see its flags, and the C library then takes clone.
ALLOWED_FROM_424 = (436, 437, 439, 441, 452)

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ABI, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_X32, _THREAD, _UNIX = 0x40000000, 0x00010000, 1


def bpf_program(machine: str) -> list[bytes]:
    """The seccomp filter for a machine's architecture. Raises OSError for an unknown one."""
    if machine not in ABIS:
        raise OSError(f"seccomp: no table of system calls for {machine}")
    abi = ABIS[machine]
    column = list(ABIS).index(machine)
    blocked = [numbers[column] for numbers in BLOCKED.values() if numbers[column] is not None]
    allowed = [step for number in ALLOWED_FROM_424 for step in _when(_EQUAL, number, _ALLOW)]
    return [
        _step(_LOAD, _ABI),
        _step(_EQUAL, abi["number"], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        *_when(_AT_LEAST, _X32, _KILL),
        *[step for number in blocked for step in _when(_EQUAL, number, _ERROR | errno.EPERM)],
        _step(_AT_LEAST, 424, 0, len(allowed) + 1),
        *allowed,
        _step(_RETURN, _ERROR | errno.ENOSYS),
        *_only_with(abi["clone"], _ANY_BIT, _THREAD),  # threads, and no processes
        *_only_with(abi["socketpair"], _EQUAL, _UNIX),
        *_only_with(abi["prctl"], _AT_LEAST, 2),  # not PR_SET_PDEATHSIG: it ends with bubblewrap
        _step(_RETURN, _ALLOW),
    ]


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """One step of BPF; `yes` and `no` are the offsets of its jumps."""
    return struct.pack("HBBI", code, yes, no, value)


def _when(test: int, value: int, action: int) -> list[bytes]:
    return [_step(test, value, 0, 1), _step(_RETURN, action)]


def _only_with(number: int, test: int, value: int) -> list[bytes]:
    """Allow a system call if its first argument passes a test, and block it otherwise."""
    body = [_step(_LOAD, _FIRST_ARGUMENT), *_when(test, value, _ALLOW)]
    body.append(_step(_RETURN, _ERROR | errno.EPERM))
    return [_step(_EQUAL, number, 0, len(body)), *body]
