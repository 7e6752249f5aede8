"""The isolation of this process, decided once, and starting a worker in it.

A worker is a new program in a sandbox of bubblewrap, one for each submission. `$SPECDEC_ISOLATION`
can be `none`: then there is no sandbox. Who marks their own notebook calls `trust_own_code`, on any
system.
"""

import os
from dataclasses import dataclass
from functools import cache

from autograde.sandbox import bwrap, workers
from autograde.sandbox.workers import Limits, Worker

VARIABLE = "SPECDEC_ISOLATION"
BUBBLEWRAP, NONE, OWN = "bubblewrap", "none", "own"
TRIAL = Limits(memory_mib=1024, cpu_seconds=20)  # of workers that run no submission
_DESCRIBED = {
    BUBBLEWRAP: "bubblewrap, a sandbox for every submission",
    NONE: "none: a student's code runs with the rights of this account",
    OWN: "none: your own code runs with your own rights",
}


class NoIsolation(RuntimeError):
    """This machine offers no isolation, and nobody said that there need be none."""


@dataclass(frozen=True)
class Isolation:
    """One way to isolate, by its name."""

    name: str

    def start(self, limits: Limits) -> Worker:
        """A new worker. Raises SandboxError."""
        return workers.start(limits, isolated=self.name == BUBBLEWRAP)

    def describe(self) -> str:
        """What protects the grader, in a line."""
        return _DESCRIBED[self.name]


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
    """The isolation of this process.

    Raises NoIsolation if bubblewrap is not installed, ValueError for an unknown name.
    """
    if _trusts_own_code:
        return Isolation(OWN)
    asked = os.environ.get(VARIABLE) or BUBBLEWRAP
    if asked not in (BUBBLEWRAP, NONE):
        raise ValueError(f"{VARIABLE} is {asked!r}; it can be {BUBBLEWRAP} or {NONE}")
    if asked == BUBBLEWRAP and not bwrap.find_bubblewrap():
        raise NoIsolation(
            f"students' code cannot be isolated on this machine: {bwrap.NO_BUBBLEWRAP}\n"
            "`autograde doctor` says what to do. --unsafe-no-isolation grades without."
        )
    return Isolation(asked)
