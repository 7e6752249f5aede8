"""Starting the student's process. Every fence around it is put up from here, and nowhere else."""

import time
from dataclasses import dataclass

from autograde.sandbox import isolation
from autograde.sandbox.inside import wire
from autograde.sandbox.workers import Kind


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
        self.link, self.worker = isolation.chosen().start(limits.kind)

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
