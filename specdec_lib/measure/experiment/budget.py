"""How many seconds the experiment of chapter 08 may take, and what it leaves out to keep to them.

The parts share the seconds: what one does not use, those behind it have. A part does its work piece
by piece, the most important first. The first piece is always done. A further one is done if it fits
into what is left, judged by how long the last one took. So a slow machine, or one that other
programs keep busy, measures less, and not longer. What was left out is said.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from specdec_lib.measure.core.progress import Progress

Item = TypeVar("Item")
Clock = Callable[[], float]
Say = Callable[[str], None]

LOOK, IDENTITY, ACCEPTANCE = "the machine", "greedy texts", "acceptance rates"
RUNS, PUBLISHED = "end-to-end runs", "published pairs"
ENGINEERING, TRACES, BATCHES = "three versions", "token by token", "batches"
# Seconds of the parts, in their order. A quiet processor of two cores with AVX2 needs fewer.
ON_CPU = {
    LOOK: 30, IDENTITY: 12, ACCEPTANCE: 15, RUNS: 54, ENGINEERING: 20, TRACES: 8, BATCHES: 20,
}  # fmt: skip
# On a GPU every row is run end to end, and the published pairs too: eight minutes in all, with ten
# seconds for the cells that measure nothing. What is fetched is fetched before.
ON_GPU = ON_CPU | {LOOK: 60, RUNS: 140, PUBLISHED: 165}
MORE = "LONGER = 2 in the cell that looks at the machine takes twice as long and leaves out less."


class Part:
    """A part under way, with its seconds."""

    def __init__(self, name: str, seconds: float, clock: Clock, progress: Progress) -> None:
        self.name, self.seconds = name, seconds
        self.left_out: list[str] = []
        self._clock, self._start, self._progress = clock, clock(), progress

    @property
    def used(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._start

    @property
    def left(self) -> float:
        """Seconds that it still has; below 0 where it took too long."""
        return self.seconds - self.used

    def note(self, doing: str) -> None:
        """Show what is being done and since when, if this takes long."""
        self._progress.keep(
            lambda: f"{self.name}: {doing} ({self.used:.0f} s of {self.seconds:.0f} s at most)"
        )

    def each(
        self, items: Sequence[Item], what: str, grows: float = 1, first: float = 1
    ) -> Iterator[Item]:
        """The `items`, which are called `what`: the first one, and those that still fit.

        One takes at most `grows` times as long as the one before it. The first takes `first` times
        as long as it would take later, as with a round that warms up.
        """
        last = 0.0
        for done, item in enumerate(items):
            if done and grows * last > self.left:
                self.leave_out(f"{len(items) - done} of {len(items)} {what}")
                return
            self.note(f"{what}, {done + 1} of {len(items)}")
            start = self._clock()
            yield item
            last = (self._clock() - start) / (1 if done else first)

    def fits(self, seconds: float, what: str) -> bool:
        """Whether `what`, which takes about `seconds`, still fits; if it does not, that is said."""
        if seconds > self.left:
            self.leave_out(what)
            return False
        return True

    def leave_out(self, what: str) -> None:
        """Note that `what` is not done."""
        self.left_out.append(what)

    def share(self, parts: int) -> "Part":
        """A part of this one, with an equal share of what is left; `parts` are still to come."""
        part = Part(self.name, max(self.left, 0.0) / parts, self._clock, self._progress)
        part.left_out = self.left_out
        return part


class Budget:
    """The seconds of all parts, `longer` times those of `parts`, and those that were spent.

    A part that is run again has what it had before.
    """

    def __init__(
        self,
        parts: Mapping[str, float] = ON_CPU,
        longer: float = 1,
        clock: Clock = time.perf_counter,
        say: Say = print,
    ) -> None:
        self.parts = {name: seconds * longer for name, seconds in parts.items()}
        self.spent: dict[str, float] = {}
        self._clock, self._say = clock, say

    @property
    def seconds(self) -> float:
        """The seconds of all parts."""
        return sum(self.parts.values())

    def seconds_for(self, name: str) -> float:
        """What the part may take: its share of what those that were run have left."""
        others = {part: taken for part, taken in self.spent.items() if part != name}
        waiting = sum(taken for part, taken in self.parts.items() if part not in others)
        left = max(self.seconds - sum(others.values()), 0.0)
        return left * self.parts[name] / waiting

    @contextmanager
    def part(self, name: str) -> Iterator[Part]:
        """The part `name` while it runs; afterwards what it left out is said."""
        progress = Progress(clock=self._clock)
        part = Part(name, self.seconds_for(name), self._clock, progress)
        try:
            with progress.beating():
                yield part
        finally:
            self.spent[name] = part.used
        if part.left_out:
            self._say(
                f"Left out to keep to {part.seconds:.0f} s: {', '.join(part.left_out)}. {MORE}"
            )
