"""Where code runs: in a notebook's kernel, or elsewhere; and a word under a cell that takes long.

JupyterLab shows the star of a cell that runs beside its code only. A folded cell has no code to be
seen, so without a word below it a reader could not tell whether it runs.
"""

import sys
from collections.abc import Callable
from contextvars import copy_context
from threading import Lock, Timer
from typing import Any

LONG = 4.0  # seconds after which a cell is said to run
RUNNING = "This cell is running. When it is done, this line goes."


def shell() -> Any | None:
    """IPython's shell in a notebook's kernel, None elsewhere. Asking does not import IPython."""
    ipython = sys.modules.get("IPython")
    found = ipython.get_ipython() if ipython else None
    return None if getattr(found, "kernel", None) is None else found


class Output:
    """An output of the cell that runs. Empty it is `NOTHING`, which exported pages leave out."""

    NOTHING = {"text/plain": "", "text/html": ""}

    def __init__(self) -> None:
        from IPython.display import display

        self._handle = display(self.NOTHING, raw=True, display_id=True)

    def update(self, text: str) -> None:
        """Show `text` there."""
        self._handle.update({"text/plain": text} if text else self.NOTHING, raw=True)


class LongCells:
    """Says below a cell that it runs, once it has run for LONG seconds and nothing else says so."""

    def __init__(
        self, appear: Callable[[], Any] = Output, timer: Callable[..., Any] = Timer
    ) -> None:
        self._appear, self._timer = appear, timer
        self._lock, self._waiting, self._place = Lock(), None, None

    def begins(self, _: object = None) -> None:
        """A cell begins."""
        # With this cell's context, so that the line stands below this cell.
        self._waiting = self._timer(LONG, copy_context().run, [self._say])
        self._waiting.daemon = True
        self._waiting.start()

    def told(self, _: object = None) -> None:
        """The cell has ended, or something else tells what it does."""
        with self._lock:
            if self._waiting:
                self._waiting.cancel()
            self._waiting = None
            if self._place:
                self._place.update("")
            self._place = None

    def _say(self) -> None:
        with self._lock:
            if self._waiting:
                self._place = self._appear()
                self._place.update(RUNNING)


long_cells = LongCells()


def tell_long_cells() -> None:
    """From the next cell on, say below a cell that takes long that it runs. Twice is once."""
    found = shell()
    if found is None or long_cells.begins in found.events.callbacks["pre_run_cell"]:
        return
    found.events.register("pre_run_cell", long_cells.begins)
    found.events.register("post_run_cell", long_cells.told)
