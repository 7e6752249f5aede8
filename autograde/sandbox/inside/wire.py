"""The data-only protocol: length-prefixed JSON frames between the grader and the worker.

Values cross as plain data. Exact built-in types are kept apart (a tuple is not a list, True is
not 1), arrays cross as dtype, shape and base64, and everything else becomes an `Opaque` that
only carries its type's name. Nothing is ever unpickled.
"""

import base64
import hashlib
import json
import math
import socket
import struct
import time
from typing import Any

import numpy as np

MAX_FRAME = 16 * 2**20
MAX_DEPTH = 12
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


class ProtocolError(Exception):
    """A frame that breaks the protocol; the process that sent it is not to be trusted again."""


class Opaque:
    """A value that does not cross: only the name of its type does."""

    def __init__(self, type_in_student_code: str) -> None:
        self.type_in_student_code = type_in_student_code

    def __repr__(self) -> str:
        return f"an object of type {self.type_in_student_code}"


def encode(value: Any, depth: int = 0) -> Any:
    """`value` as JSON data; NumPy scalars become Python's."""
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        value = value.item()
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if abs(value) < 2**63 else {"x": "int beyond 64 bits"}
    if kind is float:
        return value if math.isfinite(value) else {"f": repr(value)}
    if kind in (list, tuple) and depth < MAX_DEPTH:
        return {"l" if kind is list else "t": [encode(item, depth + 1) for item in value]}
    if kind is np.ndarray and value.dtype.name in DTYPES:
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"a": [value.dtype.name, list(value.shape), data]}
    return {"x": kind.__name__[:80]}


def decode(data: Any, depth: int = 0) -> Any:
    """The value that `encode` made `data` from. Raises ProtocolError on anything else."""
    if data is None or type(data) in (bool, int, float, str):
        return data
    if type(data) is not dict or len(data) != 1 or depth > MAX_DEPTH:
        raise ProtocolError("a value of no known form")
    ((tag, body),) = data.items()
    if tag in ("l", "t") and type(body) is list:
        items = [decode(item, depth + 1) for item in body]
        return items if tag == "l" else tuple(items)
    if tag == "f" and body in ("nan", "inf", "-inf"):
        return float(body)
    if tag == "x" and type(body) is str:
        return Opaque(body)
    if tag == "a":
        return _decode_array(body)
    raise ProtocolError("a value of no known form")


def _decode_array(body: Any) -> np.ndarray:
    try:
        name, shape, data = body
        if name not in DTYPES or not all(type(n) is int and n >= 0 for n in shape):
            raise ProtocolError("an array of an unknown dtype or shape")
        flat = np.frombuffer(base64.b64decode(data, validate=True), dtype=name)
        return flat.reshape(shape).copy()
    except (ValueError, TypeError) as error:
        raise ProtocolError(f"an array that cannot be read: {error}") from None


def digest(value: Any) -> str:
    """A fingerprint of a value: equal for two values that cross as the same data."""
    return hashlib.sha256(json.dumps(encode(value)).encode()).hexdigest()


def changed(before: tuple, after: tuple) -> list[int]:
    """The positions at which two lists of arguments differ."""
    pairs = enumerate(zip(before, after, strict=True))
    return [i for i, (old, new) in pairs if digest(old) != digest(new)]


def send(link: socket.socket, message: dict) -> None:
    """Write one frame. Raises ProtocolError where it would be longer than 16 MiB."""
    body = json.dumps(message).encode()
    if len(body) > MAX_FRAME:
        raise ProtocolError(f"a message of {len(body)} bytes; {MAX_FRAME} are allowed")
    link.sendall(struct.pack(">I", len(body)) + body)


def receive(link: socket.socket, deadline: float | None = None) -> dict | None:
    """Read one frame; None where the other side has closed.

    `deadline` is on the clock of `time.monotonic()` and holds for the frame as a whole. Raises
    TimeoutError past it, ProtocolError for a frame that is too long or not a JSON object.
    """
    head = _read(link, 4, deadline)
    if head is None:
        return None
    (length,) = struct.unpack(">I", head)
    if length > MAX_FRAME:
        raise ProtocolError(f"a frame of {length} bytes; {MAX_FRAME} are allowed")
    body = _read(link, length, deadline)
    return None if body is None else _parse(body)


def _parse(body: bytes) -> dict:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise ProtocolError("a frame that is not JSON") from None
    if type(message) is not dict:
        raise ProtocolError("a frame that is not an object")
    return message


def _read(link: socket.socket, length: int, deadline: float | None) -> bytes | None:
    parts = bytearray()
    while len(parts) < length:
        if deadline is not None:
            link.settimeout(max(1e-3, deadline - time.monotonic()))
        part = link.recv(min(length - len(parts), 2**16))
        if not part:
            return None
        parts += part
    return bytes(parts)
