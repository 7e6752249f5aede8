"""Run a notebook's cells without a kernel, as IPython runs them, and call its functions.

IPython runs a cell statement by statement, and with one compiler for all cells. So the statements
before one that cannot be compiled have run, and `from __future__` holds for later cells.
"""

import ast
import codeop
import contextlib
import inspect
import io
import linecache
import operator
import platform
import re
import traceback
import warnings
from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import asyncio

MAX_PRINTED = 20_000  # characters of a cell's output
MAX_COMMANDS = 50  # of a cell: for each of them IPython reads the whole cell again
FILE_PREFIX = "<cell "  # of the file name under which a cell is compiled
INPUT_PROMPT = re.compile(r"\s*In \[\d+\]: ")  # of a pasted cell: Python reads an annotation
EMPTY_LINES = re.compile(r"(?:[^\S\n]*\n)*")
LAST_VALUES = ("_", "__", "___")
LAST_TEXTS = ("_i", "_ii", "_iii")


class BoundedText(io.StringIO):
    """A stream that keeps its first characters and drops the rest, so that it stays small."""

    def write(self, text: str) -> int:
        n_free = MAX_PRINTED - self.tell()
        super().write(text[:n_free])
        if len(text) > n_free:
            self.write = len  # from here on: it only counts
            super().write("\n[the rest of the output was dropped]")
        return len(text)


class Cells:
    """The cells of one notebook, which run one after the other in `namespace`.

    `file` is the file name of the running cell. For a cell that mentions IPython, the shell of
    `get_ipython` is installed there.
    """

    get_ipython: Callable[[], Any] = staticmethod(lambda: None)

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.file = ""
        self.texts: list[str] = [""]
        self.values: dict[int, Any] = {}
        self.namespace |= {"__name__": "__main__", "In": self.texts, "Out": self.values}
        self.namespace |= dict.fromkeys(LAST_VALUES, "")
        self._last_values: list[Any] = [""] * len(LAST_VALUES)
        self._compile = codeop.Compile()  # it remembers a cell's imports from `__future__`
        self._compile.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

    def run(self, source: str, key: str) -> dict:
        """Run one cell: {"error": None or {name, text, line, cell}, "printed": str}."""
        printed = BoundedText()
        error = None
        self.file = f"{FILE_PREFIX}{key}>"
        self._keep_text(source)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                if "IPython" in source:
                    self.get_ipython()
                value = self.execute(source, self.file)
                self._keep_value(None if source.rstrip().endswith(";") else value)
            except BaseException as raised:  # a cell may raise SystemExit or KeyboardInterrupt too
                error = describe_error(raised)
        return {"error": error, "printed": printed.getvalue()}

    def execute(self, source: str, file: str, *scope: Any) -> Any:
        """Run code; returns the value of its last statement, None if that is no expression.

        `file` is the code's file name. `scope` is the globals, if these are not the notebook's,
        and the locals. Raises what the code raises, SyntaxError if it cannot be compiled.
        """
        text = plain_python(source)
        lines = [line + "\n" for line in text.splitlines()]
        linecache.cache[file] = len(text), None, lines, file
        flags = self._compile.flags | ast.PyCF_ONLY_AST
        value = None
        for statement in compile(text, file, "exec", flags, dont_inherit=True).body:
            value = self._run(statement, file, scope or (self.namespace,))
        return value

    def _run(self, statement: ast.stmt, file: str, scope: tuple) -> Any:
        if isinstance(statement, ast.Expr):
            code = self._compile(ast.Expression(statement.value), file, "eval")
        else:
            code = self._compile(ast.Module([statement], []), file, "exec")
        value = eval(code, *scope)
        return self._loop.run(value) if code.co_flags & inspect.CO_COROUTINE else value

    @cached_property
    def _loop(self) -> "asyncio.Runner":
        """The event loop of all cells: a task that one starts can be awaited in another."""
        import asyncio  # here, since it takes a tenth of a second

        return asyncio.Runner()

    def _keep_text(self, source: str) -> None:
        """Show a cell its own text as the last of `In`, and earlier texts in `_i` and so on."""
        self.namespace |= zip(LAST_TEXTS, ["", "", *self.texts][:-4:-1], strict=True)
        self.texts.append(source)

    def _keep_value(self, value: Any) -> None:
        """Put a value into `Out` and `_`, unless the student has assigned `_` or its like."""
        if value is None:
            return
        self.values[len(self.texts) - 1] = value
        present = [self.namespace.get(name) for name in LAST_VALUES]
        if all(map(operator.is_, present, self._last_values)):
            self._last_values = [value, *self._last_values[:-1]]
            self.namespace |= zip(LAST_VALUES, self._last_values, strict=True)


