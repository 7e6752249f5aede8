"""A notebook's cells without a kernel: each runs as IPython runs it, and its output is kept.

IPython runs a cell statement by statement, and with one compiler for all cells. So what stands
before a statement that cannot be compiled has run, and `from __future__` holds for later cells.
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
from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

MAX_TEXT = 20_000
MAX_COMMANDS = 50  # of a cell: for each of them IPython reads the whole cell again
CELL = "<cell "  # how the name begins under which Python knows a cell
PROMPT = re.compile(r"\s*In \[\d+\]: ")  # of a pasted cell: Python takes it for an annotation
EMPTY_LINES = re.compile(r"(?:[^\S\n]*\n)*")
LAST_VALUES = ("_", "__", "___")
LAST_TEXTS = ("_i", "_ii", "_iii")


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
    """The cells of one notebook, which run one after the other in `namespace`.

    `file` is the name under which Python knows the cell that runs. A cell that speaks of IPython
    finds the shell of `get_ipython` there.
    """

    get_ipython: Callable[[], Any] = staticmethod(lambda: None)

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.file = ""
        self.texts, self.values = [""], {}
        self.namespace |= {"__name__": "__main__", "In": self.texts, "Out": self.values}
        self.namespace |= dict.fromkeys(LAST_VALUES, "")
        self._last_values: list[Any] = [""] * len(LAST_VALUES)
        self._compile = codeop.Compile()  # it keeps what a cell has imported from `__future__`
        self._compile.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

    def run(self, source: str, key: str) -> dict:
        """Run one cell: {"error": None or {name, text, line, cell}, "printed": str}."""
        printed, error = BoundedText(), None
        self.file = f"{CELL}{key}>"
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
        """The value of the last statement of a text that is run, None if it is no expression.

        Python knows the text as `file`. `scope` is the globals, if these are not the notebook's,
        and the locals. Raises what the text raises, SyntaxError if it cannot be compiled.
        """
        text = plain_python(source)
        lines = [line + "\n" for line in text.splitlines()]
        linecache.cache[file] = len(text), None, lines, file
        value, flags = None, self._compile.flags | ast.PyCF_ONLY_AST
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
        """The event loop of all cells: a task that one has started can be awaited in another."""
        import asyncio  # which takes a tenth of a second

        return asyncio.Runner()

    def _keep_text(self, source: str) -> None:
        """Show a cell its own text as the last of `In`, and earlier texts in `_i` and so on."""
        self.namespace |= zip(LAST_TEXTS, ["", "", *self.texts][:-4:-1], strict=True)
        self.texts.append(source)

    def _keep_value(self, value: Any) -> None:
        """Put a value into `Out` and `_`, unless the student has given `_` another meaning."""
        if value is None:
            return
        self.values[len(self.texts) - 1] = value
        present = [self.namespace.get(name) for name in LAST_VALUES]
        if all(map(operator.is_, present, self._last_values)):
            self._last_values = [value, *self._last_values[:-1]]
            self.namespace |= zip(LAST_VALUES, self._last_values, strict=True)


def plain_python(source: str) -> str:
    """The cell as Python, with all lines where they were; some other text if it cannot be that.

    Python that IPython would leave as it is does not wait for IPython's import.
    """
    if not PROMPT.match(source):
        with contextlib.suppress(SyntaxError):
            ast.parse(source)
            return source
    above = EMPTY_LINES.match(source)[0]  # IPython drops these lines
    try:
        return "\n" * above.count("\n") + _transform_cell()(source[len(above) :])
    except SyntaxError:  # of indentation that IPython cannot follow
        return source


@cache
def _transform_cell() -> Callable[[str], str]:
    """IPython's own way from a cell to Python, which keeps the number of lines."""
    from IPython.core.inputtransformer2 import TransformerManager

    class KeepsLines(TransformerManager):
        def do_token_transforms(self, lines: list[str]) -> list[str]:
            for _ in range(MAX_COMMANDS):
                changed, after = self.do_one_token_transform(lines)
                if not changed:
                    break
                # A command that went on over several lines is one line now.
                first = next(i for i, line in enumerate(after) if line != lines[i])
                gone = ["\n"] * (len(lines) - len(after))
                lines = [*after[: first + 1], *gone, *after[first + 1 :]]
            return lines

    return KeepsLines().transform_cell


def describe_error(error: BaseException) -> dict:
    """An exception as data: its name, its text, and the line of the student's that it stands in.

    `cell` is the key of the cell with that line, empty if there is none.
    """
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    text = str(error)
    if isinstance(error, SyntaxError):
        text = str(error.msg)
        if type(error.filename) is str:
            places.append((error.filename, error.lineno))
            if error.filename.startswith(CELL):
                version = ".".join(platform.python_version_tuple()[:2])
                text = f"not valid in Python {version}, which grades ({text})"
    own = [place for place in places if place[0].startswith(CELL)]
    file, line = own[-1] if own else ("", None)
    name = type(error).__name__[:80]
    return {"name": name, "text": text[:2000], "line": line, "cell": file[len(CELL) : -1]}
