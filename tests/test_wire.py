"""The data-only protocol: what crosses, what does not, and what breaks it."""

import json
import socket
import struct
import time

import numpy as np
import pytest

from autograde.sandbox.inside import wire
from autograde.sandbox.inside.wire import Opaque, ProtocolError, decode, encode


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -3, 2.5, "text", [], [1, [2.0, "x"]], (1, True), [(0, False)], float("inf")],
)
def test_plain_values_cross_with_their_types(value: object):
    back = decode(json.loads(json.dumps(encode(value))))
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (0, 4)])
def test_arrays_cross(dtype: str, shape: tuple):
    array = np.ones(shape, dtype)
    back = decode(encode(array))
    assert back.dtype == array.dtype and back.shape == shape
    assert np.array_equal(back, array)


def test_numpy_scalars_become_pythons():
    assert [type(decode(encode(x))) for x in (np.float64(1), np.int32(1), np.bool_(True))] == [
        float,
        int,
        bool,
    ]


def test_nan_crosses():
    assert np.isnan(decode(encode(float("nan"))))


@pytest.mark.parametrize("value", [{1: 2}, {1, 2}, object(), lambda: 0, 2**70, b"bytes"])
def test_everything_else_is_opaque(value: object):
    back = decode(encode(value))
    assert isinstance(back, Opaque)


def test_always_equal_object_does_not_cross_as_itself():
    class Equal:
        def __eq__(self, other: object) -> bool:
            return True

    assert decode(encode([Equal()])) != [1]


def test_depth_is_bounded():
    value: list = []
    for _ in range(50):
        value = [value]
    assert "Opaque" in repr(type(_innermost(decode(encode(value)))))


def _innermost(value: object) -> object:
    return _innermost(value[0]) if isinstance(value, list) and value else value


@pytest.mark.parametrize(
    "data",
    [
        {"l": 1},
        {"q": []},
        {"f": "1e9"},
        {"a": ["object", [1], ""]},
        {"a": ["float64", [3], "AAAA"]},
        {"a": ["float64", [-1], ""]},
        {"a": []},
        {"l": [], "t": []},
        [1],
    ],
)
def test_unknown_forms_are_refused(data: object):
    with pytest.raises(ProtocolError):
        decode(data)


@pytest.fixture
def link():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_dictionaries_cross_in_their_order():
    value = {"b": 0.5, "a": [1, {"c": np.arange(2)}]}
    crossed = wire.decode(wire.encode(value))
    assert list(crossed) == ["b", "a"] and crossed["a"][1]["c"].tolist() == [0, 1]


@pytest.mark.parametrize("body", [[["a"]], [[1, 2]], "ab", [["a", 1, 2]]])
def test_what_is_no_dictionary_is_refused(body: object):
    with pytest.raises(wire.ProtocolError):
        wire.decode({"d": body})


def test_frames_arrive_whole(link: tuple):
    ours, theirs = link
    wire.send(ours, {"do": "x" * 10_000})
    assert wire.receive(theirs)["do"] == "x" * 10_000
    ours.close()
    assert wire.receive(theirs) is None


@pytest.mark.parametrize("body", [b"not json", b"[1]", b"[" * 100_000])
def test_bad_frames_are_refused(link: tuple, body: bytes):
    ours, theirs = link
    ours.sendall(struct.pack(">I", len(body)) + body)
    with pytest.raises(ProtocolError):
        wire.receive(theirs)


def test_frame_too_long_is_refused_before_it_is_read(link: tuple):
    ours, theirs = link
    ours.sendall(struct.pack(">I", 2**31))
    with pytest.raises(ProtocolError, match="allowed"):
        wire.receive(theirs)


def test_deadline_holds_for_the_whole_frame(link: tuple):
    ours, theirs = link
    ours.sendall(struct.pack(">I", 100) + b"{")
    with pytest.raises(TimeoutError):
        wire.receive(theirs, time.monotonic() + 0.05)


def test_changed_arguments_are_found():
    before = (np.ones(2), [1], 3)
    assert wire.changed(before, (np.ones(2), [1], 3)) == []
    assert wire.changed(before, (np.zeros(2), [1], 3)) == [0]
    assert wire.changed(before, (np.ones(2), (1,), 3)) == [1]
