"""What `specdec mark` does: mark what was changed, say how it went, and show a page.

The pages stand in `work/marks/`. No notebook is ever written to.
"""

import sys
import webbrowser
from pathlib import Path

from nbformat import NotebookNode

from autograde.chapter import chapter_names, notebook_path
from autograde.report.feedback import points
from autograde.selfstudy.mark import is_stub, mark
from autograde.submission import Refused, is_answer, parse, rebuild, release_of

FOLDER = "marks"


def run(work: Path, asked: list[str], opens: bool) -> int:
    """Mark the chapters `asked` for, or all that were changed, and then show the first page.

    Returns 2 if one of them could not be marked, else 0. Raises ValueError for an unknown chapter.
    """
    changed = [name for name in chapter_names() if not asked and is_changed(work, name)]
    names = [chapter_of(name) for name in asked] or changed
    if not names:
        print("No notebook has changed since it was marked.")
    done = [_marked(work, name) for name in names]
    if opens and any(done):
        first = names[done.index(True)]
        webbrowser.open(page_of(work, first).as_uri())
    return 0 if all(done) else 2


def chapter_of(name: str) -> str:
    """The chapter of a name, of its number, or of a path to its notebook. Raises ValueError."""
    names, wanted = chapter_names(), Path(name).stem
    found = [each for each in names if wanted in (each, each[:2], str(int(each[:2])))]
    if not found:
        raise ValueError(f"there is no chapter {name}. There are: {', '.join(names)}")
    return found[0]


def page_of(work: Path, chapter: str) -> Path:
    """The page about the student's copy of a chapter."""
    return work / FOLDER / f"{chapter}.html"


def is_changed(work: Path, chapter: str) -> bool:
    """Whether there are answers that were saved after the page was made."""
    path, page = notebook_path(work, chapter), page_of(work, chapter)
    if not path.is_file():
        return False
    if page.is_file() and page.stat().st_mtime_ns >= path.stat().st_mtime_ns:
        return False
    try:
        cells = _answered(path, chapter).cells
    except Refused:  # marking it says why
        return True
    return not all(is_stub(cell, chapter) for cell in cells if is_answer(cell))


def _answered(path: Path, chapter: str) -> NotebookNode:
    """The release with the student's answers in it. Raises OSError and Refused."""
    return rebuild(parse(path.read_bytes()), release_of(chapter))


def _marked(work: Path, chapter: str) -> bool:
    """Mark one chapter, and say so in a line. Whether it could be marked."""
    print(f"{chapter}: marking ...", file=sys.stderr, flush=True)
    path, page = notebook_path(work, chapter), page_of(work, chapter)
    if not path.is_file():
        print(f"specdec mark: there is no {path}: `specdec start` copies it", file=sys.stderr)
        return False
    try:
        notebook = _answered(path, chapter)
    except (OSError, Refused) as error:
        print(f"specdec mark: {path}: {error}", file=sys.stderr, flush=True)
        return False
    result, html = mark(notebook, chapter)
    page.parent.mkdir(exist_ok=True)
    page.write_text(html, encoding="utf-8")
    print(f"{chapter}: {points(result.score)} of {points(result.max_score)} points: {page}")
    return True
