"""The note under a check that failed: four lines for a person or an assistant, filled in."""

from collections.abc import Sequence
from html import escape
from typing import Any

from specdec_lib.notebook import shell

MOST_AGREED = 3  # examples that the note lists
COLUMNS = 88  # characters of a line of the note, about
OPEN = "A note to take with you, to a person or an assistant"
HOW = "Copy it, and put in what you know beside. Often the third line holds the answer."


class Note:
    """What a check knows: the exercise, what differed, what agreed, and where its hint leads."""

    def __init__(self, exercise: str, seen: str, hint: str, agreed: Sequence[str]) -> None:
        self.exercise, self.seen, self.hint, self.agreed = exercise, seen, hint, list(agreed)

    @property
    def text(self) -> str:
        """The four lines."""
        return "\n".join(
            (
                f"About: the exercise {self.exercise}. {self.seen}",
                f"I have verified: {self._verified()}",
                "I only assume: that everything else in my function is right; the check stopped "
                "at this example.",
                f"Next I will: {self._next()}",
            )
        )

    def _verified(self) -> str:
        if not self.agreed:
            return "nothing yet. It is the first example of the check."
        more = len(self.agreed) - MOST_AGREED
        shown = "; ".join(" ".join(call.split()) for call in self.agreed[:MOST_AGREED])
        return f"{shown}{f'; and {more} more' if more > 0 else ''}. These agree."

    def _next(self) -> str:
        way = f'follow the hint, "{self.hint}", and ' if self.hint else ""
        return f"{way}run this call in a cell of my own, and look at each step of it."

    def __repr__(self) -> str:
        return f"{OPEN}:\n{self.text}"

    def _repr_html_(self) -> str:
        rows = sum(1 + len(line) // COLUMNS for line in self.text.splitlines()) + 1
        box = (
            f'<textarea rows="{rows}" style="width: 100%" aria-label="{OPEN}">'
            f"{escape(self.text)}</textarea>"
        )
        return f"<details><summary>{OPEN}</summary>{box}<p>{HOW}</p></details>"


def show_below(note: Note) -> None:
    """Show the note below the error of the cell that runs; nothing where no notebook runs."""
    if not (running := shell()):
        return
    import IPython

    def show(*_: Any) -> None:
        running.events.unregister("post_run_cell", show)
        IPython.display.display(note)

    running.events.register("post_run_cell", show)
