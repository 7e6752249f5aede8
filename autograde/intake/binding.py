"""Which names a cell of code binds, read off its text: nothing of it runs."""

import re
import symtable
import textwrap
import warnings
from collections.abc import Iterator

FILE = "<a submitted cell>"
warnings.filterwarnings("ignore", module=re.escape(FILE))  # nobody here mends a student's "\d"

# What IPython alone reads. Its own transformer needs minutes for 20,000 characters of `x=!a`, and
# this runs in the grader's process: so a line of IPython's binds nothing here but what `=` says.
_PROMPT = re.compile(r"^[ \t]*+(?:>>>|\.\.\.|In \[\d+\]:) ?", re.MULTILINE)
_MAGIC = re.compile(r"^([ \t]*+)(?:[%!?].*|[^#\n]*\?)[ \t]*$", re.MULTILINE)
_RIGHT_SIDE = re.compile(r"(?<==)[ \t]*+[%!].*$", re.MULTILINE)


def bound_names(source: str) -> set[str]:
    """The names that a cell binds in the notebook; none if it cannot be read as Python.

    A function's `global` names are among them. `from module import *` binds nothing here.
    """
    for text in (source, _without_ipython(source)):
        try:
            return set(_bound(symtable.symtable(text, FILE, "exec")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return set()


def _without_ipython(source: str) -> str:
    text = _PROMPT.sub("", textwrap.dedent(source))
    return _RIGHT_SIDE.sub(" None", _MAGIC.sub(r"\1pass", text))


def _bound(table: symtable.SymbolTable) -> Iterator[str]:
    """The notebook's names that are bound in a scope or in one within it."""
    of_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        binds = symbol.is_assigned() or symbol.is_imported()
        if binds and (of_module or symbol.is_declared_global()):
            yield symbol.get_name()
    for scope in table.get_children():
        yield from _bound(scope)
