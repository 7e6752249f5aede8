"""Which fences this machine allows, decided once a process, and how a worker is started in them.

`$SPECDEC_ISOLATION` names one: bubblewrap, namespaces or container, with `-cold` for one sandbox
a submission, or `none`. Unset, the strongest that works is taken.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache

from autograde.sandbox import outer, workers
from autograde.sandbox.containers import contained
from autograde.sandbox.inside import wire
from autograde.sandbox.workers import FenceError, Forked, Kind

VARIABLE = "SPECDEC_ISOLATION"
NONE = "none"
_COMMANDS = {"bubblewrap": outer.bubblewrap, "namespaces": outer.namespaces}
IN_ORDER = ("bubblewrap", "namespaces", "bubblewrap-cold", "namespaces-cold", "container-cold")
TRIAL = Kind(memory_mib=1024, cpu_seconds=20)  # of the workers that only prove something


class NoIsolation(RuntimeError):
    """This machine offers no isolation, and nobody said that there need be none."""


@dataclass(frozen=True)
class Isolation:
    """One way to isolate. `layers` is complete but in tests, which leave one out."""

    name: str
    layers: tuple[str, ...] = workers.LAYERS

    @property
    def cold(self) -> bool:
        return self.name.endswith("-cold")

    @property
    def outer(self) -> str:
        return self.name.removesuffix("-cold")

    def start(self, kind: Kind) -> "tuple[socket.socket, workers.Worker]":
        """The link to a new worker, and the worker. Raises FenceError."""
        if self.outer == "container":
            return contained(kind)
        link, far_end = socket.socketpair()
        with far_end:
            try:
                return link, self._at(far_end, kind)
            except BaseException:
                link.close()
                raise

    def _at(self, far_end: socket.socket, kind: Kind) -> "workers.Worker":
        if self.name == NONE:
            return workers.unfenced(kind, far_end)
        command = _COMMANDS[self.outer]
        if self.cold:
            return workers.cold(command, kind, far_end, self.layers)
        return _fork(command, kind, far_end, self.layers)

    def describe(self) -> str:
        """What is had, in a line."""
        if self.name == NONE:
            return "none: a student's code runs with the rights of this account"
        if self.cold:
            return f"{self.outer}, a new sandbox for every submission (slower)"
        return f"{self.outer} once, and an inner fence for every submission"


def _fork(command: workers.Command, kind: Kind, link: socket.socket, layers: tuple) -> Forked:
    """A copy of the server; where the server has gone, of a new one."""
    server = workers.SERVERS.get(command, kind, layers)
    try:
        return server.start(link)
    except FenceError:
        alive = server.popen.poll() is None
        workers.SERVERS.drop(server)
        if alive:
            raise
    return workers.SERVERS.get(command, kind, layers).start(link)


def ways() -> list[str]:
    """The isolations to try on this system, the strongest first."""
    if sys.platform != "linux":
        return []
    return [n for n in IN_ORDER if not n.startswith("bubblewrap") or shutil.which("bwrap")]


def why_not(isolation: Isolation) -> str | None:
    """Why a worker cannot be had in this way, or None: found by starting one."""
    try:
        link, worker = isolation.start(TRIAL)
        try:
            with link:
                answer = wire.receive(link, time.monotonic() + workers.START_SECONDS)
        finally:
            worker.end()
    except (OSError, FenceError, wire.ProtocolError, subprocess.SubprocessError) as error:
        return str(error)
    if answer is None:
        return worker.last_words()
    return None if answer.get("ready") is True else str(answer.get("failed"))


@cache
def chosen() -> Isolation:
    """The isolation of this process: the one asked for, or the strongest that works.

    Raises NoIsolation where none works, ValueError for an unknown name.
    """
    asked = os.environ.get(VARIABLE, "")
    if asked == NONE:
        return Isolation(NONE, ("limits",))
    if asked and asked not in IN_ORDER:
        raise ValueError(f"{VARIABLE} is {asked!r}; it can be {', '.join((*IN_ORDER, NONE))}")
    return Isolation(asked) if asked else strongest(ways())


def strongest(names: list[str]) -> Isolation:
    """The first of `names` in which a worker can be had. Raises NoIsolation."""
    reasons = []
    for name in names:
        isolation = Isolation(name)
        if (reason := why_not(isolation)) is None:
            return isolation
        reasons.append(f"{name}: {reason}")
    raise NoIsolation(
        "students' code cannot be isolated on this machine"
        + "".join(f"\n  {reason}" for reason in reasons)
        + "\n`autograde doctor` says what to do. --unsafe-no-isolation grades without."
    )
