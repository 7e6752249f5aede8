"""Attacks that are tried at the start of every grading, each on one layer of the fences.

They run as cells in two workers that live at the same time, neighbours of one server. Each sets
`found` to what got through, in a few words, or to an empty text.
"""

import os
from dataclasses import dataclass

from autograde.sandbox.workers import THREADS, Kind

USER = 1000  # as inside/inner.py maps it

# What the first worker leaves for its neighbour to find, and what only it could have left.
PLANT = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
ours = socket.socket(socket.AF_UNIX)
ours.bind("\\0specdec-canary")
ours.listen(1)
number = {"x86_64": 240}.get(os.uname().machine, 180)  # mq_open
queue = libc.syscall(number, b"specdec-canary", os.O_CREAT | os.O_RDWR, 0o666, None)
with open("canary", "w") as file:
    file.write("found")
"""

# Both honest cells: plain work that has to go on working.
HONEST_NUMBERS = """
import threading
import numpy as np
found = []
def work():
    found.append(float(np.linalg.norm(np.eye(4) @ np.ones(4))))
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
HONEST_NUMBERS_GIVE = [2.0]
HONEST_FILE = """
import os, tempfile
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.txt")
    with open(path, "w") as file:
        file.write("kept")
    with open(path) as file:
        found = [file.read(), os.getcwd() == os.environ["HOME"]]
"""
HONEST_FILE_GIVES = ["kept", True]

PREPARE = """
import ctypes, errno, os, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
def code(outcome):
    return 0 if outcome >= 0 else ctypes.get_errno()
"""

_SEEN = """
found = [p for p in {places} if os.path.lexists(p)]
try:
    import autograde
    found.append("autograde")
except ImportError:
    pass
found += [n for n in os.environ if n not in {names}]
found = ", ".join(found)
"""
_RULES = """
try:
    os.listdir("/")
    found = "the folder / can be listed"
except PermissionError:
    found = ""
"""
_NEIGHBOUR_FILES = """
found = "a file of another worker" if os.path.exists("canary") else ""
"""
_SOCKETS = """
try:
    socket.socket(socket.AF_UNIX).connect("\\0specdec-canary")
    found = "a socket of another worker"
except OSError as error:
    found = "" if error.errno == errno.ECONNREFUSED else "a name of another worker's socket"
"""
_MESSAGES = """
number = {"x86_64": 240}.get(os.uname().machine, 180)  # mq_open
queue = code(libc.syscall(number, b"specdec-canary", os.O_RDWR, 0, None))
found = "" if queue == errno.ENOENT else "a message queue of another worker"
"""
_PROCESSES = """
seen = code(libc.kill(-1, 0))
found = "" if seen == errno.ESRCH else "other processes"
"""
_USER = """
found = "" if os.getuid() == os.getgid() == {user} else f"the server's own user, {{os.getuid()}}"
"""
_CALLS = """
calls = {{"unshare": (libc.unshare, 0x10000000), "fork": (libc.fork,)}}
calls["ptrace"] = (libc.ptrace, 16, 1)
numbers = {{"keyctl": {keyctl}, "bpf": {bpf}, "io_uring": 425, "pidfd_open": 434}}
found = []
for name, (call, *arguments) in calls.items():
    result = call(*arguments)
    if name == "fork" and result == 0:
        os._exit(0)
    if code(result) != errno.EPERM:
        found.append(name)
for name, number in numbers.items():
    if code(libc.syscall(number, 1, 0, 0, 0, 0)) not in (errno.EPERM, errno.ENOSYS):
        found.append(name)
for family in (socket.AF_INET, socket.AF_NETLINK, 40):
    try:
        socket.socket(family, socket.SOCK_DGRAM if family != 40 else socket.SOCK_STREAM).close()
        found.append(f"sockets of family {{int(family)}}")
    except OSError as error:
        if error.errno != errno.EAFNOSUPPORT:
            found.append(f"family {{int(family)}}")
found = ", ".join(found)
"""
_RESOURCES = """
found = []
try:
    taken = bytearray({memory} * 2**20)
    found.append("memory")
except MemoryError:
    pass
for name, most in {limits}.items():
    if not 0 <= resource.getrlimit(getattr(resource, name))[1] <= most:
        found.append(name)
found = ", ".join(found)
"""
_PRIVILEGES = """
import struct
def asked(what):
    return libc.prctl(what, 0, 0, 0, 0)
found = []
if asked(3) != 0:
    found.append("others may look into the process")
if asked(39) != 1:
    found.append("programs may get more rights")
header, held = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0)), bytearray(24)
number = {"x86_64": 125}.get(os.uname().machine, 90)  # capget
libc.syscall(number, header, (ctypes.c_char * 24).from_buffer(held))
if any(held):
    found.append("rights over its namespaces")
found = ", ".join(found)
"""


@dataclass(frozen=True)
class Canary:
    """One attack: the layer it is on, what it tries, and its code, which sets `found`."""

    layer: str
    tries: str
    code: str


def attacks(places: list[str], names: list[str], cold: bool, kind: Kind) -> list[Canary]:
    """The attacks, on files at `places` outside; `names` are the environment's own.

    A cold sandbox has no neighbour in its namespaces and no user of its own.
    """
    keyctl, bpf = {"x86_64": (250, 321)}.get(os.uname().machine, (219, 280))
    limits = {"RLIMIT_CPU": kind.cpu_seconds, "RLIMIT_FSIZE": 64 * 2**20, "RLIMIT_CORE": 0}
    limits |= {"RLIMIT_NOFILE": 256} | ({} if cold else {"RLIMIT_NPROC": THREADS})
    own_user = _USER.format(user=USER)
    resources = _RESOURCES.format(memory=kind.memory_mib, limits=limits)
    return [
        Canary("outer", "files and names of the machine", _SEEN.format(places=places, names=names)),
        Canary("landlock", "files that no rule allows", _RULES),
        Canary("scratch", "files of another worker", _NEIGHBOUR_FILES),
        Canary("network", "sockets of another worker", _SOCKETS),
        Canary("messages", "message queues of another worker", _MESSAGES),
        Canary("processes", "other processes", _PROCESSES),
        *([] if cold else [Canary("user", "the server's user", own_user)]),
        Canary("calls", "forbidden system calls", _CALLS.format(keyctl=keyctl, bpf=bpf)),
        Canary("limits", "more memory, files and threads", resources),
        Canary("privileges", "rights over namespaces and others", _PRIVILEGES),
    ]
