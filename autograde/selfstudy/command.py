"""`specdec mark`: mark the notebooks that have changed, print their points, and show a page.

The pages are written to `work/marks/`. No notebook is ever written to.
"""

import hashlib
import sys
import webbrowser
from pathlib import Path

from nbformat import NotebookNode

from autograde.course import UsageError, chapter_names, notebook_path
from autograde.grading.cache import grader_fingerprint
from autograde.intake.bounds import TooCostly
from autograde.intake.files import digest_of, write_if_changed
from autograde.intake.submission import Unreadable, is_answer, parse, rebuild, release_of
from autograde.report.feedback import points
from autograde.sandbox.workers import SandboxError
from autograde.selfstudy.mark import is_stub, mark_notebook

MARKS_FOLDER = "marks"


def mark_chapters(work: Path, chapters: list[str], show_page: bool) -> int:
    """Mark `chapters`, or all that have changed if there are none, and then show the first page.

    Returns 2 if one of them could not be marked, else 0. Raises UsageError for an unknown chapter.
    """
    names = [chapter_of(name) for name in chapters]
    if not chapters:
        names = [name for name in chapter_names() if is_changed(work, name)]
    if not names:
        print("No notebook has changed since it was marked.")
    successes = [_mark_chapter(work, name) for name in names]
    if show_page and any(successes):
        first = names[successes.index(True)]
        webbrowser.open(page_of(work, first).as_uri())
    return 0 if all(successes) else 2


def chapter_of(name: str) -> str:
    """The chapter of a name, of its number, or of a path to its notebook. Raises UsageError."""
    stem = Path(name).stem
    for chapter in chapter_names():
        if stem in (chapter, chapter[:2], str(int(chapter[:2]))):
            return chapter
    raise UsageError(f"there is no chapter {name}. There are: {', '.join(chapter_names())}")


def page_of(work: Path, chapter: str) -> Path:
    """The feedback page of the student's copy of a chapter."""
    return work / MARKS_FOLDER / f"{chapter}.html"


def is_changed(work: Path, chapter: str) -> bool:
    """Whether the notebook has answers, and no page of this notebook and these tests exists."""
    path, page = notebook_path(work, chapter), page_of(work, chapter)
    if not path.is_file():
        return False
    saved = path.read_bytes()
    if page.is_file() and page.read_bytes().endswith(_stamp(saved, chapter)):
        return False
    try:
        cells = _rebuilt(saved, chapter).cells
    except Unreadable:  # the reason is printed when it is marked
        return True
    return not all(is_stub(cell, chapter) for cell in cells if is_answer(cell))


def _stamp(saved: bytes, chapter: str) -> bytes:
    """The end of a notebook's page: a digest of the notebook and of the grader.

    Times would not do: a notebook may be saved while it is marked, and tests may change.
    """
    digest = digest_of([], hashlib.sha256(saved).hexdigest(), grader_fingerprint(chapter))
    return f"<!-- marked: {digest} -->\n".encode()


def _rebuilt(saved: bytes, chapter: str) -> NotebookNode:
    """The release with the answers of a saved notebook in it. Raises Unreadable."""
    return rebuild(parse(saved), release_of(chapter))


def _mark_chapter(work: Path, chapter: str) -> bool:
    """Mark one chapter, and print a line. Returns whether it could be marked."""
    print(f"{chapter}: marking ...", file=sys.stderr, flush=True)
    path, page = notebook_path(work, chapter), page_of(work, chapter)
    if not path.is_file():
        print(f"specdec mark: there is no {path}: `specdec start` copies it", file=sys.stderr)
        return False
    try:
        saved = path.read_bytes()
        result, html = mark_notebook(_rebuilt(saved, chapter), chapter)
    except (OSError, Unreadable, TooCostly, SandboxError) as error:
        print(f"specdec mark: {path}: {error}", file=sys.stderr, flush=True)
        return False
    write_if_changed(page, html.encode("utf-8") + b"\n" + _stamp(saved, chapter))
    print(f"{chapter}: {points(result.score)} of {points(result.max_score)} points: {page}")
    return True
