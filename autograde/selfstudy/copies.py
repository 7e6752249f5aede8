"""A student's copies of the chapters and, in `work/marks/`, a page and a file of data for each.

No update of the course touches them, and no notebook is ever written to.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from nbformat import NotebookNode

from autograde import cache
from autograde.chapter import notebook_path
from autograde.files import write_if_changed
from autograde.report.feedback import is_right, points
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
        """The feedback page; beside it lies the result, as data."""
        return self.work / FOLDER / f"{self.chapter}.html"

    def read(self) -> NotebookNode:
        """The release with the student's answers in it. Raises OSError and Refused."""
        return rebuild(parse(self.path.read_bytes()), release_of(self.chapter))

    def store(self, notebook: NotebookNode, result: Result, page: str) -> None:
        """Keep a result and its page, and what the result depends on."""
        data = {"key": cache.key(notebook, self.chapter, NONE), "result": asdict(result)}
        write_if_changed(self.page, page.encode())
        write_if_changed(self.page.with_suffix(".json"), json.dumps(data).encode())

    def stored(self) -> tuple[str, Result | None]:
        """The key and the result that were kept last; no result if there is none to be read."""
        try:
            data = json.loads(self.page.with_suffix(".json").read_text(encoding="utf-8"))
            return str(data["key"]), Result.from_dict(data["result"])
        except (OSError, ValueError, KeyError, TypeError):
            return "", None

    def state(self) -> str:
        """What is to be known beside the marks; "" if they are those of what is there."""
        key, result = self.stored()
        try:
            notebook = self.read()
        except FileNotFoundError:
            return NOT_BEGUN
        except (OSError, Refused) as error:
            return f"cannot be read: {error}"
        left = [cell for cell in notebook.cells if is_answer(cell) and _is_stub(cell, self.chapter)]
        if result is None:
            return NOT_BEGUN if len(left) == sum(map(is_answer, notebook.cells)) else UNMARKED
        if key != cache.key(notebook, self.chapter, NONE):
            return CHANGED
        written = sum(cell.cell_type == "markdown" for cell in left)
        return f"written answers still empty: {written}" if written else ""


def _is_stub(cell: NotebookNode, chapter: str) -> bool:
    released = {each.id: each.source for each in release_of(chapter).cells}
    return cell.source.strip() == released[cell.id].strip()


def table(copies: Iterable[Copy]) -> list[str]:
    """A line for each chapter: its points, its state, and the first exercise that is not right."""
    lines = []
    for each in copies:
        result = each.stored()[1]
        wrong = [name for name, e in result.exercises.items() if not is_right(e)] if result else []
        told = [each.state(), *(f"next: {name}" for name in wrong[:1])]
        score = f"{points(result.score)} of {points(result.max_score)}" if result else ""
        lines.append(f"{each.chapter:24} {score:12} {'. '.join(filter(None, told))}".rstrip())
    return lines
