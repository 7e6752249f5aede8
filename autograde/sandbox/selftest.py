"""The self-test: which isolation this machine gives, shown by attacks; what to do if it gives none.

`autograde doctor` prints it. `require` runs it at the start of every grading, once a process.
"""

import contextlib
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from autograde.chapter import ROOT
from autograde.sandbox import isolation, mounts, probes
from autograde.sandbox.inside import wire
from autograde.sandbox.isolation import NONE, OWN, TRIAL, VARIABLE, Isolation, NoIsolation
from autograde.sandbox.workers import SandboxError, Worker

CELL_SECONDS, LOOP_SECONDS, END_SECONDS = 10.0, 0.1, 2.0
EXAMINED = "SPECDEC_ISOLATION_EXAMINED"  # set by this module alone
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


@dataclass(frozen=True)
class Finding:
    """One attack or honest cell: its layer, what it tried, and what went wrong, if anything."""

    layer: str
    tried: str
    wrong: str = ""

    def __str__(self) -> str:
        state = f"FAILED: {self.wrong}" if self.wrong else "ok"
        return f"  {self.layer:<11} {self.tried}: {state}"


@dataclass
class Examination:
    """All findings on one isolation."""

    isolation: Isolation
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def wrong(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.wrong]


def examine(how: Isolation) -> Examination:
    """Try every attack and both honest cells. What the sandbox does wrong is never raised."""
    start = time.monotonic()
    examination = Examination(how)
    try:
        examination.findings += _findings(how)
    except (SandboxError, OSError, wire.ProtocolError) as error:
        examination.findings.append(Finding("start", "a worker in its sandbox", str(error)))
    examination.seconds = time.monotonic() - start
    return examination


def _findings(how: Isolation) -> list[Finding]:
    names = [*mounts.environment(""), "PWD", "LC_CTYPE"]
    with contextlib.ExitStack() as stack:
        decoy = stack.enter_context(tempfile.NamedTemporaryFile(prefix="specdec-decoy-"))
        first, second = (_started(how, stack) for _ in range(2))
        _run(first, probes.PLANT)
        home = Path.home() / ".bashrc"
        places = [decoy.name, *map(str, (ROOT / "autograde", ROOT / "solutions", home))]
        tries = [*probes.attacks(places, names, how.cold, TRIAL), *probes.HONEST]
        findings = [_finding(probe, second) for probe in tries]
        lives = _outlives_its_end(second)
    return [*findings, Finding("end", "a loop that ignores signals", "goes on" if lives else "")]


def _started(how: Isolation, stack: contextlib.ExitStack) -> Worker:
    worker = how.start(TRIAL)
    stack.callback(worker.end)
    return worker


def _finding(probe: probes.Probe, worker: Worker) -> Finding:
    result = _run(worker, probe.code)
    wrong = "" if result == probe.due else str(result or repr(result))
    return Finding(probe.layer, probe.tries, wrong)


def _run(worker: Worker, code: str) -> object:
    """The value of `result` after a cell, or the cell's error as a text."""
    limit = worker.limit(CELL_SECONDS)
    try:
        report = worker.exchange({"do": "cell", "source": code}, limit)
        answer = worker.exchange({"do": "value", "name": "result"}, limit)
        if report is None or answer is None:
            return "the worker ended"
        if report.get("error"):
            return f"{report['error']['name']}: {report['error']['text']}"
        return wire.decode(answer["value"]) if "value" in answer else None
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

    The grader's first process runs the test; the processes that it starts take over its result.
    Raises NoIsolation if there is none, or one that an attack gets through.
    """
    how = isolation.chosen()
    if how.name in (NONE, OWN, os.environ.get(EXAMINED)):
        return f"isolation: {how.describe()}"
    result = examine(how)
    if result.wrong:
        lines = "\n".join(map(str, result.wrong))
        raise NoIsolation(f"the isolation ({how.describe()}) does not hold:\n{lines}")
    os.environ |= {VARIABLE: how.name, EXAMINED: how.name}
    return f"isolation: {how.describe()}; {len(result.findings)} tries in {result.seconds:.1f} s"


def report() -> tuple[list[str], bool]:
    """The doctor's lines, and whether students' code can be graded safely here."""
    lines = list(machine())
    try:
        how = isolation.chosen()
    except (NoIsolation, ValueError) as error:
        return [*lines, str(error), *advice()], False
    lines.append(f"Isolation: {how.describe()}")
    if how.name == NONE:
        return [*lines, f"{VARIABLE} asks for none. Unset it to be protected."], False
    result = examine(how)
    lines += map(str, result.findings)
    state = "every attack was stopped" if not result.wrong else "NOT SAFE: see the failed lines"
    lines.append(f"{len(result.findings)} tries in {result.seconds:.1f} s: {state}")
    return lines + (advice() if result.wrong or how.cold else []), not result.wrong


def machine() -> Iterator[str]:
    """What the kernel and the tools offer."""
    yield f"System: {platform.system()} {platform.release()}, {platform.machine()}"
    if platform.system() != "Linux":
        return
    from autograde.sandbox.inside import kernel  # of Linux's C library

    yield f"Landlock: version {kernel.landlock_version()} (0 is none)"
    bwrap = mounts.find_bubblewrap()
    if bwrap:
        yield subprocess.run([bwrap, "--version"], capture_output=True, text=True).stdout.strip()
    else:
        yield f"bubblewrap: {mounts.NO_BUBBLEWRAP}"
    yield f"Grading account: {'root, which becomes nobody' if mounts.is_root() else 'ordinary'}"


def advice() -> list[str]:
    """What would make the isolation stronger here."""
    if platform.system() != "Linux":
        return [
            "Isolation needs Linux. Grade in a Linux virtual machine, or only submissions that "
            "you trust, with --unsafe-no-isolation."
        ]
    lines = [text for name, bad, text in _SETTINGS if _setting(name) == bad]
    if not mounts.find_bubblewrap():
        lines.append("Install bubblewrap (apt install bubblewrap).")
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
