"""Bounds on the cost of one submission: the lengths of its texts, and the grader's own resources.

Converters of Markdown and code take quadratic time, and every step holds the notebook several
times. So a text is truncated before anything else reads it, and a line in its place says so.

The grader's own process compares a student's values. The kernel limits it: beyond the memory limit
a step fails, beyond the time limit the submission is aborted, and the next one is graded.
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

# Characters. All answers of a chapter together have 4,000, the whole chapter 36,000.
MAX_CODE = 20_000  # of a cell
MAX_MARKDOWN = 10_000  # of a cell
MAX_NOTEBOOK = 100_000  # of all cells of a notebook
MAX_OUTPUT = 100_000  # of the output and the errors of a notebook's cells
MIN_ERROR = 300  # of every error, whatever the rest: messages refer to it

EXTRA_MEMORY_BYTES = 512 * 2**20  # beyond the process's memory at the start
CPU_SECONDS = 30

_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def truncate_cells(cells: Iterable["NotebookNode"]) -> None:
    """Truncate the texts of cells in place, to the limits of a cell and of a whole notebook."""
    budget = MAX_NOTEBOOK
    for cell in cells:
        length = len(cell.source)
        cell.source = truncate_cell(cell.kind, cell.source, budget)
        budget -= min(budget, length)


def truncate_cell(kind: str, source: str, budget: int = MAX_NOTEBOOK) -> str:
    """`source` if it is short enough; else truncated Markdown, or code that raises.

    `budget` is what the notebook has left. Truncated code would be another answer.
    """
    limit = min(budget, MAX_CODE if kind == "code" else MAX_MARKDOWN)
    if len(source) <= limit:
        return source
    unit, allowed = ("notebook", MAX_NOTEBOOK) if limit == budget else ("cell", limit)
    reason = f"it has {len(source):,} characters, a {unit} may have {allowed:,}"
    if kind == "code":
        return f"raise RuntimeError('This cell was left out: {reason}.')"
    return f"**Only the beginning of this text is kept: {reason}.**\n\n{source[:limit]}"


def strip_colours(text: str) -> str:
    """A cell's output without codes for colours: each code would be an element of a page."""
    return _COLOUR.sub("", text).replace("\x1b", "")


def truncate_output(printed: str, limit: int) -> str:
    """The first `limit` characters of a cell's output, with a line that says if there was more."""
    if len(printed) <= limit:
        return printed
    return f"{printed[:limit]}\n[dropped: a notebook may print {MAX_OUTPUT:,} characters]"


class TooCostly(RuntimeError):
    """A submission that exceeds the grader's limits; the text says which limit."""


class _CpuTimeExceeded(KeyboardInterrupt):
    """Raised by the signal, wherever the grader is: code that lets Ctrl+C through lets it pass."""


@contextmanager
def limit_resources() -> Iterator[None]:
    """Limit this process to EXTRA_MEMORY_BYTES and CPU_SECONDS more until the block ends.

    Raises TooCostly beyond that. Only Linux has these limits.
    """
    if sys.platform != "linux" or sys.modules.get("resource", True) is None:
        yield
        return
    import resource

    if threading.current_thread() is threading.main_thread():  # else the signal ends us
        signal.signal(signal.SIGXCPU, _raise_cpu_time_exceeded)
    limits = {
        resource.RLIMIT_DATA: _data_bytes() + EXTRA_MEMORY_BYTES,
        resource.RLIMIT_CPU: _cpu_seconds() + CPU_SECONDS,
    }
    old_limits = {kind: resource.getrlimit(kind) for kind in limits}
    try:
        for kind, limit in limits.items():
            hard = old_limits[kind][1]
            resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))
        yield
    except _CpuTimeExceeded:
        raise TooCostly(f"it kept the grader busy for more than {CPU_SECONDS} s") from None
    except MemoryError:
        mib = EXTRA_MEMORY_BYTES // 2**20
        raise TooCostly(f"what it returned takes more than {mib} MiB of the grader") from None
    finally:
        for kind, old_limit in old_limits.items():
            resource.setrlimit(kind, old_limit)


def _raise_cpu_time_exceeded(*_: object) -> None:
    raise _CpuTimeExceeded


def _cpu_seconds() -> int:
    """The processor seconds that this process has used."""
    times = os.times()
    return int(times.user + times.system)


def _data_bytes() -> int:
    """The bytes of this process's memory that RLIMIT_DATA counts: all that is writable."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE")
