"""What isolation this machine gives, proved by attacks; and what to do where it gives none.

`autograde doctor` prints it. `require` is called at the start of every grading, once a process.
"""

import contextlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from autograde.chapter import ROOT
from autograde.sandbox import canaries, jail, outer, workers
from autograde.sandbox.inside import kernel, wire
from autograde.sandbox.jail import NONE, TRIAL, VARIABLE, Isolation, NoIsolation
from autograde.sandbox.workers import FenceError

CELL_SECONDS, LOOP_SECONDS, END_SECONDS = 10.0, 0.1, 2.0
EXAMINED = "SPECDEC_ISOLATION_EXAMINED"  # set by us alone
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
    """One attack or honest cell: its layer, what was tried, and what went wrong, if anything."""

    layer: str
    tried: str
    wrong: str = ""

    def __str__(self) -> str:
        state = f"FAILED: {self.wrong}" if self.wrong else "ok"
        return f"  {self.layer:<11} {self.tried}: {state}"


@dataclass
class Verdict:
    """All findings on one isolation."""

    isolation: Isolation
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def wrong(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.wrong]


class Neighbour:
    """One worker of the examination, driven directly."""

    def __init__(self, how: Isolation) -> None:
        self.link, self.worker = how.start(TRIAL)
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def _wait_until_ready(self) -> None:
        answer = wire.receive(self.link, time.monotonic() + workers.START_SECONDS)
        if answer is None or answer.get("ready") is not True:
            raise FenceError(str((answer or {}).get("failed") or self.worker.last_words()))

    def run(self, code: str) -> object:
        """The value of `found` after a cell, or its error as a text."""
        report = self._ask({"do": "cell", "source": code})
        if report.get("error"):
            return f"{report['error']['name']}: {report['error']['text']}"
        answer = self._ask({"do": "value", "name": "found"})
        return wire.decode(answer["value"]) if "value" in answer else None

    def _ask(self, request: dict) -> dict:
        wire.send(self.link, request)
        try:
            answer = wire.receive(self.link, time.monotonic() + CELL_SECONDS)
        except (OSError, wire.ProtocolError) as error:
            answer = {"error": {"name": type(error).__name__, "text": str(error)}}
        return answer or {"error": {"name": "ProcessEnded", "text": "the worker ended"}}

    def outlives_its_end(self) -> bool:
        """Whether a loop that ignores every signal goes on after the worker was ended."""
        wire.send(self.link, {"do": "cell", "source": _LOOP})
        time.sleep(LOOP_SECONDS)
        self.worker.end()
        self.link.settimeout(END_SECONDS)
        try:
            return self.link.recv(1) != b""  # the last of its processes has closed the other end
        except TimeoutError:
            return True

    def close(self) -> None:
        """End it."""
        self.worker.end()
        self.link.close()


def examine(how: Isolation) -> Verdict:
    """Try every attack and both honest cells. Never raises for what the fences do wrong."""
    start = time.monotonic()
    verdict = Verdict(how)
    try:
        with _decoy() as place, contextlib.ExitStack() as stack:
            first = Neighbour(how)
            stack.callback(first.close)
            second = Neighbour(how)
            stack.callback(second.close)
            verdict.findings += _findings(how, first, second, place)
    except (FenceError, OSError, wire.ProtocolError) as error:
        verdict.findings.append(Finding("start", "a worker in its fences", str(error)))
    verdict.seconds = time.monotonic() - start
    return verdict


@contextlib.contextmanager
def _decoy() -> Iterator[str]:
    """A file of the grader's, where a worker would look."""
    with tempfile.NamedTemporaryFile(prefix="specdec-decoy-") as file:
        yield file.name


def _findings(how: Isolation, first: Neighbour, second: Neighbour, decoy: str) -> list[Finding]:
    first.run(canaries.PREPARE + canaries.PLANT)
    places = [decoy, *map(str, (ROOT / "autograde", ROOT / "solutions", Path.home() / ".bashrc"))]
    names = [*outer.environment(""), "PWD", "LC_CTYPE"]
    found = [
        Finding(canary.layer, canary.tries, str(second.run(canaries.PREPARE + canary.code) or ""))
        for canary in canaries.attacks(places, names, how.cold, TRIAL)
    ]
    for code, due, tried in (
        (canaries.HONEST_NUMBERS, canaries.HONEST_NUMBERS_GIVE, "numbers in a thread"),
        (canaries.HONEST_FILE, canaries.HONEST_FILE_GIVES, "a temporary file"),
    ):
        got = second.run(code)
        found.append(Finding("honest work", tried, "" if got == due else f"{got!r}"))
    lives = second.outlives_its_end()
    return [*found, Finding("end", "a loop that ignores signals", "goes on" if lives else "")]


