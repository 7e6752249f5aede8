"""The self-test: whether this machine isolates, shown by attacks; what to do if it does not.

`autograde doctor` prints it. `require` runs it at the start of every grading.
"""

import platform
import tempfile
from functools import cache
from pathlib import Path

from autograde.course import GRADER, SOLUTIONS, UsageError
from autograde.sandbox import bwrap, isolation, workers
from autograde.sandbox.isolation import ADVICE, BUBBLEWRAP, DESCRIBED, VARIABLE, NoIsolation
from autograde.sandbox.workers import Limits, SandboxError, Worker

# Attacks, cells of one worker. Each prints what it got through to.
PREPARE = """
import ctypes, os, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, action):
    try:
        action()
        print(name)
    except (OSError, ImportError, MemoryError):
        pass
"""
PROBES = {
    "files and names of the machine": """
print(*filter(os.path.lexists, PLACES), *set(os.environ) - NAMES)
attempt("autograde", lambda: __import__("autograde.course"))
""",
    "the network": """
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, 40):
    attempt(f"sockets of family {family}", lambda: socket.socket(family, socket.SOCK_DGRAM))
""",
    "other processes": """
attempt("a new process", lambda: os.fork() or os._exit(0))
attempt("other processes", lambda: os.kill(-1, 0))
""",
    "forbidden system calls": """
numbers = {"keyctl": (250, 219), "bpf": (321, 280), "unshare": (272, 97), "ptrace": (101, 117),
           "io_uring": (425, 425), "pidfd_open": (434, 434)}
for name, number in numbers.items():
    done = libc.syscall(number[os.uname().machine != "x86_64"], 1, 0, 0, 0, 0)
    if done >= 0 or ctypes.get_errno() not in (1, 38):  # not permitted, no such call
        print(name)
""",
    "more than its limits": """
attempt("memory", lambda: bytearray(MEMORY * 2**20))
for name, most in (("CPU", SECONDS), ("FSIZE", 2**26), ("NOFILE", 256)):
    if not 0 <= resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1] <= most:
        print(name)
""",
}
TRIAL = Limits(memory_mib=1024, total_seconds=20)


def examine(how: str) -> dict[str, str]:
    """What each probe got through to: an empty text where all is well. Nothing is raised."""
    try:
        with tempfile.NamedTemporaryFile(prefix="specdec-decoy-") as decoy:
            worker = workers.start(TRIAL, how == BUBBLEWRAP)
            try:
                names = _names(decoy.name)
                return {name: _run(worker, names + PREPARE + code) for name, code in PROBES.items()}
            finally:
                worker.end()
    except (SandboxError, OSError, ValueError) as error:
        return {"the start of a worker": str(error)}


def _names(decoy: str) -> str:
    """What the probes are told: that the file `decoy` should not be seen, among others."""
    places = [decoy, *map(str, (GRADER / "cli.py", SOLUTIONS, Path.home() / ".bashrc"))]
    names = {*bwrap.ENVIRONMENT, "PWD", "LC_CTYPE"}
    limits = f"MEMORY, SECONDS = {TRIAL.memory_mib}, {TRIAL.total_seconds + 1}"
    return f"PLACES = {places}\nNAMES = {names}\n{limits}\n"


def _run(worker: Worker, code: str) -> str:
    """What a cell printed, or its error."""
    report = worker.ask({"do": "cell", "source": code, "key": ""}, TRIAL.cell_seconds)
    if report is None or report["error"]:
        return str(report and report["error"]["text"])
    return " ".join(report["printed"].split())


@cache
def require() -> str:
    """The isolation of this process, in a line, after a self-test.

    Raises NoIsolation if there is none, or one that an attack gets through.
    """
    how = isolation.chosen()
    if how == BUBBLEWRAP:
        wrong = [f"\n  {name}: {found}" for name, found in examine(how).items() if found]
        if wrong:
            raise NoIsolation(
                f"the isolation ({DESCRIBED[how]}) does not hold:{''.join(wrong)}\n{ADVICE}"
            )
    return f"isolation: {DESCRIBED[how]}"


def report() -> tuple[list[str], bool]:
    """The doctor's lines, and whether students' code can be graded safely here."""
    lines = [f"System: {platform.system()} {platform.release()}, {platform.machine()}"]
    try:
        lines.append(require())
    except (NoIsolation, UsageError) as error:
        return [*lines, str(error)], False
    if isolation.chosen() != BUBBLEWRAP:
        return [*lines, f"{VARIABLE} asks for none. Unset it to be protected."], False
    return [*lines, *(f"  {name}: stopped" for name in PROBES)], True
