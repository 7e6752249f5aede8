"""What `specdec mark` does: mark what was changed, say how it went, and show a page.

The pages stand in `work/marks/`. No notebook is ever written to.
"""

import hashlib
import sys
import webbrowser
from pathlib import Path

from nbformat import NotebookNode

from autograde.course import UsageError, chapter_names, notebook_path
from autograde.grading.cache import grader_fingerprint
from autograde.intake.files import digest_of, write_if_changed
from autograde.intake.submission import InvalidSubmission, is_answer, parse, rebuild, release_of
from autograde.report.feedback import points
from autograde.selfstudy.mark import is_stub, mark

FOLDER = "marks"


def run(work: Path, asked: list[str], opens: bool) -> int:
    """Mark the chapters `asked` for, or all that were changed, and then show the first page.

    Returns 2 if one of them could not be marked, else 0. Raises UsageError for an unknown chapter.
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
    """The chapter of a name, of its number, or of a path to its notebook. Raises UsageError."""
    names, wanted = chapter_names(), Path(name).stem
    found = [each for each in names if wanted in (each, each[:2], str(int(each[:2])))]
    if not found:
        raise UsageError(f"there is no chapter {name}. There are: {', '.join(names)}")
    return found[0]


def page_of(work: Path, chapter: str) -> Path:
    """The page about the student's copy of a chapter."""
    return work / FOLDER / f"{chapter}.html"


def is_changed(work: Path, chapter: str) -> bool:
    """Whether there are answers, and no page about this very notebook by these very tests."""
    path, page = notebook_path(work, chapter), page_of(work, chapter)
    if not path.is_file():
        return False
    saved = path.read_bytes()
    if page.is_file() and page.read_bytes().endswith(_stamp(saved, chapter)):
        return False
    try:
        cells = _answered(saved, chapter).cells
    except InvalidSubmission:  # marking it says why
        return True
    return not all(is_stub(cell, chapter) for cell in cells if is_answer(cell))


def _stamp(saved: bytes, chapter: str) -> bytes:
    """How the page about a notebook ends: it tells the notebook and what marked it.

    Times would not: a notebook may be saved while it is marked, and tests may change.
    """
    digest = digest_of([], hashlib.sha256(saved).hexdigest(), grader_fingerprint(chapter))
    return f"<!-- marked: {digest} -->\n".encode()


def _answered(saved: bytes, chapter: str) -> NotebookNode:
    """The release with the answers of a saved notebook in it. Raises InvalidSubmission."""
    return rebuild(parse(saved), release_of(chapter))


def _marked(work: Path, chapter: str) -> bool:
    """Mark one chapter, and say so in a line. Whether it could be marked."""
    print(f"{chapter}: marking ...", file=sys.stderr, flush=True)
    path, page = notebook_path(work, chapter), page_of(work, chapter)
    if not path.is_file():
        print(f"specdec mark: there is no {path}: `specdec start` copies it", file=sys.stderr)
        return False
    try:
        saved = path.read_bytes()
        notebook = _answered(saved, chapter)
    except (OSError, InvalidSubmission) as error:
        print(f"specdec mark: {path}: {error}", file=sys.stderr, flush=True)
        return False
    result, html = mark(notebook, chapter)
    write_if_changed(page, html.encode("utf-8") + b"\n" + _stamp(saved, chapter))
    print(f"{chapter}: {points(result.score)} of {points(result.max_score)} points: {page}")
    return True
