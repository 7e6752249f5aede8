"""A notebook's cells without a kernel: each runs in one namespace, and its output is kept.

Lines with magics or for the shell do nothing.
"""

import ast
import contextlib
import io
import re
import traceback
from typing import Any

MAX_TEXT = 20_000
MAGIC = re.compile(r"^([ \t]*)[%!].*", re.MULTILINE)
CELL = "<cell "  # how the name begins under which Python knows a cell


class BoundedText(io.StringIO):
    """A stream that keeps its first characters and drops the rest, so that it stays small."""

    def write(self, text: str) -> int:
        left = MAX_TEXT - self.tell()
        super().write(text[:left])
        if len(text) > left:
            self.write = len  # of all that follows
            super().write("\n[the rest of the output was dropped]")
        return len(text)


class Cells:
    """The namespace in which the cells of one notebook run, one after the other."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__", "display": _display}

    def run(self, source: str, key: str) -> dict:
        """Run one cell: {"error": None or {name, text, line, cell}, "printed": str}."""
        printed, error = BoundedText(), None
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                exec(compile(plain_python(source), f"{CELL}{key}>", "exec"), self.namespace)
            except BaseException as raised:  # a cell may raise SystemExit or KeyboardInterrupt too
                error = describe_error(raised)
        return {"error": error, "printed": printed.getvalue()}


def plain_python(source: str) -> str:
    """The cell as Python: if it is not, without its magics, all lines where they were."""
    try:
        ast.parse(source)
    except SyntaxError:
        return MAGIC.sub(r"\1pass", source)
    return source


def describe_error(error: BaseException) -> dict:
    """An exception as data: its name, its text, and the line of the student's that it stands in.

    `cell` is the key of the cell with that line, empty if there is none.
    """
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    is_syntax = isinstance(error, SyntaxError)
    if is_syntax and type(error.filename) is str:
        places.insert(0, (error.filename, error.lineno))
    own = [place for place in places if place[0].startswith(CELL)]
    file, line = own[-1] if own else ("", None)
    name, text = type(error).__name__[:80], str(error.msg if is_syntax else error)[:2000]
    return {"name": name, "text": text, "line": line, "cell": file[len(CELL) : -1]}


def _display(*values: Any, **_: Any) -> None:
    print(*values, sep="\n")
