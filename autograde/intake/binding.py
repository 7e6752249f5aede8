"""The names that a code cell binds, read off its source: no code of it runs."""

import re
import symtable
import textwrap
import warnings
from collections.abc import Iterator

_FILE = "<a submitted cell>"
warnings.filterwarnings("ignore", module=re.escape(_FILE))  # such as a student's "\d"

# IPython's syntax. Its own transformer needs minutes for 20,000 characters of `x=!a`, and this runs
# in the grader's process: so a line of IPython's binds only the names on the left of `=`.
_PROMPT = re.compile(r"^[ \t]*+(?:>>>|\.\.\.|In \[\d+\]:) ?", re.MULTILINE)
_MAGIC = re.compile(r"^([ \t]*+)(?:[%!?].*|[^#\n]*\?)[ \t]*$", re.MULTILINE)
_RIGHT_SIDE = re.compile(r"(?<==)[ \t]*+[%!].*$", re.MULTILINE)


def bound_names(source: str) -> set[str]:
    """The names that a cell binds in the notebook; none if it is not valid Python.

    They include a function's `global` names. `from module import *` binds nothing here.
    """
    for text in (source, _without_ipython(source)):
        try:
            return set(_names_bound_in(symtable.symtable(text, _FILE, "exec")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return set()


def _without_ipython(source: str) -> str:
    text = _PROMPT.sub("", textwrap.dedent(source))
    return _RIGHT_SIDE.sub(" None", _MAGIC.sub(r"\1pass", text))


def _names_bound_in(table: symtable.SymbolTable) -> Iterator[str]:
    """The notebook's names that a scope or a scope within it binds."""
    is_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        binds = symbol.is_assigned() or symbol.is_imported()
        if binds and (is_module or symbol.is_declared_global()):
            yield symbol.get_name()
    for scope in table.get_children():
        yield from _names_bound_in(scope)
