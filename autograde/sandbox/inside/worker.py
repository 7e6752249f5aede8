"""The student's process: answers `cell`, `call` and `value` until the link closes."""

import socket
import warnings
from collections.abc import Callable
from typing import Any

import cells
import numpy as np
import operations
import remote
import wire

SPARE = 2**23  # bytes that are given back for an answer when nothing else is left


def serve_link(link: socket.socket) -> None:
    """Answer the grader's requests, one after the other."""
    notebook, spare = cells.Cells(), bytearray(SPARE)
    wire.send(link, {"ready": True})
    while (request := wire.receive(link)) is not None:
        try:
            wire.send(link, serve(notebook, request, link))
        except wire.ProtocolError as error:
            wire.send(link, {"error": {"name": "TooLarge", "text": str(error), "line": None}})
        except MemoryError:  # so full that not even an error could be described
            spare.clear()
            wire.send(link, {"error": {"name": "MemoryError", "text": "", "line": None}})


def serve(notebook: cells.Cells, request: dict, link: socket.socket) -> dict:
    """The answer to one request."""
    if request["do"] == "cell":
        return notebook.run(request["source"], request.get("key", ""))
    if request["do"] == "value":
        return value(notebook, request["name"])
    function = notebook.namespace.get(request["name"])
    if not callable(function):
        return {"missing": True}
    args = [wire.decode(data, remote.maker(link)) for data in request["args"]]
    answer = call(function, args, request["count"])
    return answer | {"changed": wire.changed(request["args"], args)}


def value(notebook: cells.Cells, name: str) -> dict:
    """The value of a name: {"value"}, or {"missing"}."""
    if name not in notebook.namespace:
        return {"missing": True}
    return {"value": wire.encode(notebook.namespace[name])}


def call(function: Callable, args: list, count: bool = False) -> dict:
    """Call a function: its value and its warnings; with `count`, also what it did with torch."""
    result: Any = None
    done = error = None
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            if count:
                result, done = operations.counted(function, args)
            else:
                result = function(*args)
        except BaseException as raised:
            error = cells.describe_error(raised)
    return {
        "error": error,
        "value": wire.encode(result),
        "warnings": [str(w.message)[:200] for w in seen[:5]],
        "shares": shares_memory(result, args),
        "operations": done,
    }


def shares_memory(result: Any, args: list) -> bool:
    """Whether the returned array shares memory with an argument."""
    if not isinstance(result, np.ndarray):
        return False
    return any(isinstance(a, np.ndarray) and np.may_share_memory(result, a) for a in args)
