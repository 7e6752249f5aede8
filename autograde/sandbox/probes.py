"""The attacks and the honest cells that the self-test runs, each on one layer of the sandbox.

They run as cells of a worker while another worker of the same server is alive. Each sets `result`:
an attack to a text of what it got through to, which is empty if it was stopped.
"""

import os
from dataclasses import dataclass
from typing import Any

from autograde.sandbox.workers import THREADS, Limits

USER = 1000  # as inside/sandbox.py maps it


@dataclass(frozen=True)
class Probe:
    """One attack or honest cell: its layer, what it tries, its code and the `result` due."""

    layer: str
    tries: str
    code: str
    due: Any = ""


# What the first worker leaves for the second one to find: names that only a gap makes visible.
PLANT = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
ours = socket.socket(socket.AF_UNIX)
ours.bind("\\0specdec-probe")
ours.listen(1)
number = {"x86_64": 240}.get(os.uname().machine, 180)  # mq_open
queue = libc.syscall(number, b"specdec-probe", os.O_CREAT | os.O_RDWR, 0o666, None)
with open("probe", "w") as file:
    file.write("planted")
"""
_PREPARE = """
import ctypes, errno, os, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
def code(outcome):
    return 0 if outcome >= 0 else ctypes.get_errno()
"""
_FILES = """
result = [p for p in {places} if os.path.lexists(p)]
try:
    import autograde
    result.append("autograde")
except ImportError:
    pass
result += [n for n in os.environ if n not in {names}]
result = ", ".join(result)
"""
_RULES = """
try:
    os.listdir("/")
    result = "the folder / can be listed"
except PermissionError:
    result = ""
"""
_OTHERS_FILES = """
result = "a file of another worker" if os.path.exists("probe") else ""
"""
_SOCKETS = """
try:
    socket.socket(socket.AF_UNIX).connect("\\0specdec-probe")
    result = "a socket of another worker"
except OSError as error:
    result = "" if error.errno == errno.ECONNREFUSED else "a name of another worker's socket"
"""
_MESSAGES = """
number = {"x86_64": 240}.get(os.uname().machine, 180)  # mq_open
queue = code(libc.syscall(number, b"specdec-probe", os.O_RDWR, 0, None))
result = "" if queue == errno.ENOENT else "a message queue of another worker"
"""
_PROCESSES = """
outcome = code(libc.kill(-1, 0))
result = "" if outcome == errno.ESRCH else "other processes"
"""
_USER = """
result = "" if os.getuid() == os.getgid() == {user} else f"the server's own user, {{os.getuid()}}"
"""
_CALLS = """
calls = {{"unshare": (libc.unshare, 0x10000000), "fork": (libc.fork,)}}
calls["ptrace"] = (libc.ptrace, 16, 1)
numbers = {{"keyctl": {keyctl}, "bpf": {bpf}, "io_uring": 425, "pidfd_open": 434}}
result = []
for name, (call, *arguments) in calls.items():
    outcome = call(*arguments)
    if name == "fork" and outcome == 0:
        os._exit(0)
    if code(outcome) != errno.EPERM:
        result.append(name)
for name, number in numbers.items():
    if code(libc.syscall(number, 1, 0, 0, 0, 0)) not in (errno.EPERM, errno.ENOSYS):
        result.append(name)
for family in (socket.AF_INET, socket.AF_NETLINK, 40):
    try:
        socket.socket(family, socket.SOCK_DGRAM if family != 40 else socket.SOCK_STREAM).close()
        result.append(f"sockets of family {{int(family)}}")
    except OSError as error:
        if error.errno != errno.EAFNOSUPPORT:
            result.append(f"family {{int(family)}}")
result = ", ".join(result)
"""
_RESOURCES = """
result = []
try:
    block = bytearray({memory} * 2**20)
    result.append("memory")
except MemoryError:
    pass
for name, most in {limits}.items():
    if not 0 <= resource.getrlimit(getattr(resource, name))[1] <= most:
        result.append(name)
result = ", ".join(result)
"""
_PRIVILEGES = """
import struct
def prctl(option):
    return libc.prctl(option, 0, 0, 0, 0)
result = []
if prctl(3) != 0:
    result.append("others may look into the process")
if prctl(39) != 1:
    result.append("programs may get more rights")
header, held = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0)), bytearray(24)
number = {"x86_64": 125}.get(os.uname().machine, 90)  # capget
libc.syscall(number, header, (ctypes.c_char * 24).from_buffer(held))
if any(held):
    result.append("rights over its namespaces")
result = ", ".join(result)
"""
_THREAD = """
import threading
import numpy as np
result = []
def work():
    result.append(float(np.linalg.norm(np.eye(4) @ np.ones(4))))
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
_TEMPORARY_FILE = """
import tempfile
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.txt")
    with open(path, "w") as file:
        file.write("kept")
    with open(path) as file:
        result = [file.read(), os.getcwd() == os.environ["HOME"]]
"""
HONEST = [
    Probe("honest work", "numbers in a thread", _THREAD, due=[2.0]),
    Probe("honest work", "a temporary file", _PREPARE + _TEMPORARY_FILE, due=["kept", True]),
]


def attacks(places: list[str], names: list[str], cold: bool, limits: Limits) -> list[Probe]:
    """The attacks on a worker with `limits`.

    The files at `places` are outside of the sandbox; `names` are all that its environment may have.
    A cold sandbox has no other worker in its namespaces, and no user of its own.
    """
    keyctl, bpf = {"x86_64": (250, 321)}.get(os.uname().machine, (219, 280))
    hard = {"RLIMIT_CPU": limits.cpu_seconds, "RLIMIT_FSIZE": 64 * 2**20, "RLIMIT_CORE": 0}
    hard |= {"RLIMIT_NOFILE": 256} | ({} if cold else {"RLIMIT_NPROC": THREADS})
    rows = [
        ("outer", "files and names of the machine", _FILES.format(places=places, names=names)),
        ("landlock", "files that no rule allows", _RULES),
        ("scratch", "files of another worker", _OTHERS_FILES),
        ("network", "sockets of another worker", _SOCKETS),
        ("messages", "message queues of another worker", _MESSAGES),
        ("processes", "other processes", _PROCESSES),
        *([] if cold else [("user", "the server's user", _USER.format(user=USER))]),
        ("calls", "forbidden system calls", _CALLS.format(keyctl=keyctl, bpf=bpf)),
        ("limits", "more memory, files and threads",
         _RESOURCES.format(memory=limits.memory_mib, limits=hard)),
        ("privileges", "rights over namespaces and others", _PRIVILEGES),
    ]  # fmt: skip
    return [Probe(layer, tries, _PREPARE + code) for layer, tries, code in rows]
