"""Checks of single calls and of words: the visible checks and the hidden tests share them."""
from functools import partial
from typing import Any

import numpy as np


def is_close(got: Any, expected: Any) -> bool:
    """Whether two values are one: numbers to 1e-9 or their own rounding, all rows alike."""
    one, other = _numbers(got), _numbers(expected)
    if one is not None and other is not None:
        rounding = 32 * max(map(_rounding, (one, other)))
        near = partial(np.allclose, rtol=rounding, atol=1e-9, equal_nan=True)
        return one.shape == other.shape and near(one, other)  # NumPy would repeat a short one
    if isinstance(got, dict) and isinstance(expected, dict):
        return got.keys() == expected.keys() and all(is_close(got[k], expected[k]) for k in got)
    if isinstance(got, list | tuple) and isinstance(expected, list | tuple):
        return len(got) == len(expected) and all(map(is_close, got, expected))
    return type(got) is type(expected) and bool(got == expected)


def kinds_in(value: Any) -> set[str]:
    """The kinds of numbers in a value: NumPy's letters for truth values, whole ones and floats."""
    if isinstance(value, list | tuple | dict):
        parts = value.values() if isinstance(value, dict) else value
        return set().union(*map(kinds_in, parts))
    numbers = _numbers(value)
    return set() if numbers is None else {numbers.dtype.kind}


def _numbers(value: Any) -> np.ndarray | None:
    """A number, numbers in a row or a tensor as an array; None for anything else."""
    if type(value).__name__ == "Tensor":
        value = value.detach()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value  # NumPy has none
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    return array if array.dtype.kind in "biufc" else None


def _rounding(numbers: np.ndarray) -> float:
    """Of floats: two processes may add float32 up in another order.

    A narrower type gets no more room than float32: an answer must not choose how rough it may be.
    """
    narrowest = np.finfo(np.float32).eps
    return float(min(np.finfo(numbers.dtype).eps, narrowest)) if numbers.dtype.kind in "fc" else 0.0


def same(one, other):
    return is_close(one, other) and kinds_in(one) == kinds_in(other)