@cache
def require() -> str:
    """The isolation of this process, in a line, after it was examined here or by the grader's
    first process, which hands its finding on to those that it starts.

    Raises NoIsolation where there is none, or one that an attack gets through.
    """
    how = jail.chosen()
    if how.name in (NONE, os.environ.get(EXAMINED)):
        return f"isolation: {how.describe()}"
    verdict = examine(how)
    if verdict.wrong:
        lines = "\n".join(str(finding) for finding in verdict.wrong)
        raise NoIsolation(f"the isolation ({how.describe()}) does not hold:\n{lines}")
    os.environ |= {VARIABLE: how.name, EXAMINED: how.name}
    return f"isolation: {how.describe()}; {len(verdict.findings)} tries in {verdict.seconds:.1f} s"


def report() -> tuple[list[str], bool]:
    """The doctor's lines, and whether students' code can be graded safely here."""
    lines = list(machine())
    try:
        how = jail.chosen()
    except (NoIsolation, ValueError) as error:
        return [*lines, str(error), *advice()], False
    lines.append(f"Isolation: {how.describe()}")
    if how.name == NONE:
        return [*lines, f"{VARIABLE} asks for none. Unset it to be protected."], False
    verdict = examine(how)
    lines += [str(finding) for finding in verdict.findings]
    state = "every attack was stopped" if not verdict.wrong else "NOT SAFE: see the failed lines"
    lines.append(f"{len(verdict.findings)} tries in {verdict.seconds:.1f} s: {state}")
    return lines + (advice() if verdict.wrong or how.cold else []), not verdict.wrong


def machine() -> Iterator[str]:
    """What the kernel and the tools offer."""
    yield f"System: {platform.system()} {platform.release()}, {platform.machine()}"
    if platform.system() != "Linux":
        return
    yield f"Landlock: version {kernel.landlock_version()} (0 is none)"
    bwrap = shutil.which("bwrap")
    asked = [bwrap, "--version"] if bwrap else ["echo", "bubblewrap: not installed"]
    yield subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    yield f"Grading account: {'root, which becomes nobody' if outer.is_root() else 'ordinary'}"


def advice() -> list[str]:
    """What would make the isolation stronger here."""
    if platform.system() != "Linux":
        return [
            "Isolation needs Linux. Grade in a Linux virtual machine, or only submissions that "
            "you trust, with --unsafe-no-isolation."
        ]
    lines = [text for name, bad, text in _SETTINGS if _setting(name) == bad]
    if not shutil.which("bwrap"):
        lines.append("Install bubblewrap (apt install bubblewrap).")
    return lines or [
        "Where namespaces are refused, as in many containers, grade on the host or allow them."
    ]


_APPARMOR = """\
This Ubuntu lets only programs with an AppArmor profile make user namespaces
(kernel.apparmor_restrict_unprivileged_userns = 1). Either give bubblewrap
a profile with the rule `userns,`, as these two lines in /etc/apparmor.d/bwrap,
  abi <abi/4.0>,
  profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }
and load it: apparmor_parser -r /etc/apparmor.d/bwrap
Or allow them for all programs:
  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
The profile bwrap-userns-restrict that Ubuntu brings does not do: it takes all rights
from what runs inside, so the inner fence cannot be put up. Where it is loaded, unload
it first: apparmor_parser -R /etc/apparmor.d/bwrap-userns-restrict
No test machine of ours has AppArmor: see what `autograde doctor` says afterwards."""
_SETTINGS = (
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        _APPARMOR,
    ),
    (
        "kernel/unprivileged_userns_clone",
        "0",
        "User namespaces are off: sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "user/max_user_namespaces",
        "0",
        "User namespaces are off: sysctl -w user.max_user_namespaces=10000",
    ),
)


def _setting(name: str, root: Path = Path("/proc/sys")) -> str | None:
    try:
        return (root / name).read_text().strip()
    except OSError:
        return None
