"""What one submission may cost the grader: how long its texts are, and what our process may use.

Converters of Markdown and code take time that grows with the square of a text, and every step
holds the notebook several times. So a text is cut before anything else sees it, and what is left
out is named in its place.

Values that a student's function gives are compared in our own process, and a test's objects are
used there. The kernel holds the process to a limit. With too much memory a step fails, after too
much time the submission is given up, and the process goes on to the next one.
"""

import os
import re
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing it takes most of a second, and a session needs nothing of it
    from nbformat import NotebookNode

# Characters. All answers of a chapter together have 4,000, the whole chapter 25,000.
MAX_CODE = 20_000  # of a cell
MAX_MARKDOWN = 10_000  # of a cell
MAX_TEXT = 100_000  # of all cells of a notebook
MAX_OUTPUT = 100_000  # that the cells of a notebook print, and of their errors
MIN_ERROR = 300  # that are kept of every error, since messages refer to it

MEMORY = 512 * 2**20  # bytes over what the process has before
SECONDS = 30  # of its processor

_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def truncate_cells(cells: Iterable["NotebookNode"]) -> None:
    """Cut the text of a cell, in place, if it or that of all cells is too long: the first stay."""
    left = MAX_TEXT
    for cell in cells:
        before = len(cell.source)
        cell.source = truncate_cell(cell.kind, cell.source, left)
        left -= min(left, before)


def truncate_cell(kind: str, source: str, left: int = MAX_TEXT) -> str:
    """`source`, or the beginning of Markdown with a line above it, or code that raises.

    `kind` is as in the notebook's format, `left` what the cells before leave of a notebook's
    characters. The beginning of code would be another answer.
    """
    most = min(left, MAX_CODE if kind == "code" else MAX_MARKDOWN)
    if len(source) <= most:
        return source
    allowed = f"a notebook may have {MAX_TEXT:,}" if most == left else f"a cell may have {most:,}"
    why = f"it has {len(source):,} characters, {allowed}"
    if kind == "code":
        return f"raise RuntimeError('This cell was left out: {why}.')"
    return f"**Only the beginning of this text is kept: {why}.**\n\n{source[:most]}"


def strip_colours(text: str) -> str:
    """What a cell printed, without codes for colours: each of them is an element of a page."""
    return _COLOUR.sub("", text).replace("\x1b", "")


def truncate_output(printed: str, most: int) -> str:
    """The first `most` characters of what a cell printed, and a line if that is not all."""
    if len(printed) <= most:
        return printed
    return f"{printed[:most]}\n[dropped: a notebook may print {MAX_OUTPUT:,} characters]"


class TooCostly(RuntimeError):
    """A submission that takes too much of the grader's memory or time; the text says so."""


class _Stopped(KeyboardInterrupt):
    """Raised wherever the grader is. What lets Ctrl+C through lets it through too."""


@contextmanager
def limit_resources() -> Iterator[None]:
    """Let this process have so much more memory and processor time until the block ends.

    Raises TooCostly for more than that. Nothing happens on other systems than Linux, which isolate
    nothing either.
    """
    if sys.platform != "linux" or sys.modules.get("resource", True) is None:
        yield
        return
    import resource

    if threading.current_thread() is threading.main_thread():  # else the signal ends us
        signal.signal(signal.SIGXCPU, _stop)
    most = {resource.RLIMIT_DATA: _data() + MEMORY, resource.RLIMIT_CPU: _used() + SECONDS}
    before = {what: resource.getrlimit(what) for what in most}
    try:
        for what, limit in most.items():
            hard = before[what][1]
            resource.setrlimit(what, (limit if hard < 0 else min(limit, hard), hard))
        yield
    except _Stopped:
        raise TooCostly(f"it kept the grader busy for more than {SECONDS} s") from None
    except MemoryError:
        mib = MEMORY // 2**20
        raise TooCostly(f"what it returned takes more than {mib} MiB of the grader") from None
    finally:
        for what, limits in before.items():
            resource.setrlimit(what, limits)


def _stop(*_: object) -> None:
    raise _Stopped


def _used() -> int:
    """The seconds of processors that this process has used."""
    times = os.times()
    return int(times.user + times.system)


def _data() -> int:
    """The bytes of memory of this process that count: written, or meant to be."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE")
