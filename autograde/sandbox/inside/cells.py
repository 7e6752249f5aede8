"""A notebook's cells without a kernel: each runs in one namespace, and its output is kept.

Magics and shell lines do nothing, `%%time` and similar ones run their body, `input()` raises.
"""

import ast
import builtins
import contextlib
import io
import traceback
from typing import Any

MAX_TEXT = 20_000
RUNS_ITS_BODY = ("time", "timeit", "capture", "prun", "python", "python3", "px")
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
        self.file = ""  # of the cell that runs
        self.namespace: dict[str, Any] = {"__name__": "__main__", "display": _display}
        self.namespace["get_ipython"] = lambda: Shell(self)
        builtins.input = _no_input

    def run(self, source: str, key: str) -> dict:
        """Run one cell: {"error": None or {name, text, line, cell}, "printed": str}."""
        printed, error, self.file = BoundedText(), None, f"{CELL}{key}>"
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                self.execute(source)
            except BaseException as raised:  # a cell may raise SystemExit or KeyboardInterrupt too
                error = describe_error(raised)
        return {"error": error, "printed": printed.getvalue()}

    def execute(self, source: str) -> None:
        exec(compile(plain_python(source), self.file, "exec"), self.namespace)


class Shell:
    """The result of `get_ipython()`: runs the body of timing magics, ignores all others."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> None:
        if name in RUNS_ITS_BODY and line.strip() and not line.strip().startswith("-"):
            self.cells.execute(line)

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        if name in RUNS_ITS_BODY:
            self.cells.execute(cell)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def plain_python(source: str) -> str:
    """The cell as Python, by IPython's transformer if the text itself is not Python."""
    try:
        ast.parse(source)
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager

        return TransformerManager().transform_cell(source)
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
    try:
        text = str(error.msg if is_syntax else error)[:2000]
    except Exception:  # __str__ is the student's
        text = ""
    name = type(error).__name__[:80]
    return {"name": name, "text": text, "line": line, "cell": file[len(CELL) : -1]}


def _display(*values: Any, **_: Any) -> None:
    for value in values:
        print(value)


def _no_input(*_: Any) -> str:
    raise RuntimeError("input() waits for a person; there is none while grading")
