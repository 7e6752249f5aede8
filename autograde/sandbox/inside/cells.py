"""A notebook's cells without a kernel: each runs in one namespace, and its output is kept.

Magics and shell lines do nothing, `%%time` and similar ones run their body, `input()` raises.
"""

import ast
import builtins
import contextlib
import io
import traceback
from collections.abc import Iterator
from inspect import CO_COROUTINE
from types import CodeType
from typing import Any

MAX_TEXT = 20_000
RUNS_ITS_BODY = ("time", "timeit", "capture", "prun", "python", "python3", "px")
# What a cell without `await` uses of the event loop that runs in Jupyter.
USES_LOOP = {"create_task", "get_running_loop", "current_task", "all_tasks"}


class BoundedText(io.TextIOBase):
    """A stream that keeps its first characters and drops the rest, so that it stays small."""

    def __init__(self, limit: int = MAX_TEXT) -> None:
        self.parts: list[str] = []
        self.left = limit
        self.dropped = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.left > 0 and text:
            self.parts.append(text[: self.left])
        self.dropped = self.dropped or len(text) > self.left
        self.left = max(0, self.left - len(text))
        return len(text)

    def text(self) -> str:
        end = "\n[the rest of the output was dropped]" if self.dropped else ""
        return "".join(self.parts) + end


class Cells:
    """The namespace in which the cells of one notebook run, one after the other.

    A cell may `await`: one event loop serves all cells, as in Jupyter.
    """

    def __init__(self) -> None:
        self.loop: Any = None
        self.file = file_of("")  # of the cell that runs
        self.namespace: dict[str, Any] = {"__name__": "__main__", "display": _display}
        self.namespace["get_ipython"] = lambda: Shell(self)
        builtins.input = _no_input

    def run(self, source: str, key: str) -> dict:
        """Run one cell: {"error": None or {name, text, line, cell}, "printed": str}."""
        printed, self.file = BoundedText(), file_of(key)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            error = self._attempt(source)
            import_early(source)
        return {"error": error, "printed": printed.text()}

    def _attempt(self, source: str) -> dict | None:
        try:
            self.execute(source)
        except BaseException as error:  # a cell may raise SystemExit or KeyboardInterrupt too
            return describe_error(error)
        return None

    def execute(self, source: str) -> None:
        code = code_of(source, self.file)
        if code.co_flags & CO_COROUTINE or USES_LOOP.intersection(code.co_names):
            self._event_loop().run_until_complete(self._in_loop(code))
        else:
            exec(code, self.namespace)

    async def _in_loop(self, code: CodeType) -> None:
        awaitable = eval(code, self.namespace)
        if awaitable is not None:
            await awaitable

    def _event_loop(self) -> Any:
        import asyncio

        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
        return self.loop


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


def file_of(key: str) -> str:
    """The name under which Python knows the cell `key`, to tell its lines from other cells'."""
    return f"<cell {key}>"


def code_of(source: str, file: str) -> CodeType:
    """A cell's code, in which `await` may stand outside of functions."""
    return compile(plain_python(source), file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def import_early(source: str) -> None:
    """Import what the cell's functions import, so that the time counts as the cell's.

    A function that is called has little time, and the first `import torch` takes most of it.
    """
    if "import" not in source:
        return
    with contextlib.suppress(SyntaxError):
        for module, names in _imports_in_functions(ast.parse(plain_python(source))):
            with contextlib.suppress(Exception):  # the function will say what is wrong with it
                __import__(module, fromlist=names)


def _imports_in_functions(tree: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """The modules that functions import, each with the names that they import from it."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in {node for function in functions for node in ast.walk(function)}:
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, [alias.name for alias in node.names]


def describe_error(error: BaseException) -> dict:
    """An exception as data: its name, its text, and the line of the student's that it stands in.

    `cell` is the key of the cell with that line.
    """
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    is_syntax = isinstance(error, SyntaxError)
    if is_syntax and type(error.filename) is str:
        places.insert(0, (error.filename, error.lineno))
    own = [place for place in places if place[0].startswith("<cell ")]
    file, line = own[-1] if own else ("", None)
    try:
        text = str(error.msg if is_syntax else error)[:2000]
    except Exception:  # __str__ is the student's
        text = ""
    name = type(error).__name__[:80]
    return {"name": name, "text": text, "line": line, "cell": file[len("<cell ") : -1]}


def _display(*values: Any, **_: Any) -> None:
    for value in values:
        print(value)


def _no_input(*_: Any) -> str:
    raise RuntimeError("input() waits for a person; there is none while grading")
