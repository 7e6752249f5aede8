"""Runs the course's own solution in the grader's process, without a sandbox.

Nobody else wrote it. The gates, and what the right answer gives in each case, need no more.
"""

import copy
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

from autograde.sandbox.inside import calls, magics, wire
from autograde.sandbox.inside.cells import Cells
from autograde.sandbox.remote import RemoteObject, is_proxied
from autograde.sandbox.session import Cell, NotDefined, Reply, StudentError


class Reference:
    """Stands where a Session does for the hidden tests, over the cells of a course's notebook."""

    group: object = None  # of the tests, as a Session keeps it

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.notebook = Cells({})
        self.namespace = self.notebook.namespace
        magics.install(self.notebook, for_imports=False)
        for cell in cells:
            self._run(cell.source, self.namespace)

    @contextmanager
    def with_answers(self, answers: Mapping[str, str]) -> Iterator[None]:
        """The notebook with other answers, by exercise, for a while."""
        before = dict(self.namespace)
        try:
            for source in answers.values():
                self._run(source, self.namespace)
            yield
        finally:
            self.namespace.clear()
            self.namespace.update(before)

    def defined(self, name: str, source: str) -> Callable:
        """The function `name` that `source` defines, over the notebook's other functions."""
        namespace = dict(self.namespace)
        self._run(source, namespace)
        return namespace[name]

    def value(self, name: str) -> Any:
        """The value of a name. Raises NotDefined."""
        if name not in self.namespace:
            raise NotDefined(f"{name} is not defined in the notebook")
        return self.namespace[name]

    def call(self, name: str, args: tuple, profile: bool = False) -> Reply:
        """The reply to one call, as a Session gives it."""
        function = self.value(name)
        try:
            return reply_of(function, args, profile)
        except Exception as error:
            raise_if_out_of_memory(error)
            parts = {"name": type(error).__name__, "text": str(error), "where": ""}
            raise StudentError(parts) from None

    def _run(self, source: str, namespace: dict[str, Any]) -> None:
        file = f"<the course's own {zlib.crc32(source.encode()):08x}>"  # each text has its name
        with redirect_stdout(io.StringIO()):
            self.notebook.execute(source, file, namespace)


def raise_if_out_of_memory(error: Exception) -> None:
    """Raise MemoryError if `error` says that the grader has too little memory.

    It says nothing of the function that was called, so nobody must remember it as its answer.
    """
    # torch has no exception of its own for it on a CPU.
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        raise MemoryError(str(error)) from error


def reply_of(function: Callable, args: tuple, profile: bool = False) -> Reply:
    """The reply to a call of `function`: plain data is copied for it, the rest is lent."""
    given = [_lent(arg) if is_proxied(arg) else copy.deepcopy(arg) for arg in args]
    before = [wire.encode_value(arg) for arg in given]
    value, told = calls.instrumented_call(function, given, profile)
    plain = wire.decode_value(wire.encode_value(value))  # as it would come from another process
    return Reply(plain, mutated_args=wire.mutated_positions(before, given), **told)


def _lent(arg: Any) -> Any:
    return arg.obj if isinstance(arg, RemoteObject) else arg
