"""A stand-in for IPython's shell where a student's cells run. It starts no program.

Magics that run Python in IPython run it here too, once; all others do nothing. A value that a magic
binds to a name has IPython's own type, and is empty. IPython is imported for the first magic: that
takes a fifth of a second.
"""

import re
import sys
import textwrap
import timeit
from collections.abc import Callable
from functools import cache
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cells import Cells

# The options of the magics that have their code after them, as in IPython's source.
MAGIC_OPTIONS = {"timeit": "n:r:tcp:qov:", "prun": "D:l:rs:T:q"}
OUTPUT_NAMES = re.compile(r"--(?:out|err)[ =]+(\w+)")  # names that get a program's output


def install(notebook: "Cells", for_imports: bool) -> None:
    """Give a notebook the names that IPython defines without an import.

    With `for_imports`, `get_ipython` imported from IPython in this process gives the same shell.
    """

    @cache
    def get_ipython() -> Any:
        return _shell(notebook, for_imports)

    if for_imports:
        notebook.get_ipython = get_ipython
    notebook.namespace |= {"get_ipython": get_ipython, "display": display, "_exit_code": 0}
    notebook.namespace |= dict.fromkeys(("exit", "quit"), lambda *_, **__: None)


def display(*values: Any, **_: Any) -> Any:
    """Print values as text. Returns a handle that can be updated."""
    print(*values, sep="\n")
    return no_op_object()


def no_op_object(**attributes: Any) -> Any:
    """An object with these attributes; every other attribute is a method that does nothing."""
    from unittest.mock import MagicMock

    return MagicMock(**attributes)


def _shell(notebook: "Cells", for_imports: bool) -> Any:
    """What `get_ipython()` returns."""
    from IPython.core.formatters import DisplayFormatter
    from IPython.core.interactiveshell import InteractiveShell

    magics = Magics(notebook)
    shell = no_op_object(
        **{name: getattr(magics, name) for name in vars(Magics) if not name.startswith("_")},
        user_ns=notebook.namespace,
        user_global_ns=notebook.namespace,
        display_formatter=DisplayFormatter(),
    )
    shell.display_pub.publish = lambda data, **_: print(data.get("text/plain", ""))
    shell.__class__ = InteractiveShell
    if for_imports:
        InteractiveShell._instance = shell
    return shell


class Magics:
    """The shell's methods that have an effect, under IPython's names."""

    def __init__(self, notebook: "Cells") -> None:
        self._notebook = notebook
        self._registered: dict[str, Callable] = {}  # the student's own magics

    def run_line_magic(self, name: str, line: str, _stack_depth: int = 1) -> Any:
        """What `%name line` gives in the code that stands so many frames above."""
        frame = sys._getframe(_stack_depth)
        if name in self._registered:
            return self._registered[name](line)
        if name == "time":
            return self._run(line, frame)
        if name == "prun":
            return self._run(_options(name, line)[1], frame)
        return self._time_it(line, None, frame) if name == "timeit" else self._no_op(name, line)

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """What `%%name line` gives above the text `cell`."""
        if name in self._registered:
            return self._registered[name](line, cell)
        if name in ("time", "debug"):
            return self._run_below(cell)
        if name == "prun":
            self._run(_options(name, line)[1], sys._getframe(1))
            return self._run_below(cell)
        if name == "capture":
            return self._capture(line.split(), cell)
        if name == "timeit":
            return self._time_it(line, cell, sys._getframe(1))
        return self._no_op(name, line)

    def register_magic_function(
        self, func: Callable, magic_kind: str = "line", magic_name: str | None = None
    ) -> None:
        """Keep a magic that the student has defined."""
        self._registered[magic_name or func.__name__] = func

    def run_cell(self, raw_cell: str, **_: Any) -> Any:
        """Run a text as a cell."""
        return no_op_object(result=self._notebook.execute(raw_cell, "<run_cell>"), success=True)

    def ev(self, expr: str) -> Any:
        """The value of an expression of the notebook."""
        return self._notebook.execute(expr, "<ev>")

    ex = ev

    def push(self, variables: dict[str, Any], interactive: bool = True) -> None:
        """Give names of the notebook their values."""
        self._notebook.namespace |= variables

    def system(self, cmd: str) -> None:
        """Nothing, in place of a program."""

    def getoutput(self, cmd: str, **_: Any) -> list[str]:
        """What a program prints: no line, as none is started."""
        from IPython.utils.text import SList

        return SList()

    def _run(self, code: str, frame: FrameType) -> Any:
        return self._notebook.execute(code, "<magic>", frame.f_globals, frame.f_locals)

    def _run_below(self, body: str) -> Any:
        """Run the text below a cell magic. Its lines keep the numbers they have in the cell."""
        cell = self._notebook.texts[-1]
        if not cell.rstrip().endswith(body.rstrip()):
            return self._notebook.execute(body, "<magic>")
        n_above = len(cell.splitlines()) - len(body.splitlines())
        return self._notebook.execute("\n" * n_above + body, self._notebook.file)

    def _capture(self, words: list[str], body: str) -> None:
        from IPython.utils.capture import capture_output

        streams = [f"--no-{name}" not in words for name in ("stdout", "stderr", "display")]
        with capture_output(*streams) as output:
            self.push({word: output for word in words if not word.startswith("-")})
            sys.displayhook(self._run_below(body))

    def _time_it(self, line: str, body: str | None, frame: FrameType) -> Any:
        """Run code once in a function, so that its names are local."""
        from IPython.core.magics.execution import TimeitResult

        options, code = _options("timeit", line)
        lines = textwrap.indent(f"pass\n{code}\n{body or ''}", "    ")
        at_top = frame.f_locals is frame.f_globals
        scope = frame.f_globals if at_top else frame.f_globals | frame.f_locals
        namespace: dict[str, Any] = {}
        self._notebook.execute(f"def timed():\n{lines}", "<magic>", scope, namespace)
        seconds = timeit.timeit(namespace["timed"], number=1)
        result = TimeitResult(1, 1, seconds, seconds, [seconds], 0.0, 3)
        if "v" in options:
            self.push({options.v: result})
        return result if "o" in options else None

    def _no_op(self, name: str, line: str) -> Any:
        self.push(dict.fromkeys(OUTPUT_NAMES.findall(line), ""))
        return self.getoutput(line) if name in ("sx", "system", "!") else no_op_object()


def _options(magic: str, line: str) -> tuple[Any, str]:
    """The options at the beginning of a magic's line, and the code that follows them."""
    from IPython.core.magic import Magics as IPythonMagics

    flags = {"posix": False, "strict": False, "preserve_non_opts": True}
    stub = SimpleNamespace(options_table={})  # parse_options uses nothing else of the object
    return IPythonMagics.parse_options(stub, line, MAGIC_OPTIONS[magic], **flags)
