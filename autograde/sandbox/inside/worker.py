"""The student's process: answers `cell`, `call` and `value` until the link closes."""

import builtins
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import calls
import cells
import magics
import wire

SPARE = 2**23  # bytes that are given back for an answer when nothing else is left
# Exceptions that take one text and show it unchanged, and that the grader takes for no stub.
KINDS = ("ArithmeticError", "AttributeError", "IndexError", "TypeError", "ValueError")


def serve(link: wire.Link) -> None:
    """Answer the grader's requests, one after the other."""
    notebook, spare = new_notebook(), bytearray(SPARE)
    link.send({"ready": True})
    while (request := link.receive()) is not None:
        try:
            link.send(answer(notebook, request, link))
        except wire.ProtocolError as error:
            link.send(failed("TooLarge", str(error)))
        except MemoryError:  # so full that not even an error could be described
            spare.clear()
            link.send(failed("MemoryError", ""))


def new_notebook() -> cells.Cells:
    """Cells without any that has run, whose names are those of the module `__main__`."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__builtins__ = builtins
    notebook = cells.Cells(vars(main))
    magics.install(notebook, for_imports=True)
    return notebook


def failed(name: str, text: str) -> dict:
    """An answer that is an error with no line of the student's."""
    return {"error": {"name": name, "text": text, "line": None, "cell": ""}, "printed": ""}


def answer(notebook: cells.Cells, request: dict, link: wire.Link) -> dict:
    """The answer to one request."""
    if request["do"] == "cell":
        return notebook.run(request["source"], request["key"])
    if request["name"] not in notebook.namespace:
        return {"missing": True}
    value = notebook.namespace[request["name"]]
    if request["do"] == "value":
        return {"value": wire.encode(value)}
    if not callable(value):
        return {"missing": True}
    args = [wire.decode(data, partial(Proxy, link)) for data in request["args"]]
    return call(value, args, request["count"]) | {"changed": wire.changed(request["args"], args)}


def call(function: Callable, args: list, count: bool = False) -> dict:
    """Call a function: its value and what it did, or its error."""
    try:
        value, told = calls.call(function, args, count)
    except BaseException as error:
        return {"error": cells.describe_error(error)}
    return {"value": wire.encode(value)} | told


class Proxy(wire.Handle):
    """An object of the grader's process: each use is a question, answered with plain data."""

    def __init__(self, link: wire.Link, *parts: Any) -> None:
        super().__init__(*parts)
        self._link = link

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
        given = {"args": wire.encode(list(args)), "kwargs": wire.encode(kwargs)}
        self._link.send({"ask": {"of": self.number, "name": name} | given})
        reply = self._link.receive()
        if reply is None:
            raise SystemExit  # the grader has ended
        if "refused" in reply:
            raise _exception(*reply["refused"])
        return wire.decode(reply["value"], partial(Proxy, self._link))


def _exception(name: str, text: str) -> Exception:
    """An exception of a use in the grader's process, of the same kind if that is in KINDS."""
    return getattr(builtins, name)(text) if name in KINDS else RuntimeError(f"{name}: {text}")
