"""The self-test: whether this machine isolates, shown by attacks; what to do if it does not.

`autograde doctor` prints it. `require` runs it at the start of every grading.
"""

import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from autograde.chapter import ROOT
from autograde.sandbox import isolation, mounts
from autograde.sandbox.inside import wire
from autograde.sandbox.isolation import BUBBLEWRAP, TRIAL, VARIABLE, Isolation, NoIsolation
from autograde.sandbox.workers import SandboxError, Worker

CELL_SECONDS, LOOP_SECONDS, END_SECONDS = 10.0, 0.1, 2.0

# Cells of one worker. Each sets `result`, to a text of what it got through to: empty if nothing.
_PREPARE = """
import ctypes, errno, os, resource, socket, tempfile, threading
libc = ctypes.CDLL(None, use_errno=True)
def refused(outcome, *numbers):
    return outcome < 0 and ctypes.get_errno() in numbers
"""
_FILES = """
result = [p for p in {places} if os.path.lexists(p)] + [n for n in os.environ if n not in {names}]
try:
    import autograde
    result.append("autograde")
except ImportError:
    pass
result = ", ".join(result)
"""
_NETWORK = """
result = ""
for family, kind in ((socket.AF_INET, 1), (socket.AF_INET6, 1), (socket.AF_NETLINK, 3), (40, 1)):
    try:
        socket.socket(family, kind)
        result += f"sockets of family {int(family)} "
    except OSError:
        pass
"""
_PROCESSES = """
child = libc.fork()
if child == 0:
    os._exit(0)
result = "" if refused(child, errno.EPERM) else "a new process "
result += "" if refused(libc.kill(-1, 0), errno.ESRCH) else "other processes"
"""
_CALLS = """
calls = {{"unshare": (libc.unshare, 0x10000000), "ptrace": (libc.ptrace, 16, 1)}}
calls |= {{name: (libc.syscall, number, 1, 0, 0, 0, 0) for name, number in {numbers}.items()}}
result = ""
for name, (call, *arguments) in calls.items():
    result += "" if refused(call(*arguments), errno.EPERM, errno.ENOSYS) else name + " "
"""
_LIMITS = """
result = ""
try:
    block = bytearray({memory} * 2**20)
    result = "memory "
except MemoryError:
    pass
for name, most in {limits}.items():
    if not 0 <= resource.getrlimit(getattr(resource, name))[1] <= most:
        result += name + " "
"""
_HONEST = """
result = "a file or a thread does not work"
def work():
    global result
    with tempfile.TemporaryFile() as file:
        result = "" if file.write(b"kept") == 4 else result
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
_LOOP = """
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
"""
ENDS = "the end of a loop that ignores signals"


def probes(decoy: str) -> dict[str, str]:
    """The attacks and honest work, each with its cell; the file `decoy` should not be seen."""
    places = [decoy, *map(str, (ROOT / "autograde", ROOT / "solutions", Path.home() / ".bashrc"))]
    names = [*mounts.environment(""), "PWD", "LC_CTYPE"]
    keyctl, bpf = {"x86_64": (250, 321)}.get(os.uname().machine, (219, 280))
    numbers = {"keyctl": keyctl, "bpf": bpf, "io_uring": 425, "pidfd_open": 434}
    hard = {"RLIMIT_CPU": TRIAL.cpu_seconds, "RLIMIT_FSIZE": 64 * 2**20, "RLIMIT_NOFILE": 256}
    return {
        "files and names of the machine": _FILES.format(places=places, names=names),
        "the network": _NETWORK,
        "other processes": _PROCESSES,
        "forbidden system calls": _CALLS.format(numbers=numbers),
        "more than its limits": _LIMITS.format(memory=TRIAL.memory_mib, limits=hard),
        "honest work": _HONEST,
    }


def examine(how: Isolation) -> dict[str, str]:
    """What each probe got through to: an empty text where all is well. Nothing is raised."""
    try:
        with tempfile.NamedTemporaryFile(prefix="specdec-decoy-") as decoy:
            worker = how.start(TRIAL)
            try:
                cells = probes(decoy.name).items()
                found = {name: _run(worker, _PREPARE + code) for name, code in cells}
                return found | {ENDS: "it goes on" if _outlives_its_end(worker) else ""}
            finally:
                worker.end()
    except (SandboxError, OSError, wire.ProtocolError) as error:
        return {"the start of a worker": str(error)}


def _run(worker: Worker, code: str) -> str:
    """The value of `result` after a cell, or the cell's error as a text."""
    deadline = time.monotonic() + CELL_SECONDS
    try:
        report = worker.exchange({"do": "cell", "source": code}, deadline)
        if report is None or report.get("error"):
            return str(report and report["error"]["text"])
        request = {"do": "value", "name": "result"}
        answer = worker.exchange(request, deadline) or {}
        return str(wire.decode(answer.get("value")))
    except (OSError, wire.ProtocolError) as error:
        return f"{type(error).__name__}: {error}"


