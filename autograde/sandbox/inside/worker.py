"""The student's process: obeys `cell`, `call` and `value` until the link closes."""

import socket
import warnings
from typing import Any

import cells
import numpy as np
import operations
import remote
import wire


def serve_link(link: socket.socket) -> None:
    """Answer the grader's requests, one after the other."""
    notebook = cells.Cells()
    wire.send(link, {"ready": True})
    while (request := wire.receive(link)) is not None:
        answer = serve(notebook, request, link)
        try:
            wire.send(link, answer)
        except (wire.ProtocolError, MemoryError) as error:
            wire.send(link, {"error": {"name": "TooLarge", "text": str(error), "line": None}})


def serve(notebook: cells.Cells, request: dict, link: socket.socket) -> dict:
    """Answer one request."""
    if request["do"] == "cell":
        return notebook.run(request["source"])
    if request["do"] == "value":
        return value(notebook, request["name"])
    args = wire.decode(request["args"], remote.maker(link))
    return call(notebook, request["name"], args, request.get("count") is True)


def value(notebook: cells.Cells, name: str) -> dict:
    """The value of a name: {"value"}, or {"missing"}."""
    if name not in notebook.namespace:
        return {"missing": True}
    return {"value": wire.encode(notebook.namespace[name])}


def call(notebook: cells.Cells, name: str, args: list, count: bool = False) -> dict:
    """Call a function: its value, its warnings, a digest of each argument after the call.

    With `count`, what it did with torch, too.
    """
    function = notebook.namespace.get(name)
    if not callable(function):
        return {"missing": True}
    result: Any = None
    done = None
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        outcome = {"error": None}
        try:
            if count:
                result, done = operations.counted(function, args)
            else:
                result = function(*args)
        except BaseException as error:
            outcome["error"] = cells.describe_error(error)
    return outcome | {
        "value": wire.encode(result),
        "warnings": [str(w.message)[:200] for w in seen[:5]],
        "digests": [wire.digest(arg) for arg in args],
        "shares": shares_memory(result, args),
        "operations": done,
    }


def shares_memory(result: Any, args: list) -> bool:
    """Whether the returned array is an argument, or a view of one."""
    if not isinstance(result, np.ndarray):
        return False
    return any(isinstance(a, np.ndarray) and np.may_share_memory(result, a) for a in args)
