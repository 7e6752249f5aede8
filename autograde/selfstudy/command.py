"""What `specdec mark` does: mark what was changed, say how it went, and show a page."""

import sys
import time
import webbrowser
from pathlib import Path

from autograde.chapter import ROOT, chapter_names
from autograde.report.feedback import points
from autograde.selfstudy.copies import CHANGED, FOLDER, UNMARKED, Copy, table
from autograde.selfstudy.mark import mark
from autograde.submission import Refused

NOT_ISOLATED = (
    "Your own notebooks run here with your own rights, not in the sandbox that a class's grader\n"
    "has. Do not mark other people's notebooks in this way."
)


def run(work: Path, asked: list[str], opens: bool) -> int:
    """Mark the chapters `asked` for, or all that were changed, and then show the first page.

    Returns 2 if one of them could not be marked, else 0. Raises ValueError for an unknown
    chapter, and if the grader lies where there are none.
    """
    if not chapter_names():
        raise ValueError(
            f"the grader finds no chapters in {ROOT}. Install the course from its folder with "
            "`pip install -e .[course]`."
        )
    names = [chapter_of(name) for name in asked]
    if not (work / FOLDER).exists():
        print(NOT_ISOLATED)
    copies = {name: Copy(work, name) for name in chapter_names()}
    changed = [name for name, each in copies.items() if each.state() in (UNMARKED, CHANGED)]
    done = {name: _marked(copies[name]) for name in names or changed}
    print("\n".join(["", *table(copies.values())]))
    if not any(each.stored()[1] for each in copies.values()):
        print("There is nothing to mark yet: write an answer, save the notebook, and mark again.")
    pages = [copies[name].page for name, is_marked in done.items() if is_marked]
    if opens and pages and not webbrowser.open(pages[0].as_uri()):
        print(f"No browser could be opened here. Open this file in one: {pages[0]}")
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
    start = time.monotonic()
    try:
        notebook = copy.read()
    except FileNotFoundError:
        return _not_marked(f"there is no {copy.path}; `specdec start` copies the chapters")
    except (OSError, Refused) as error:
        return _not_marked(f"{copy.path}: {error}")
    print(f"{copy.chapter}: marking ...", file=sys.stderr, flush=True)
    result, page = mark(notebook, copy.chapter)
    copy.store(notebook, result, page)
    score = f"{points(result.score)} of {points(result.max_score)} points"
    print(f"{copy.chapter}: {score}, in {time.monotonic() - start:.0f} s: {copy.page}")
    return True


def _not_marked(why: str) -> bool:
    print(f"specdec: {why}", file=sys.stderr, flush=True)
    return False
