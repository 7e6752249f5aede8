"""The student's process: answers `cell`, `names`, `calls` and `value` until the link closes."""

import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        try:
            for answer in serve(notebook, request, link):
                wire.send(link, answer)
        except (wire.ProtocolError, MemoryError) as error:
            wire.send(link, {"error": {"name": "TooLarge", "text": str(error), "line": None}})


def serve(notebook: cells.Cells, request: dict, link: socket.socket) -> Iterator[dict]:
    """The answers to one request: one, or for `calls` one each."""
    if request["do"] == "cell":
        yield notebook.run(request["source"])
    elif request["do"] == "names":
        yield {"names": cells.names_of(request["source"])}
    elif request["do"] == "value":
        yield value(notebook, request["name"])
    else:
        yield from calls(notebook, request, remote.maker(link))


def value(notebook: cells.Cells, name: str) -> dict:
    """The value of a name: {"value"}, or {"missing"}."""
    if name not in notebook.namespace:
        return {"missing": True}
    return {"value": wire.encode(notebook.namespace[name])}


def calls(notebook: cells.Cells, request: dict, handle: wire.MakeHandle) -> Iterator[dict]:
    """Call a function with each list of arguments, in order, up to the first error."""
    function = notebook.namespace.get(request["name"])
    if not callable(function):
        yield {"missing": True}
        return
    lent = {name: wire.decode(data, handle) for name, data in request["underneath"].items()}
    for places in request["calls"]:
        sent = [request["args"][i] for i in places]
        args = [wire.decode(data, handle) for data in sent]
        with bound(notebook.namespace, lent):
            outcome = call(function, args, request["count"])
        yield outcome | {"changed": wire.changed(sent, args)}
        if outcome["error"]:
            return


@contextmanager
def bound(namespace: dict[str, Any], lent: dict[str, Any]) -> Iterator[None]:
    """Other values under the names `lent` for a while; then what stood there before."""
    own = {name: namespace[name] for name in lent if name in namespace}
    namespace.update(lent)
    try:
        yield
    finally:
        for name in lent:
            namespace.pop(name, None)
        namespace.update(own)


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
