"""The student's process: answers `cell`, `call` and `value` until the connection closes."""

import builtins
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import cells
import magics
import wire

RESERVE_BYTES = 2**23  # freed when memory is full, so that an answer can be sent
# Exceptions that take one text and show it unchanged, and that do not tell the grader of a stub.
PLAIN_EXCEPTIONS = ("ArithmeticError", "AttributeError", "IndexError", "TypeError", "ValueError")


def serve_requests(connection: wire.Connection) -> None:
    """Answer the grader's requests, one after the other."""
    notebook = new_notebook()
    reserve = bytearray(RESERVE_BYTES)
    connection.send({"ready": True})
    while (request := connection.receive()) is not None:
        try:
            connection.send(answer(notebook, request, connection))
        except wire.ProtocolError as error:
            connection.send(failed("TooLarge", str(error)))
        except MemoryError:  # too full even to describe an error
            reserve.clear()
            connection.send(failed("MemoryError", ""))


def new_notebook() -> cells.Cells:
    """A notebook whose namespace is that of the module `__main__`; no cell of it has run."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__builtins__ = builtins
    notebook = cells.Cells(vars(main))
    magics.install(notebook, for_imports=True)
    return notebook


def failed(name: str, text: str) -> dict:
    """An answer that is an error, without a line of the student's code."""
    return {"error": {"name": name, "text": text, "line": None, "cell": ""}, "printed": ""}


def answer(notebook: cells.Cells, request: dict, connection: wire.Connection) -> dict:
    """The answer to one request."""
    if request["do"] == "cell":
        return notebook.run(request["source"], request["key"])
    if request["name"] not in notebook.namespace:
        return {"missing": True}
    value = notebook.namespace[request["name"]]
    if request["do"] == "value":
        return {"value": wire.encode_value(value)}
    if not callable(value):
        return {"missing": True}
    args = [wire.decode_value(data, partial(Proxy, connection)) for data in request["args"]]
    report = call_function(value, args, request["profile"])
    return report | {"mutated_args": wire.mutated_positions(request["args"], args)}


def call_function(function: Callable, args: list, profile: bool = False) -> dict:
    """Call a function: its value and a report on the call, or its error."""
    try:
        value, report = cells.instrumented_call(function, args, profile)
    except BaseException as error:
        return {"error": cells.describe_error(error)}
    return {"value": wire.encode_value(value)} | report


class Proxy(wire.Handle):
    """A proxy of an object in the grader's process: each use is sent there and answered."""

    def __init__(self, connection: wire.Connection, *parts: Any) -> None:
        super().__init__(*parts)
        self._connection = connection

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        if not self.callable_:
            raise TypeError("this object cannot be called")
        return self._ask("", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """An attribute's present value, or a method."""
        if name.startswith("_") or name.rstrip("()") not in {n.rstrip("()") for n in self.names}:
            raise AttributeError(f"there is no {name} here; there are {', '.join(self.names)}")
        if f"{name}()" in self.names:
            return lambda *args, **kwargs: self._ask(name, args, kwargs)
        return self._ask(name, (), {})

    def _ask(self, name: str, args: tuple, kwargs: dict) -> Any:
        arguments = {"args": wire.encode_value(list(args)), "kwargs": wire.encode_value(kwargs)}
        self._connection.send({"ask": {"of": self.number, "name": name} | arguments})
        reply = self._connection.receive()
        if reply is None:
            raise SystemExit  # the grader has ended
        if "refused" in reply:
            raise _exception(*reply["refused"])
        return wire.decode_value(reply["value"], partial(Proxy, self._connection))


def _exception(name: str, text: str) -> Exception:
    """The exception of a use in the grader's process, as one of PLAIN_EXCEPTIONS if it is one."""
    plain = name in PLAIN_EXCEPTIONS
    return getattr(builtins, name)(text) if plain else RuntimeError(f"{name}: {text}")
