"""A student's copies of the chapters and, in `work/marks/`, a page and a file of data for each.

No update of the course touches them, and no notebook is ever written to.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from nbformat import NotebookNode

from autograde import cache
from autograde.chapter import notebook_path
from autograde.files import write_if_changed
from autograde.result import Result
from autograde.sandbox.isolation import OWN
from autograde.submission import is_answer, parse, rebuild, release_of

FOLDER = "marks"
STUB = "YOUR ANSWER HERE"  # what stands in the cell of a written answer
UNWRITTEN = ': not written yet")'  # how the last line of every function's stub ends


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
        """The feedback page."""
        return self.work / FOLDER / f"{self.chapter}.html"

    @property
    def data(self) -> Path:
        """The result, as data."""
        return self.work / FOLDER / f"{self.chapter}.json"

    def read(self) -> NotebookNode:
        """The release with the student's answers in it. Raises OSError and Refused."""
        return rebuild(parse(self.path.read_bytes()), release_of(self.chapter))

    def key(self, notebook: NotebookNode) -> str:
        """What the marks of `read`'s notebook depend on: the answers and the grader."""
        return cache.key(notebook, self.chapter, OWN)

    def store(self, notebook: NotebookNode, result: Result, page: str) -> None:
        """Keep a result and its page."""
        data = {"key": self.key(notebook), "result": asdict(result)}
        write_if_changed(self.page, page.encode())
        write_if_changed(self.data, json.dumps(data).encode())

    def stored(self) -> tuple[str, Result | None]:
        """The key and the result that were kept last; no result if there is none to be read."""
        try:
            data = json.loads(self.data.read_text(encoding="utf-8"))
            return str(data["key"]), Result.from_dict(data["result"])
        except (OSError, ValueError, KeyError, TypeError):
            return "", None


def is_begun(notebook: NotebookNode, chapter: str) -> bool:
    """Whether one answer at least is no longer a stub: this release's, or one of before."""
    stubs = {cell.id: cell.source.strip() for cell in release_of(chapter).cells if is_answer(cell)}
    written = {cell.id: cell.source.strip() for cell in notebook.cells if cell.id in stubs}
    return any(text != stubs[name] and UNWRITTEN not in text for name, text in written.items())


def empty_answers(notebook: NotebookNode) -> tuple[str, ...]:
    """The names of the written answers in which nothing was written."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "markdown" and is_answer(cell)]
    return tuple(cell.id for cell in cells if cell.source.strip() in ("", STUB))


def title_of(chapter: str) -> str:
    """The heading that its notebook begins with, up to a colon; its name if there is none."""
    lines = (line for cell in release_of(chapter).cells for line in cell.source.splitlines())
    heading = next((line[2:] for line in lines if line.startswith("# ")), chapter)
    return heading.partition(":")[0].strip()
