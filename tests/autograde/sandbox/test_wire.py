"""The data-only protocol: what crosses, what does not, and what breaks it."""

import json
import random

import numpy as np
import pytest

from autograde.sandbox.inside.wire import (
    MALFORMED,
    Opaque,
    ProtocolError,
    decode_value,
    encode_value,
)


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -3, 2.5, "text", [], [1, [2.0, "x"]], (1, True), {"a": (0,)}, np.inf, np.nan],
)
def test_plain_values_cross_with_their_types(value: object):
    back = decode_value(json.loads(json.dumps(encode_value(value))))
    assert repr(back) == repr(value) and type(back) is type(value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool", ">f8"])
@pytest.mark.parametrize("shape", [(0,), (2, 3), (0, 4)])
def test_arrays_cross(dtype: str, shape: tuple):
    back = decode_value(encode_value(np.ones(shape, dtype)))
    assert back.dtype == np.dtype(dtype).newbyteorder("=") and back.shape == shape and back.all()


def test_everything_else_is_opaque():
    odd = [{1: 2}, {1, 2}, object(), lambda: 0, 2**70, b"bytes", np.zeros(2, "O")]
    assert all(isinstance(decode_value(encode_value(value)), Opaque) for value in odd)
    endless: list = []
    endless.append(endless)
    value = decode_value(encode_value(endless))
    while isinstance(value, list):
        (value,) = value
    assert isinstance(value, Opaque)


@pytest.mark.parametrize("shape", [(10**7, 0), (0, 10**7), (10**5, 0, 10**5)])
def test_an_empty_array_of_many_rows_is_refused(shape: tuple):
    """It is short here, and takes the memory of its rows as soon as it becomes a list."""
    with pytest.raises(ProtocolError, match="an array of more than"):
        decode_value(encode_value(np.zeros(shape)))


ATOMS = (None, True, 0, -1, 2**70, 1.5, "", "a", "nan", "float64", "AAAA")
TAGS = ("l", "t", "d", "f", "x", "a", "s", "h", "q")


def junk(rng: random.Random, depth: int = 0) -> object:
    """Something of JSON's types, often close to what `encode_value` makes."""
    if depth > 4 or rng.random() < 0.3:
        return rng.choice(ATOMS)
    items = [junk(rng, depth + 1) for _ in range(rng.randrange(4))]
    return rng.choice([items, {rng.choice(TAGS): items}, {rng.choice(TAGS): junk(rng, depth + 1)}])


def test_junk_is_decoded_or_refused_and_nothing_else():
    rng = random.Random(7)
    refused = 0
    for _ in range(5_000):
        try:
            decode_value(junk(rng))
        except MALFORMED:
            refused += 1
    assert 500 < refused < 5_000
