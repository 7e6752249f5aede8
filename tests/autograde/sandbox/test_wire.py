"""The data-only protocol: what crosses, what does not, and what breaks it."""

import contextlib
import json
import random
import socket
import struct
import threading
import time

import numpy as np
import pytest

from autograde.sandbox.inside import wire
from autograde.sandbox.inside.wire import Opaque, ProtocolError, decode, encode


class Equal:
    """Equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -3, 2.5, "text", [], [1, [2.0, "x"]], (1, True), [(0, False)], np.inf, np.nan],
)
def test_plain_values_cross_with_their_types(value: object):
    back = decode(json.loads(json.dumps(encode(value))))
    assert repr(back) == repr(value) and type(back) is type(value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (0, 4)])
def test_arrays_cross(dtype: str, shape: tuple):
    array = np.ones(shape, dtype)
    back = decode(encode(array))
    assert back.dtype == array.dtype and back.shape == shape
    assert np.array_equal(back, array)


@pytest.mark.parametrize("dtype", ["U3", "M8[s]", "O", "complex128", "f8,i4", "longdouble"])
def test_other_arrays_are_opaque(dtype: str):
    assert isinstance(decode(encode(np.zeros(2, dtype))), Opaque)


@pytest.mark.parametrize("value", [{1: 2}, {1, 2}, object(), lambda: 0, 2**70, b"bytes", Equal()])
def test_everything_else_is_opaque(value: object):
    assert isinstance(decode(encode(value)), Opaque)


def test_depth_is_bounded():
    value: list = []
    for _ in range(50):
        value = [value]
    value = decode(encode(value))
    while isinstance(value, list):
        (value,) = value
    assert isinstance(value, Opaque)


def test_changed_arguments_are_named():
    sent = [wire.encode(arg) for arg in (np.ones(2), [1], 3)]
    assert wire.changed(sent, (np.ones(2), [1], 3)) == []
    assert wire.changed(sent, (np.zeros(2), [1], 3)) == [0]
    assert wire.changed([wire.encode(np.float64(1))], (np.float64(1),)) == []
    for other in ((1,), [1.0], [True], [2]):
        assert wire.changed(sent, (np.ones(2), other, 3)) == [1]


@pytest.fixture
def link():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


@pytest.mark.parametrize(
    "body",
    [
        b'{"value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"value": ' + b"9" * 10_000 + b"}",
        b"[" * 100_000,
        b"[1]",
        b"not json",
        b"\xff\xfe",
        b"",
    ],
)
def test_a_body_that_is_not_one_plain_object_is_refused(body: bytes, link: tuple):
    ours, theirs = link
    theirs.sendall(framed(body))
    with pytest.raises(ProtocolError):
        wire.receive(ours)


def test_frame_too_long_is_refused_before_it_is_read(link: tuple):
    ours, theirs = link
    ours.sendall(struct.pack(">I", 2**31))
    with pytest.raises(ProtocolError, match="allowed"):
        wire.receive(theirs)


def test_a_byte_now_and_then_does_not_outlast_the_deadline(link: tuple):
    """Also if every byte comes before the last moment's wait is over."""
    ours, theirs = link
    stop = threading.Event()

    def drip() -> None:
        theirs.sendall(struct.pack(">I", 10**6))
        with contextlib.suppress(OSError):
            while not stop.is_set():
                theirs.send(b" ")
                time.sleep(0.0002)

    thread = threading.Thread(target=drip)
    thread.start()
    start = time.monotonic()
    try:
        with pytest.raises(TimeoutError):
            wire.receive(ours, start + 0.2)
        assert time.monotonic() - start < 2
    finally:
        stop.set()
        ours.close()
        thread.join()


ATOMS = (None, True, 0, -1, 2**70, 1.5, "", "a", "nan", "float64", "AAAA")
TAGS = ("l", "t", "d", "f", "x", "a", "s", "h", "q")


def junk(rng: random.Random, depth: int = 0) -> object:
    """Something of JSON's types, often close to what `encode` makes."""
    if depth > 4 or rng.random() < 0.3:
        return rng.choice(ATOMS)
    items = [junk(rng, depth + 1) for _ in range(rng.randrange(4))]
    return rng.choice([items, {rng.choice(TAGS): items}, {rng.choice(TAGS): junk(rng, depth + 1)}])


def test_junk_is_decoded_or_refused_and_nothing_else():
    rng = random.Random(7)
    refused = 0
    for _ in range(20_000):
        data = junk(rng)
        try:
            decode(data)
        except ProtocolError:
            refused += 1
    assert 1000 < refused < 20_000
