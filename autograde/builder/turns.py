"""Who runs when chapters are executed side by side: a cell that reads the clock runs alone."""

import asyncio

from nbformat.notebooknode import NotebookNode
from tqdm import tqdm

TIMED = "timed"  # the tag of a cell that times passes, copies or products


def is_timed(cell: NotebookNode) -> bool:
    """Whether what the cell shows depends on how busy the machine is."""
    return TIMED in cell.metadata.get("tags", [])


class Turns:
    """The cells that run now, one a chapter at most, with the bar that names and counts them.

    A timed cell waits until no other runs, and no other starts before it has ended or while it
    waits. Those that wait go in the order in which they came.
    """

    def __init__(self, bar: tqdm) -> None:
        self.bar, self.running = bar, {}
        self.door, self.left = asyncio.Lock(), asyncio.Condition()

    async def enter(self, chapter: str, cell: NotebookNode) -> None:
        """Wait for the chapter's turn to run `cell`."""
        async with self.door, self.left:  # whoever waits below keeps the door shut
            await self.left.wait_for(lambda: self._is_free_for(cell))
            self.running[chapter] = cell
            self._show()

    def _is_free_for(self, cell: NotebookNode) -> bool:
        return not any(is_timed(other) or is_timed(cell) for other in self.running.values())

    async def leave(self, chapter: str) -> None:
        """The chapter's cell has ended, if one ran, well or not."""
        async with self.left:
            if self.running.pop(chapter, None) is not None:
                self.bar.update()
                self._show()
            self.left.notify_all()

    def _show(self) -> None:
        alone = "".join(" measures, alone" for cell in self.running.values() if is_timed(cell))
        self.bar.set_postfix_str(", ".join(sorted(self.running)) + alone)
