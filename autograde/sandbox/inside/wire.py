"""The data-only protocol: length-prefixed JSON frames between the grader and the worker.

Values cross as plain data. Exact built-in types are kept apart (a tuple is not a list, True is
not 1), arrays and tensors cross as dtype, shape and base64. An object that stays in the grader's
process, such as a model to call, crosses as a `Handle`: a number, and the names that may be used.
Any other value becomes an `Opaque` that only carries its type's name. Nothing is ever unpickled.
"""

import base64
import json
import math
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

MAX_FRAME = 16 * 2**20
MAX_DEPTH = 12
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
NAMES = {np.dtype(name): name for name in DTYPES}  # dtype.name is slow
FIXED = (int, float, bool, str, type(None))  # nobody can change a value of these


class ProtocolError(Exception):
    """A frame that breaks the protocol; the process that sent it is not trusted again."""


class Opaque:
    """A value that does not cross: only the name of its type does."""

    def __init__(self, type_in_student_code: str) -> None:
        self.type_in_student_code = type_in_student_code

    def __repr__(self) -> str:
        return f"an object of type {self.type_in_student_code}"


# From a handle's number, whether it can be called, and its names.
MakeHandle = Callable[[int, bool, list[str]], Any]


class Handle:
    """An object that stays in the grader's process, by its number there.

    With `callable_` it can be called; `names` are the methods and attributes that may be used.
    """

    def __init__(self, number: int, callable_: bool, names: list[str]) -> None:
        self.number, self.callable_, self.names = number, callable_, names


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
    if kind is dict and depth < MAX_DEPTH and all(type(key) is str for key in value):
        return {"d": [[key, encode(item, depth + 1)] for key, item in value.items()]}
    if kind is np.ndarray and (name := NAMES.get(value.dtype.newbyteorder("="))):
        return {"a": [name, list(value.shape), base64.b64encode(_bytes_of(value)).decode()]}
    if isinstance(value, Handle):
        return {"h": [value.number, value.callable_, list(value.names)]}
    return _encode_tensor(value) or {"x": kind.__name__[:80]}


def _bytes_of(array: np.ndarray) -> bytes:
    """The numbers in this machine's byte order, as the other side reads them."""
    return array.astype(array.dtype.newbyteorder("="), copy=False).tobytes()


def _encode_tensor(value: Any) -> dict | None:
    """A tensor as data, or as its dtype; None for any other value. torch is not imported for it."""
    torch = sys.modules.get("torch")
    if torch is None or type(value) is not torch.Tensor:
        return None
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES or value.layout is not torch.strided:
        return {"x": f"Tensor of {value.dtype}"}
    array = value.detach().cpu().contiguous().numpy()
    return {"s": [name, list(array.shape), base64.b64encode(array.tobytes()).decode()]}


def no_handle(number: int, callable_: bool, names: list[str]) -> Any:
    """Raises ProtocolError: this value cannot hold an object of the grader's process."""
    raise ProtocolError("a handle in a value that cannot hold one")


def decode(data: Any, handle: MakeHandle = no_handle, depth: int = 0) -> Any:
    """The value that `encode` turned into `data`; `handle` takes the parts of a handle.

    Raises ProtocolError for any other data.
    """
    if data is None or type(data) in (bool, int, float):
        return data
    if type(data) is str:
        return clean(data)
    if type(data) is not dict or len(data) != 1 or depth > MAX_DEPTH:
        raise ProtocolError("a value of no known form")
    ((tag, body),) = data.items()
    return _decode_tagged(tag, body, handle, depth)


def _decode_tagged(tag: str, body: Any, handle: MakeHandle, depth: int) -> Any:
    if tag in ("l", "t") and type(body) is list:
        items = [decode(item, handle, depth + 1) for item in body]
        return items if tag == "l" else tuple(items)
    if tag == "d" and type(body) is list and all(map(_is_entry, body)):
        return {key: decode(item, handle, depth + 1) for key, item in body}
    if tag == "f" and body in ("nan", "inf", "-inf"):
        return float(body)
    if tag == "x" and type(body) is str:
        return Opaque(clean(body)[:80])
    if tag == "a":
        return _decode_array(body, DTYPES)
    if tag == "s":
        import torch

        return torch.from_numpy(_decode_array(body, DTYPES))
    if tag == "h" and _is_handle(body):
        return handle(*body)
    raise ProtocolError("a value of no known form")


def _is_entry(body: Any) -> bool:
    return type(body) is list and len(body) == 2 and type(body[0]) is str


def _is_handle(body: Any) -> bool:
    if type(body) is not list or [type(part) for part in body] != [int, bool, list]:
        return False
    return all(type(name) is str for name in body[2])


def _decode_array(body: Any, dtypes: tuple[str, ...]) -> np.ndarray:
    try:
        name, shape, data = body
        if name not in dtypes or not all(type(n) is int and n >= 0 for n in shape):
            raise ProtocolError("an array of an unknown dtype or shape")
        flat = np.frombuffer(base64.b64decode(data, validate=True), dtype=name)
        return flat.reshape(shape).copy()
    except (ValueError, TypeError, OverflowError) as error:
        raise ProtocolError(f"an array that cannot be read: {error}") from None


def changed(sent: Iterable[Any], args: Iterable[Any]) -> list[int]:
    """The positions of the arguments whose encoding is no longer what was `sent`."""
    pairs = enumerate(zip(sent, args, strict=True))
    mutable = [(i, data, arg) for i, (data, arg) in pairs if type(arg) not in FIXED]
    return [i for i, data, arg in mutable if not _is_equal(encode(arg), data)]


def _is_equal(one: Any, other: Any) -> bool:
    """Whether two encodings are of equal values of equal types."""
    if one != other:
        return False
    # What an array is written as holds no numbers; else 1, 1.0 and True are three things in a text.
    is_array = type(one) is dict and one.keys() <= {"a", "s"}
    return is_array or repr(one) == repr(other)


def send(link: socket.socket, message: dict) -> None:
    """Write one frame. Raises ProtocolError if it would hold more than the other side reads."""
    body = json.dumps(message).encode()
    if len(body) > MAX_FRAME:
        raise ProtocolError(f"a message of {len(body)} bytes; {MAX_FRAME} are allowed")
    link.sendall(struct.pack(">I", len(body)) + body)


def receive(link: socket.socket, deadline: float | None = None) -> dict | None:
    """Read one frame; None if the other side has closed.

    `deadline` is on the clock of `time.monotonic()` and holds for the frame as a whole. Raises
    TimeoutError after it, ProtocolError for a frame that is too long or no JSON object.
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
        message = json.loads(body.decode("ascii"))  # json.dumps writes nothing else
    except (ValueError, RecursionError):
        raise ProtocolError("a frame that is not JSON") from None
    if type(message) is not dict:
        raise ProtocolError("a frame that is not an object")
    return message


def clean(text: str) -> str:
    """The text without lone surrogates, which no file could be written with."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _read(link: socket.socket, length: int, deadline: float | None) -> bytes | None:
    parts = bytearray()
    while len(parts) < length:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:  # else a byte now and then could go on for ever
                raise TimeoutError("the frame took too long")
            link.settimeout(left)
        part = link.recv(min(length - len(parts), 2**16))
        if not part:
            return None
        parts += part
    return bytes(parts)
