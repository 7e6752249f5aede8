"""The course's own answers, run in this very process: nobody else wrote them, so nothing is fenced.

Author's gates, and what the right answer gives in each case, need no sandbox and no start of one.
"""

import copy
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np

from autograde.sandbox.inside import operations, wire
from autograde.sandbox.inside.cells import plain_python
from autograde.sandbox.remote import RemoteObject, is_lent
from autograde.sandbox.session import Cell, NotDefined, Reply, StudentError


class Trusted:
    """Stands where a Session does for the hidden tests, over the cells of a course's notebook."""

    part: object = None  # of the tests, as a Session keeps it

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
        for cell in cells:
            self._run(cell.source)

    def _run(self, source: str) -> None:
        with redirect_stdout(io.StringIO()):
            exec(compile(plain_python(source), "<the course's own>", "exec"), self.namespace)

    @contextmanager
    def with_answers(self, answers: Mapping[str, str]) -> Iterator[None]:
        """The notebook with other answers, by exercise, for a while."""
        before = dict(self.namespace)
        try:
            for source in answers.values():
                self._run(source)
            yield
        finally:
            self.namespace.clear()
            self.namespace.update(before)

    def defined(self, name: str, source: str) -> Callable:
        """The function `name` that `source` defines, over the notebook's other functions."""
        namespace = dict(self.namespace)
        exec(compile(plain_python(source), "<the course's own>", "exec"), namespace)
        return namespace[name]

    def value(self, name: str) -> Any:
        """The value of a name. Raises NotDefined."""
        if name not in self.namespace:
            raise NotDefined(f"{name} is not defined in the notebook")
        return self.namespace[name]

    def call(self, name: str, args: tuple, count: bool = False) -> Reply:
        """The reply to one call, as a Session gives it."""
        try:
            return _reply(self.value(name), args, count)
        except (NotDefined, MemoryError):  # of the grader, which would remember it as right
            raise
        except Exception as error:
            parts = {"name": type(error).__name__, "text": str(error), "where": ""}
            raise StudentError(parts) from None


def _given(args: tuple) -> list:
    """The arguments as another process would get them: plain data is copied, the rest is lent."""
    plain = copy.deepcopy([None if is_lent(arg) else arg for arg in args])
    lent = [arg.thing if isinstance(arg, RemoteObject) else arg for arg in args]
    return [
        there if is_lent(arg) else own for arg, there, own in zip(args, lent, plain, strict=True)
    ]


def _reply(function: Callable, args: tuple, count: bool) -> Reply:
    given = _given(args)
    before, done = [wire.encode(arg) for arg in given], {"operators": 0, "waits": []}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if count:
            value, done = operations.counted(function, given)
        else:
            value = function(*given)
    shares = isinstance(value, np.ndarray) and any(
        isinstance(arg, np.ndarray) and np.may_share_memory(value, arg) for arg in given
    )
    told, changed = [str(each.message) for each in seen], wire.changed(before, given)
    plain = wire.decode(wire.encode(value))  # as it would come from another process
    return Reply(plain, told, changed, shares, done["operators"], tuple(done["waits"]))
