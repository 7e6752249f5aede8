"""The data-only protocol: length-prefixed JSON frames between the grader and the worker.

Values cross as plain data. Exact built-in types are kept apart (a tuple is not a list, True is
not 1), arrays and tensors cross as dtype, shape and base64. An object that stays in the grader's
process, such as a model to call, crosses as a `Handle`: a number, and the names that may be used.
Any other value becomes an `Opaque` that only carries its type's name. Nothing is ever unpickled.
"""

import base64
import json
import math
import struct
import sys
from collections.abc import Callable, Iterable
from typing import IO, Any

import numpy as np

MAX_FRAME = 16 * 2**20
MAX_DEPTH = 12
MAX_NUMBERS = 2**20  # of an array; an empty one has as many as if no side were empty
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
DTYPE_NAMES = {np.dtype(name): name for name in DTYPES}  # dtype.name is slow


class ProtocolError(ValueError):
    """A frame that breaks the protocol; the process that sent it is not trusted again."""


# What reading a forged frame raises: its parts are used as the types they should have, unchecked.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class Opaque:
    """Stands for a value that cannot cross; it carries the name of the value's type."""

    def __init__(self, type_in_student_code: str) -> None:
        self.type_in_student_code = type_in_student_code

    def __repr__(self) -> str:
        return f"an object of type {self.type_in_student_code}"


class Handle:
    """An object that stays in the grader's process, by its number there.

    With `callable_` it can be called; `names` are the methods and attributes that may be used.
    """

    def __init__(self, number: int, callable_: bool, names: list[str]) -> None:
        self.number = number
        self.callable_ = callable_
        self.names = names


def encode_value(value: Any, depth: int = 0) -> Any:
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
        return {"l" if kind is list else "t": [encode_value(item, depth + 1) for item in value]}
    if kind is dict and depth < MAX_DEPTH and all(type(key) is str for key in value):
        return {"d": [[key, encode_value(item, depth + 1)] for key, item in value.items()]}
    if kind is np.ndarray and (name := DTYPE_NAMES.get(value.dtype.newbyteorder("="))):
        return {"a": [name, *_shape_and_data(value.astype(name, copy=False))]}
    if isinstance(value, Handle):
        return {"h": [value.number, value.callable_, list(value.names)]}
    return _encode_tensor(value) or {"x": kind.__name__[:80]}


def _encode_tensor(value: Any) -> dict | None:
    """A tensor as data, or as its dtype; None for any other value. torch is not imported for it."""
    torch = sys.modules.get("torch")
    if torch is None or type(value) is not torch.Tensor:
        return None
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES or value.layout is not torch.strided:
        return {"x": f"Tensor of {value.dtype}"}
    return {"s": [name, *_shape_and_data(value.detach().cpu().contiguous().numpy())]}


def _shape_and_data(array: np.ndarray) -> tuple[list[int], str]:
    return list(array.shape), base64.b64encode(array.tobytes()).decode()


def decode_value(data: Any, handle: Callable | None = None, depth: int = 0) -> Any:
    """The value that `encode_value` turned into `data`; `handle` takes the parts of a handle.

    Without `handle` there can be none. Other data give plain values too, or raise one of MALFORMED.
    """
    if data is None or type(data) in (bool, int, float):
        return data
    if type(data) is str:
        return clean(data)
    if depth > MAX_DEPTH:
        raise ProtocolError("a value of too many levels")
    ((tag, body),) = data.items()
    if tag in ("l", "t"):
        items = [decode_value(item, handle, depth + 1) for item in body]
        return items if tag == "l" else tuple(items)
    if tag == "d":
        return {clean(key): decode_value(item, handle, depth + 1) for key, item in body}
    if tag == "f":
        return float(body)
    if tag == "x":
        return Opaque(clean(body)[:80])
    return handle(*body) if tag == "h" else _decode_array(tag, *body)


def _decode_array(tag: str, name: str, shape: list[int], data: str) -> Any:
    """An array or a tensor. Its shape takes memory too as soon as somebody makes lists of it."""
    if tag not in ("a", "s") or name not in DTYPES or min(shape, default=0) < 0:
        raise ProtocolError("a value of no known form")
    if math.prod(max(n, 1) for n in shape) > MAX_NUMBERS:
        raise ProtocolError(f"an array of more than {MAX_NUMBERS:,} numbers")
    array = np.frombuffer(base64.b64decode(data), dtype=name).reshape(shape).copy()
    if tag == "a":
        return array
    import torch

    return torch.from_numpy(array)


def mutated_positions(encoded: Iterable[Any], args: Iterable[Any]) -> list[int]:
    """The positions of the arguments whose encoding is no longer the one in `encoded`.

    They are compared as text, since 1, 1.0 and True are equal.
    """
    pairs = enumerate(zip(encoded, args, strict=True))
    return [i for i, (data, arg) in pairs if json.dumps(encode_value(arg)) != json.dumps(data)]


class Connection:
    """A pair of pipes: frames are read from one and written to the other."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, message: dict) -> None:
        """Write a frame. Raises ProtocolError if it would hold more than the other side reads."""
        body = json.dumps(message).encode()
        if len(body) > MAX_FRAME:
            raise ProtocolError(f"a message of {len(body)} bytes; {MAX_FRAME} are allowed")
        self.writer.write(struct.pack(">I", len(body)) + body)
        self.writer.flush()

    def receive(self) -> dict | None:
        """Read a frame; None if the other side has closed. Raises ValueError for no JSON."""
        head = self.reader.read(4)
        if len(head) < 4:
            return None
        (length,) = struct.unpack(">I", head)
        if length > MAX_FRAME:
            raise ProtocolError(f"a frame of {length} bytes; {MAX_FRAME} are allowed")
        body = self.reader.read(length)
        return json.loads(body.decode("ascii")) if len(body) == length else None


def clean(text: str) -> str:
    """The text without lone surrogates, which no file could be written with."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
