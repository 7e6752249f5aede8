"""The self-test: attack the sandbox of this machine, and report what was not blocked.

`autograde doctor` prints it. `require_isolation` runs it at the start of every grading.
"""

import platform
import tempfile
from functools import cache
from pathlib import Path

from autograde.course import GRADER, SOLUTIONS, UsageError
from autograde.sandbox import isolation, workers
from autograde.sandbox.isolation import ADVICE, BUBBLEWRAP, DESCRIPTIONS, VARIABLE, NoIsolation
from autograde.sandbox.workers import Limits, SandboxError, Worker

# The probes are attacks, each a cell of one worker. A probe prints what it managed to reach.
_PROBE_SETUP = """
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
x86_64 = {"keyctl": 250, "bpf": 321, "unshare": 272, "ptrace": 101}
aarch64 = {"keyctl": 219, "bpf": 280, "unshare": 97, "ptrace": 117}
numbers = x86_64 if os.uname().machine == "x86_64" else aarch64
for name, number in (numbers | {"io_uring": 425, "pidfd_open": 434}).items():
    result = libc.syscall(number, 1, 0, 0, 0, 0)
    if result >= 0 or ctypes.get_errno() not in (1, 38):  # not permitted, no such call
        print(name)
""",
    "more than its limits": """
attempt("memory", lambda: bytearray(MEMORY * 2**20))
for name, allowed in (("CPU", SECONDS), ("FSIZE", 2**26), ("NOFILE", 256)):
    _, hard_limit = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
    if not 0 <= hard_limit <= allowed:
        print(name)
""",
}
_PROBE_LIMITS = Limits(memory_mib=1024, total_seconds=20)


def run_probes(mode: str) -> dict[str, str]:
    """What each probe managed to reach: "" if it was blocked. Raises nothing."""
    try:
        with tempfile.NamedTemporaryFile(prefix="specdec-decoy-") as decoy:
            worker = workers.start_worker(_PROBE_LIMITS, mode == BUBBLEWRAP)
            try:
                setup = _constants(decoy.name) + _PROBE_SETUP
                return {name: _run(worker, setup + code) for name, code in PROBES.items()}
            finally:
                worker.end()
    except (SandboxError, OSError, ValueError) as error:
        return {"the start of a worker": str(error)}


def _constants(decoy: str) -> str:
    """The probes' constants: the file `decoy` and others that must be hidden, names, limits."""
    hidden = [GRADER / "cli.py", SOLUTIONS, Path.home() / ".bashrc"]
    names = {*isolation.ENVIRONMENT, "PWD", "LC_CTYPE"}
    limits = f"MEMORY = {_PROBE_LIMITS.memory_mib}\nSECONDS = {_PROBE_LIMITS.total_seconds + 1}"
    return f"PLACES = {[decoy, *map(str, hidden)]}\nNAMES = {names}\n{limits}\n"


def _run(worker: Worker, code: str) -> str:
    """What a cell printed, or its error."""
    report = worker.ask({"do": "cell", "source": code, "key": ""}, _PROBE_LIMITS.cell_seconds)
    if report is None or report["error"]:
        return report["error"]["text"] if report else "the process ended"
    return " ".join(report["printed"].split())


@cache
def require_isolation() -> str:
    """Run the self-test; returns a line that describes the isolation of this process.

    Raises NoIsolation if there is no isolation, or if a probe was not blocked.
    """
    mode = isolation.mode()
    if mode == BUBBLEWRAP:
        probes = run_probes(mode)
        leaks = [f"\n  {name}: {reached}" for name, reached in probes.items() if reached]
        if leaks:
            raise NoIsolation(
                f"the isolation ({DESCRIPTIONS[mode]}) does not hold:{''.join(leaks)}\n{ADVICE}"
            )
    return f"isolation: {DESCRIPTIONS[mode]}"


def doctor_report() -> tuple[list[str], bool]:
    """The doctor's lines, and whether students' code can be graded safely here."""
    lines = [f"System: {platform.system()} {platform.release()}, {platform.machine()}"]
    try:
        lines.append(require_isolation())
    except (NoIsolation, UsageError) as error:
        return [*lines, str(error)], False
    if isolation.mode() != BUBBLEWRAP:
        return [*lines, f"{VARIABLE} asks for none. Unset it to be protected."], False
    return [*lines, *(f"  {name}: stopped" for name in PROBES)], True