def plain_python(source: str) -> str:
    """The cell as Python, with its line numbers; any other text if it is not valid.

    IPython is imported only for a cell that IPython would transform.
    """
    if not INPUT_PROMPT.match(source):
        with contextlib.suppress(SyntaxError):
            ast.parse(source)
            return source
    empty_lines = EMPTY_LINES.match(source)[0]  # IPython drops these lines
    try:
        return "\n" * empty_lines.count("\n") + _transform_cell()(source[len(empty_lines) :])
    except SyntaxError:  # of indentation that IPython cannot follow
        return source


@cache
def _transform_cell() -> Callable[[str], str]:
    """IPython's own transformation of a cell to Python, with the number of lines kept."""
    from IPython.core.inputtransformer2 import TransformerManager

    class KeepsLines(TransformerManager):
        def do_token_transforms(self, lines: list[str]) -> list[str]:
            for _ in range(MAX_COMMANDS):
                changed, after = self.do_one_token_transform(lines)
                if not changed:
                    break
                # A command over several lines is one line now: pad it.
                first = next(i for i, line in enumerate(after) if line != lines[i])
                padding = ["\n"] * (len(lines) - len(after))
                lines = [*after[: first + 1], *padding, *after[first + 1 :]]
            return lines

    return KeepsLines().transform_cell


def describe_error(error: BaseException) -> dict:
    """An exception as data: its name, its text, and the line of the student's code that raised it.

    `cell` is the key of the cell with that line, empty if there is none.
    """
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    text = str(error)
    if isinstance(error, SyntaxError):
        text = str(error.msg)
        if type(error.filename) is str:
            places.append((error.filename, error.lineno))
            if error.filename.startswith(FILE_PREFIX):
                version = ".".join(platform.python_version_tuple()[:2])
                text = f"not valid in Python {version}, which grades ({text})"
    in_cells = [place for place in places if place[0].startswith(FILE_PREFIX)]
    file, line = in_cells[-1] if in_cells else ("", None)
    name = type(error).__name__[:80]
    return {"name": name, "text": text[:2000], "line": line, "cell": file[len(FILE_PREFIX) : -1]}


# Functions of torch that read a value on the host. On a GPU each one is a synchronisation: it waits
# until all earlier work is done.
HOST_SYNCS = (
    "item", "tolist", "numpy", "cpu", "nonzero", "argwhere", "masked_select", "unique", "equal",
    "__bool__", "__int__", "__float__", "__index__", "__array__", "__contains__", "allclose",
)  # fmt: skip


def instrumented_call(function: Callable, args: list, profile: bool = False) -> tuple[Any, dict]:
    """The result of `function(*args)` and a report, with `profile` on the uses of torch too."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        result, torch_calls = _profile_torch(function, args) if profile else (function(*args), [])
    report = {
        "warnings": [str(record.message)[:200] for record in records[:5]],
        "shares_memory": _shares_memory(result, args),
        "torch_calls": len(torch_calls),
        "host_syncs": [name for name in torch_calls if name in HOST_SYNCS][:20],
    }
    return result, report


def _profile_torch(function: Callable, args: list) -> tuple[Any, list[str]]:
    """The result, and the names of the functions of torch that were called.

    Counting the operators below them would need torch's dispatch mode, which imports its compiler.
    """
    from torch.overrides import TorchFunctionMode

    names: list[str] = []

    class Recorder(TorchFunctionMode):
        def __torch_function__(self, name: Any, types: Any, args: Any = (), kwargs: Any = None):
            names.append(getattr(name, "__name__", ""))
            return name(*args, **(kwargs or {}))

    with Recorder():
        return function(*args), names


def _shares_memory(result: Any, args: list) -> bool:
    """Whether the returned array shares memory with an argument."""
    if not isinstance(result, np.ndarray):
        return False
    return any(isinstance(a, np.ndarray) and np.may_share_memory(result, a) for a in args)
