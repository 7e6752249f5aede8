"""What stands for IPython's shell where a student's cells run. It starts no program.

Magics that run Python in IPython run it here too, once; all others do nothing. What a magic binds
to a name is of IPython's own type, and empty. IPython is imported for the first one: that takes a
fifth of a second.
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
OPTIONS = {"timeit": "n:r:tcp:qov:", "prun": "D:l:rs:T:q"}
PROGRAM_OUTPUT = re.compile(r"--(?:out|err)[ =]+(\w+)")  # names that a program's output gets


def install(notebook: "Cells", for_imports: bool) -> None:
    """Give a notebook the names that IPython has without an import.

    With `for_imports`, whoever imports `get_ipython` from IPython in this process gets the same.
    """

    @cache
    def get_ipython() -> Any:
        return _shell(notebook, for_imports)

    if for_imports:
        notebook.get_ipython = get_ipython
    notebook.namespace |= {"get_ipython": get_ipython, "display": display, "_exit_code": 0}
    notebook.namespace |= dict.fromkeys(("exit", "quit"), lambda *_, **__: None)


def display(*values: Any, **_: Any) -> Any:
    """Print values as text. Returns something that can be updated."""
    print(*values, sep="\n")
    return harmless()


def harmless(**attributes: Any) -> Any:
    """An object with these attributes; all others are there too, as methods that do nothing."""
    from unittest.mock import MagicMock

    return MagicMock(**attributes)


def _shell(notebook: "Cells", for_imports: bool) -> Any:
    """What `get_ipython()` returns."""
    from IPython.core.formatters import DisplayFormatter
    from IPython.core.interactiveshell import InteractiveShell

    magics = Magics(notebook)
    shell = harmless(
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
    """The shell's methods that do something, under IPython's names."""

    def __init__(self, notebook: "Cells") -> None:
        self._notebook = notebook
        self._own: dict[str, Callable] = {}

    def run_line_magic(self, name: str, line: str, _stack_depth: int = 1) -> Any:
        """What `%name line` gives in the code that stands so many frames above."""
        frame = sys._getframe(_stack_depth)
        if name in self._own:
            return self._own[name](line)
        if name == "time":
            return self._run(line, frame)
        if name == "prun":
            return self._run(_options(name, line)[1], frame)
        return self._time_it(line, None, frame) if name == "timeit" else self._nothing(name, line)

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """What `%%name line` gives above the text `cell`."""
        if name in self._own:
            return self._own[name](line, cell)
        if name in ("time", "debug"):
            return self._run_below(cell)
        if name == "prun":
            self._run(_options(name, line)[1], sys._getframe(1))
            return self._run_below(cell)
        if name == "capture":
            return self._capture(line.split(), cell)
        if name == "timeit":
            return self._time_it(line, cell, sys._getframe(1))
        return self._nothing(name, line)

    def register_magic_function(
        self, func: Callable, magic_kind: str = "line", magic_name: str | None = None
    ) -> None:
        """Keep a magic that the student has defined."""
        self._own[magic_name or func.__name__] = func

    def run_cell(self, raw_cell: str, **_: Any) -> Any:
        """Run a text as a cell."""
        return harmless(result=self._notebook.execute(raw_cell, "<run_cell>"), success=True)

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
        above = len(cell.splitlines()) - len(body.splitlines())
        return self._notebook.execute("\n" * above + body, self._notebook.file)

    def _capture(self, words: list[str], body: str) -> None:
        from IPython.utils.capture import capture_output

        what = [f"--no-{name}" not in words for name in ("stdout", "stderr", "display")]
        with capture_output(*what) as seen:
            self.push({word: seen for word in words if not word.startswith("-")})
            sys.displayhook(self._run_below(body))

    def _time_it(self, line: str, body: str | None, frame: FrameType) -> Any:
        """Run code once in a function, so that its names stay there."""
        from IPython.core.magics.execution import TimeitResult

        options, code = _options("timeit", line)
        lines = textwrap.indent(f"pass\n{code}\n{body or ''}", "    ")
        at_top, made = frame.f_locals is frame.f_globals, {}
        scope = frame.f_globals if at_top else frame.f_globals | frame.f_locals
        self._notebook.execute(f"def timed():\n{lines}", "<magic>", scope, made)
        seconds = timeit.timeit(made["timed"], number=1)
        result = TimeitResult(1, 1, seconds, seconds, [seconds], 0.0, 3)
        self.push({options.v: result} if "v" in options else {})
        return result if "o" in options else None

    def _nothing(self, name: str, line: str) -> Any:
        self.push(dict.fromkeys(PROGRAM_OUTPUT.findall(line), ""))
        return self.getoutput(line) if name in ("sx", "system", "!") else harmless()


def _options(magic: str, line: str) -> tuple[Any, str]:
    """The options at the beginning of a magic's line, and the code that follows them."""
    from IPython.core.magic import Magics as IPythonMagics

    how = {"posix": False, "strict": False, "preserve_non_opts": True}
    nobody = SimpleNamespace(options_table={})  # all that is used of the object itself
    return IPythonMagics.parse_options(nobody, line, OPTIONS[magic], **how)
