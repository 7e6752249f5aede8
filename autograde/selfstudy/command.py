"""What `specdec mark` does: mark what was changed, say how it went, and show a page."""

import contextlib
import os
import sys
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

from autograde.chapter import ROOT, chapter_names
from autograde.report.feedback import points
from autograde.sandbox.workers import Limits
from autograde.selfstudy.copies import FOLDER, Copy
from autograde.selfstudy.mark import mark, stopped
from autograde.selfstudy.progress import CHANGED, UNMARKED, row_of, table, write_progress
from autograde.submission import Refused

NOT_ISOLATED = (
    "Your own notebooks run here with your own rights, not in the sandbox that a class's grader\n"
    "has. Do not mark other people's notebooks in this way."
)
LONG = 10.0  # seconds after which a line says what may take so long
STILL = (
    f"still running; a cell of your own is stopped after {Limits.extra_cell_seconds:g} s, one call "
    f"of a function after {Limits.call_seconds:g} s, and Ctrl+C stops everything"
)


def run(work: Path, asked: list[str], opens: bool) -> int:
    """Mark the chapters `asked` for, or all that were changed, and then show a page.

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
    rows = [row_of(Copy(work, name)) for name in chapter_names()]
    changed = [row.chapter for row in rows if row.state in (UNMARKED, CHANGED)]
    done = {name: _marked(Copy(work, name)) for name in names or changed}
    rows = [row_of(Copy(work, name)) for name in chapter_names()]
    overview = write_progress(work, rows)
    print("\n".join(["", *table(rows), "", f"all chapters: {_near(overview)}"]))
    if not any(row.result for row in rows):
        print("There is nothing to mark yet: write an answer, save the notebook, and mark again.")
    elif opens:
        pages = [Copy(work, name).page for name, is_marked in done.items() if is_marked]
        show(pages[0] if len(pages) == 1 else overview)
    return 0 if all(done.values()) else 2


def chapter_of(name: str) -> str:
    """The chapter of a name, of its number, or of a path to its notebook. Raises ValueError."""
    names, wanted = chapter_names(), Path(name).stem
    found = [each for each in names if wanted in (each, each[:2], str(int(each[:2])))]
    if not found:
        raise ValueError(f"there is no chapter {name}. There are: {', '.join(names)}")
    return found[0]


def _marked(copy: Copy) -> bool:
    """Mark one chapter, and say so in a line or two. Whether it could be marked."""
    start = time.monotonic()
    try:
        saved = time.strftime("%H:%M", time.localtime(copy.path.stat().st_mtime))
        notebook = copy.read()
    except FileNotFoundError:
        return _not_marked(f"there is no {_near(copy.path)}; `specdec start` copies the chapters")
    except (OSError, Refused) as error:
        return _not_marked(f"{_near(copy.path)}: {error}")
    _say(f"{copy.chapter}, saved at {saved}: marking ...")
    with _told_if_long():
        result, page = mark(notebook, copy.chapter)
    copy.store(notebook, result, page)
    score = f"{points(result.score)} of {points(result.max_score)} points"
    print(f"{copy.chapter}: {score}, in {time.monotonic() - start:.0f} s: {_near(copy.page)}")
    for line in stopped(notebook, result):
        print(f"  stopped: {line}")
    return True


def _not_marked(why: str) -> bool:
    _say(f"specdec: {why}")
    return False


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _told_if_long() -> Iterator[None]:
    """Say what may take so long, once it does."""
    timer = Timer(LONG, _say, [STILL])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _near(path: Path) -> Path:
    """A path as it is seen from the current folder, if it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def show(page: Path) -> None:
    """Show a page in the browser, where there is a screen: else a text browser would come up."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    has_screen = sys.platform != "linux" or any(map(os.environ.get, screens))
    if not (has_screen and webbrowser.open(page.resolve().as_uri())):
        print(f"No browser could be opened here. Open this file in one: {_near(page)}")
