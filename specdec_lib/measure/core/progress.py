"""What a long cell of a notebook is doing, in one line that changes and is gone at the end.

A progress bar would stay on an exported page as an error. On a terminal the bars of tqdm show it.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, RLock, Thread
from typing import Protocol, TypeVar

AFTER = 2.0  # seconds before the line appears: what is done sooner needs none
EVERY = 1.0  # seconds between two changes
BEAT = 2.0  # seconds between two looks at a step that says nothing by itself

Item = TypeVar("Item")


class Shown(Protocol):
    """A place on the page that can be changed."""

    def update(self, text: str) -> None:
        """Show `text` there."""


class Progress:
    """The line. `appear` makes its place on the page, or None where nothing can be changed.

    What takes more than some seconds for sure shows it at once, `after` 0 seconds.
    """

    def __init__(
        self,
        appear: Callable[[], Shown | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        after: float = AFTER,
    ) -> None:
        self._appear, self._clock = appear or output, clock
        self._due, self._place = clock() + after, None
        self._words: Callable[[], str] | None = None
        self._lock = RLock()  # `beating` looks from a thread of its own

    def say(self, text: str) -> None:
        """Show `text`, if it is time to change what is shown."""
        with self._lock:
            now = self._clock()
            if now < self._due:
                return
            self._due = now + EVERY
            if self._place is None:
                self._place = self._appear()
            if self._place:
                self._place.update(text)

    def keep(self, words: Callable[[], str]) -> None:
        """Show what `words` gives, now and, while this is `beating`, again."""
        self._words = words
        self.say(words())

    def again(self) -> None:
        """Show what the kept words give now, such as more seconds."""
        if self._words:
            self.say(self._words())

    @contextmanager
    def beating(self, seconds: float = BEAT) -> Iterator[None]:
        """Show the kept words every few `seconds`, however long one step takes.

        The line is gone at the end.
        """
        done, inside = Event(), copy_context()  # with it the line stands below this cell

        def beat() -> None:
            while not done.wait(seconds):
                inside.run(self.again)

        thread = Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self.end()

    def end(self) -> None:
        """Take the line away."""
        if self._place:
            self._place.update("")


def watched(items: Collection[Item], what: str, progress: Progress | None = None) -> Iterator[Item]:
    """The `items`, with a line that says how many of them are done once this takes long."""
    progress = progress or Progress()
    for done, item in enumerate(items):
        progress.say(f"{done} of {len(items)} {what}")
        yield item
    progress.end()


class Output:
    """An output of the cell that runs. Empty it is `NOTHING`, which exported pages leave out."""

    NOTHING = {"text/plain": "", "text/html": ""}

    def __init__(self) -> None:
        from IPython.display import display

        self._handle = display(self.NOTHING, raw=True, display_id=True)

    def update(self, text: str) -> None:
        """Show `text` there."""
        self._handle.update({"text/plain": text} if text else self.NOTHING, raw=True)


def output() -> Output | None:
    """An output of a notebook's cell; None where no kernel runs."""
    ipython = sys.modules.get("IPython")
    in_kernel = ipython and getattr(ipython.get_ipython(), "kernel", None)
    return Output() if in_kernel else None
