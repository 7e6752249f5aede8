"""The time that a race may take, and what is said where it is not enough."""

import time
from collections.abc import Callable


class TooSlow(Exception):
    """A race does not fit into its time, or its target into the memory; the message says so."""


class Limits:
    """`seconds` from now on, by `clock`."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds, self.clock = seconds, clock
        self.begun = clock()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.begun
