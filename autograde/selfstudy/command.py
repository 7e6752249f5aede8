"""What `specdec mark` does: mark what was changed, say how it went, and show a page."""

import sys
import webbrowser
from pathlib import Path

from autograde.chapter import chapter_names
from autograde.report.feedback import points
from autograde.selfstudy.copies import CHANGED, UNMARKED, Copy, table
from autograde.selfstudy.mark import mark
from autograde.submission import Refused


def run(work: Path, asked: list[str], opens: bool) -> int:
    """Mark the chapters `asked` for, or all that were changed, and then show the first page.

    Returns 2 if one of them could not be marked, else 0. Raises ValueError for an unknown chapter.
    """
    names = [chapter_of(name) for name in asked]
    copies = {name: Copy(work, name) for name in chapter_names()}
    changed = [name for name, each in copies.items() if each.state() in (UNMARKED, CHANGED)]
    done = {name: _marked(copies[name]) for name in names or changed}
    print("\n".join(["", *table(copies.values())]))
    pages = [copies[name].page for name, is_marked in done.items() if is_marked]
    if opens and pages:
        webbrowser.open(pages[0].as_uri())
    return 0 if all(done.values()) else 2


def chapter_of(name: str) -> str:
    """The chapter of a name, of its number, or of a path to its notebook. Raises ValueError."""
    names, wanted = chapter_names(), Path(name).stem
    found = [each for each in names if wanted in (each, each[:2], str(int(each[:2])))]
    if not found:
        raise ValueError(f"there is no chapter {name}. There are: {', '.join(names)}")
    return found[0]


def _marked(copy: Copy) -> bool:
    """Mark one chapter, and say so in a line. Whether it could be marked."""
    print(f"{copy.chapter}: marking ...", file=sys.stderr, flush=True)
    try:
        notebook = copy.read()
    except (OSError, Refused) as error:
        print(f"specdec: {copy.path}: {error}", file=sys.stderr, flush=True)
        return False
    result, page = mark(notebook, copy.chapter)
    copy.store(notebook, result, page)
    score = f"{points(result.score)} of {points(result.max_score)} points"
    print(f"{copy.chapter}: {score}: {copy.page}")
    return True
