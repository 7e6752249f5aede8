"""Which isolation this machine allows, decided once a process, and starting a worker in it.

With `bubblewrap` or `namespaces`, a fork server runs in the outer sandbox that this command makes,
and each of its copies, one a submission, enters an inner sandbox of its own. In a cold sandbox the
worker is a new program in an outer sandbox of its own, with those steps of the inner one that need
no namespace. `$SPECDEC_ISOLATION` names one way, or `none`; unset, the first that works is taken.
Who marks their own notebook calls `trust_own_code`, on any system.
"""

import os
import socket
import sys
import tempfile
from dataclasses import dataclass
from functools import cache

from autograde.sandbox import mounts, portable, workers
from autograde.sandbox.workers import Alone, Command, Forked, Limits, SandboxError, Worker

VARIABLE = "SPECDEC_ISOLATION"
NONE, OWN = "none", "own"
IN_ORDER = ("bubblewrap", "namespaces", "bubblewrap-cold")  # the strongest first
COMMANDS: dict[str, Command] = {
    "bubblewrap": mounts.bubblewrap,
    "namespaces": mounts.namespaces,
}
TRIAL = Limits(memory_mib=1024, cpu_seconds=20)  # of workers that run no submission


class NoIsolation(RuntimeError):
    """This machine offers no isolation, and nobody said that there need be none."""


@dataclass(frozen=True)
class Isolation:
    """One way to isolate, by its name."""

    name: str

    @property
    def cold(self) -> bool:
        return self.name.endswith("-cold")

    def start(self, limits: Limits) -> Worker:
        """A new worker. Raises SandboxError."""
        if self.name == OWN:
            return portable.start(limits)
        link, far_end = socket.socketpair()
        try:
            with far_end:
                process = self._process(far_end, limits)
        except BaseException:
            link.close()
            raise
        return Worker(link, process)

    def _process(self, link: socket.socket, limits: Limits) -> "Forked | Alone":
        if self.name == NONE:
            return _without_isolation(limits, link)
        command = COMMANDS[self.name.removesuffix("-cold")]
        if self.cold:
            settings = workers.settings_of(limits) | {"control": link.fileno()}
            return Alone(command(settings), link)
        return workers.SERVERS.fork(command, limits, link)

    def describe(self) -> str:
        """What protects the grader, in a line."""
        if self.name == NONE:
            return "none: a student's code runs with the rights of this account"
        if self.name == OWN:
            return "none: your own code runs with your own rights"
        if self.cold:
            way = self.name.removesuffix("-cold")
            return f"{way}, a new sandbox for every submission (slower)"
        return f"{self.name} once, and an inner sandbox for every submission"


def ways() -> list[str]:
    """The isolations to try on this system, the strongest first."""
    if sys.platform != "linux":
        return []
    return [n for n in IN_ORDER if not n.startswith("bubblewrap") or mounts.find_bubblewrap()]


_trusts_own_code = False


def trust_own_code() -> None:
    """Isolate nothing in this process: who started it wrote the code that it will run.

    No variable does this: a class must not be graded so because one was left set.
    """
    global _trusts_own_code
    _trusts_own_code = True
    chosen.cache_clear()


@cache
def chosen() -> Isolation:
    """The isolation of this process: the one asked for, or the strongest that works.

    Raises NoIsolation if none works or bubblewrap is asked for and not there, ValueError for an
    unknown name.
    """
    if _trusts_own_code:
        return Isolation(OWN)
    asked = os.environ.get(VARIABLE, "")
    if asked and asked not in (*IN_ORDER, NONE):
        raise ValueError(f"{VARIABLE} is {asked!r}; it can be {', '.join((*IN_ORDER, NONE))}")
    if asked.startswith("bubblewrap") and not mounts.find_bubblewrap():
        raise NoIsolation(f"{VARIABLE} asks for {asked}: {mounts.NO_BUBBLEWRAP}")
    return Isolation(asked) if asked else strongest(ways())


def strongest(names: list[str]) -> Isolation:
    """The first of `names` in which a worker starts. Raises NoIsolation."""
    reasons = []
    for isolation in map(Isolation, names):
        try:
            isolation.start(TRIAL).end()
        except (SandboxError, OSError) as error:
            reasons.append(f"\n  {isolation.name}: {error}")
        else:
            return isolation
    raise NoIsolation(
        f"students' code cannot be isolated on this machine{''.join(reasons)}\n"
        "`autograde doctor` says what to do. --unsafe-no-isolation grades without."
    )


def _without_isolation(limits: Limits, link: socket.socket) -> "Alone":
    """A worker with limits and no sandbox, in a folder of its own."""
    folder = tempfile.mkdtemp(prefix="specdec-")
    settings = workers.settings_of(limits, isolated=False)
    settings |= {"control": link.fileno(), "home": folder}
    return Alone(mounts.program(settings, str(mounts.PROGRAM)), link, folder)
