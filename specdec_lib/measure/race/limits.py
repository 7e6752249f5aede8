"""The time that a race may take, and what is said where a race cannot go on."""

import time
from collections.abc import Callable


class TooSlow(Exception):
    """A race does not fit into its time, or its target into the memory; the message says so."""


class WrongFunction(Exception):
    """A reader's own function gives nothing that a race can go on with; the message says what."""


class Limits:
    """`seconds` from now on, by `clock`."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds, self.clock = seconds, clock
        self.begun = clock()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.begun
