"""A student's copies of the chapters and, in `work/marks/`, a page and a file of data for each.

No update of the course touches them, and no notebook is ever written to.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograde import cache
from autograde.chapter import notebook_path
from autograde.files import write_if_changed, write_json
from autograde.report.feedback import points
from autograde.result import Result
from autograde.sandbox.isolation import NONE
from autograde.submission import Refused, is_answer, parse, rebuild, release_of

FOLDER = "marks"
NOT_BEGUN, UNMARKED, CHANGED = "not begun", "not marked yet", "changed since it was marked"


@dataclass(frozen=True)
class Copy:
    """A chapter's notebook in the folder `work`, and what is known of its marks."""

    work: Path
    chapter: str

    @property
    def path(self) -> Path:
        return notebook_path(self.work, self.chapter)

    @property
    def page(self) -> Path:
        return self.work / FOLDER / f"{self.chapter}.html"

    @property
    def data(self) -> Path:
        return self.page.with_suffix(".json")

    def read(self) -> NotebookNode:
        """The release with the student's answers in it. Raises OSError and Refused."""
        return rebuild(parse(self.path.read_bytes()), release_of(self.chapter))

    def store(self, notebook: NotebookNode, result: Result, page: str) -> None:
        """Keep a page, the points, and what they depend on."""
        key = cache.key(notebook, self.chapter, NONE)
        write_if_changed(self.page, page.encode())
        write_json(self.data, {"key": key, "score": result.score, "max_score": result.max_score})

    def stored(self) -> dict[str, Any]:
        """What was kept last; empty if nothing was."""
        return json.loads(self.data.read_text()) if self.data.is_file() else {}

    def state(self) -> str:
        """What is to be known beside the marks; "" if they are those of what is there."""
        try:
            notebook = self.read()
        except FileNotFoundError:
            return NOT_BEGUN
        except Refused as error:
            return f"cannot be read: {error}"
        answers = [cell for cell in notebook.cells if is_answer(cell)]
        empty = [cell for cell in answers if is_stub(cell, self.chapter)]
        kept = self.stored()
        if not kept:
            return NOT_BEGUN if empty == answers else UNMARKED
        if kept["key"] != cache.key(notebook, self.chapter, NONE):
            return CHANGED
        written = sum(cell.cell_type == "markdown" for cell in empty)
        return f"written answers still empty: {written}" if written else ""


def is_stub(cell: NotebookNode, chapter: str) -> bool:
    """Whether nothing was written into an answer."""
    released = {each.id: each.source for each in release_of(chapter).cells}
    return cell.source.strip() == released[cell.id].strip()


def table(copies: Iterable[Copy]) -> list[str]:
    """A line for each chapter: its points, and its state."""
    lines = []
    for each in copies:
        kept = each.stored()
        score = f"{points(kept['score'])} of {points(kept['max_score'])}" if kept else ""
        lines.append(f"{each.chapter:24} {score:12} {each.state()}".rstrip())
    return lines
