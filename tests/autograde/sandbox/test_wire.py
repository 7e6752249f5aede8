"""The data-only protocol: what crosses, what does not, and what breaks it."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


# Something of JSON's types, often close to what `encode_value` makes.
JUNK = st.recursive(
    st.sampled_from(ATOMS),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(TAGS), below, min_size=1, max_size=1)
    ),
)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None, derandomize=True)
@given(JUNK)
def test_junk_is_decoded_or_refused_and_nothing_else(value: object):
    with suppress(*MALFORMED):
        decode_value(value)
