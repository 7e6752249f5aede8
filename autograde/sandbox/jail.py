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


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds are wall time, but for `cpu_seconds`.

    `own_work` names the library's functions that raise there, since they answer an exercise.
    `preload` names modules, each with names from it, that are loaded before the student's code
    comes, for speed alone.
    """

    memory_mib: int = 2048
    cpu_seconds: int = 60
    start_seconds: float = 30.0
    cell_seconds: float = 10.0
    extra_cell_seconds: float = 2.0
    call_seconds: float = 2.0
    own_work: tuple[str, ...] = ()
    preload: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def kind(self) -> Kind:
        """What the kernel holds and what is there from the start."""
        return Kind(self.memory_mib, self.cpu_seconds, self.own_work, self.preload)


class Process:
    """A running worker: the link to it, and the way to end it with all it has started.

    Raises NoIsolation where this machine has no fence, FenceError where one could not be put up.
    """

    def __init__(self, limits: Limits) -> None:
        self.link, self.worker = chosen().start(limits.kind)

    def wait_until_ready(self, seconds: float) -> None:
        """Wait for the worker's first word. Raises RuntimeError where it does not come."""
        try:
            answer = wire.receive(self.link, time.monotonic() + seconds)
        except (OSError, wire.ProtocolError) as error:
            answer = {"failed": str(error)}
        if answer is None or answer.get("ready") is not True:
            self.end()
            reason = answer.get("failed") if answer else self.worker.last_words()
            raise RuntimeError(f"the worker did not start: {reason}")

    def exchange(self, request: dict | None, deadline: float) -> dict | None:
        """Send a request, if there is one, and read an answer; None where the worker has gone."""
        if request is not None:
            self.link.settimeout(max(1e-3, deadline - time.monotonic()))
            wire.send(self.link, request)
        return wire.receive(self.link, deadline)

    def end(self) -> None:
        """Kill the worker and all that it has started."""
        self.worker.end()
        self.link.close()
