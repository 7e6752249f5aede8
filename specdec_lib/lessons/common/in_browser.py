"""An exercise checked in the student's own browser: its visible check, on what the page holds."""

import contextlib
import importlib
import io
import linecache
import traceback
from collections.abc import Sequence
from types import SimpleNamespace

from specdec_lib.lessons.common.examples import Different, Unwritten
from specdec_lib.lessons.common.hints import has_own_line
from specdec_lib.lessons.common.kinds import ARRAYS

PLAIN = "speculative_accept"  # the one exercise that can be checked without NumPy
MOST = 20_000  # characters that a page shows of what a run prints


class Above(Exception):
    """Code above the exercise that cannot run; its text is written for the student."""


def check(number: str, name: str, cells: Sequence[Sequence[str]]) -> dict:
    """Run the visible check of exercise `name` of chapter `number`, as its notebook would.

    `cells` are pairs of a name and code, in the chapter's order: answers have their exercise's
    name, the chapter's own code has none, and the last pair is the answer to check. Returns
    {"passed": bool, "text": what a notebook would show, "started": whether the answer has a line
    beyond the stub's}.
    """
    seen, told, started = io.StringIO(), "", False
    with contextlib.redirect_stdout(seen):
        try:
            function = defined(cells, name)
            started = has_own_line(function)
            _visible_check(number, name)(function)
        except (Exception, SystemExit) as error:  # whatever a student's code raises
            told = _as_in_a_notebook(error)
    printed = seen.getvalue()
    if len(printed) > MOST:
        printed = f"{printed[:MOST]}\n(The rest of {len(printed):,} characters is left out.)\n"
    return {"passed": not told, "text": (printed + told).strip(), "started": started}


def _visible_check(number: str, name: str) -> object:
    if name != PLAIN and not has_numpy():
        raise Above(f"{name} needs NumPy, which could not be loaded.")
    lesson = importlib.import_module(f"specdec_lib.lessons.ch{number}.checks")
    return getattr(lesson, f"check_{name}")


def defined(cells: Sequence[Sequence[str]], name: str) -> object:
    """What `name` is once all the cells have run, in the names of a chapter of its own.

    Raises Above if a cell before the last cannot run, NameError if nothing has the name then.
    """
    *above, (_, last) = cells
    # Without NumPy a signature can still name its arrays.
    names: dict = {} if has_numpy() else {"np": SimpleNamespace(ndarray=list)}
    for label, source in above:
        _run_above(label, source, names)
    _run(name, last, names)
    if name not in names:
        raise NameError(f"{name} is not defined: keep the function's name")
    return names[name]


def _run_above(label: str, source: str, names: dict) -> None:
    try:
        _run(label or "the chapter", source, names)
    except (Exception, SystemExit) as error:
        if label:
            raise Above(f"Your {label}, above, cannot run: {_in_a_line(error)}") from None
        if has_numpy():
            raise


def _run(label: str, source: str, names: dict) -> None:
    """Run the code under a name, so that an error shows its line."""
    file = f"<{label}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)


def _in_a_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _as_in_a_notebook(error: BaseException) -> str:
    """The error as a notebook shows it; of other errors than a check's, the student's own lines.

    The page breaks the lines of a check's message itself, where the window ends.
    """
    if isinstance(error, Above | Different):
        return str(error)
    if isinstance(error, Unwritten):
        return "\n".join(error._render_traceback_())
    told = traceback.TracebackException.from_exception(error)
    own = [frame for frame in told.stack if frame.filename.startswith("<")]
    told.stack = traceback.StackSummary.from_list(own)
    lines = list(told.format(chain=False))
    return "".join(lines if own else told.format_exception_only())


def has_numpy() -> bool:
    """Whether there is a NumPy here."""
    return bool(ARRAYS)