def _outlives_its_end(worker: Worker) -> bool:
    """Whether a loop that ignores every signal goes on after the worker was ended."""
    wire.send(worker.link, {"do": "cell", "source": _LOOP})
    time.sleep(LOOP_SECONDS)
    worker.process.end()
    worker.link.settimeout(END_SECONDS)
    try:
        return worker.link.recv(1) != b""  # its last process has closed the other end
    except TimeoutError:
        return True


@cache
def require() -> str:
    """The isolation of this process, in a line, after a self-test.

    Raises NoIsolation if there is none, or one that an attack gets through.
    """
    how = isolation.chosen()
    if how.name == BUBBLEWRAP:
        wrong = [f"\n  {name}: {found}" for name, found in examine(how).items() if found]
        if wrong:
            raise NoIsolation(f"the isolation ({how.describe()}) does not hold:{''.join(wrong)}")
    return f"isolation: {how.describe()}"


def report() -> tuple[list[str], bool]:
    """The doctor's lines, and whether students' code can be graded safely here."""
    lines = list(machine())
    try:
        how = isolation.chosen()
    except (NoIsolation, ValueError) as error:
        return [*lines, str(error), *advice()], False
    lines.append(f"Isolation: {how.describe()}")
    if how.name != BUBBLEWRAP:
        return [*lines, f"{VARIABLE} asks for none. Unset it to be protected."], False
    findings = examine(how)
    lines += [f"  {name}: {'FAILED: ' + f if f else 'ok'}" for name, f in findings.items()]
    wrong = any(findings.values())
    lines.append("NOT SAFE: see the failed lines" if wrong else "every attack was stopped")
    return lines + (advice() if wrong else []), not wrong


def machine() -> Iterator[str]:
    """What the kernel and the tools offer."""
    yield f"System: {platform.system()} {platform.release()}, {platform.machine()}"
    if platform.system() != "Linux":
        return
    bwrap = mounts.find_bubblewrap()
    if bwrap:
        yield subprocess.run([bwrap, "--version"], capture_output=True, text=True).stdout.strip()
    yield f"Grading account: {'root, which becomes nobody' if mounts.is_root() else 'ordinary'}"


def advice() -> list[str]:
    """What would give this machine isolation."""
    if platform.system() != "Linux":
        return [
            "Isolation needs Linux. Grade in a Linux virtual machine, or only submissions that "
            "you trust, with --unsafe-no-isolation."
        ]
    lines = [text for name, bad, text in _SETTINGS if _setting(name) == bad]
    if not mounts.find_bubblewrap():
        lines.append("Install bubblewrap: sudo apt install bubblewrap")
    return lines or [
        "If namespaces are refused, as in many containers, grade on the host or allow them."
    ]


_OFF = "User namespaces are off: sysctl -w"
_ON_UBUNTU = """\
Ubuntu's AppArmor keeps programs from making user namespaces. Give bubblewrap a profile that may:
write these two lines to /etc/apparmor.d/bwrap,
    abi <abi/4.0>,
    profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }
and run: sudo apparmor_parser -r /etc/apparmor.d/bwrap
If that is not enough, first unload the profile that Ubuntu may bring:
    sudo apparmor_parser -R /etc/apparmor.d/bwrap-userns-restrict
Or allow namespaces for all programs:
    sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"""
# A setting of the kernel, the value that forbids namespaces, and what to do.
_SETTINGS = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", _ON_UBUNTU),
    ("kernel/unprivileged_userns_clone", "0", f"{_OFF} kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", f"{_OFF} user.max_user_namespaces=10000"),
)


def _setting(name: str) -> str | None:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return None
