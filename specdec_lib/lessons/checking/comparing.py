"""Whether a value is as good as the expected one; if it is not, what to say of its type."""

import math
from typing import Any

import numpy as np

from .describing import MAX_ENTRIES, describe, distinct_texts, is_shown_by_shape, type_name
from .kinds import ARRAYS, BOOLS, FLOATS, INTS, as_array, is_tensor, tensor_as_numpy

_NUMBER_TYPES = BOOLS + INTS + FLOATS
#: How far a number may be off: relative to its value, and at least.
_EXACT = (0.0, 1e-9)
_ROUGH = (1e-6, 1e-7)  # what float32 leaves of a number
_MAX_LIST_ROWS = 10_000  # an array with more is never made a list
#: Of each kind of expected number: the kinds that are as good, and their name.
_SCALARS = (
    (BOOLS, BOOLS, "True or False"),
    (INTS, INTS, "a whole number"),
    (FLOATS, INTS + FLOATS, "a number"),
)


def difference(got: Any, expected: Any, form: bool = True) -> str | None:
    """None if `got` is as good as `expected`; else a remark on its type, or an empty text.

    Without `form` only the values count: a tuple or an array is as good as a list, an array of
    floats or of float32 as good as one of whole numbers or of float64.
    """
    if form:
        return _difference(got, expected, _EXACT)
    return _difference(coerce_like(expected, got), expected, _ROUGH)


def _difference(got: Any, expected: Any, tolerance: tuple[float, float]) -> str | None:
    if isinstance(got, ARRAYS) and got.shape == () and not isinstance(expected, ARRAYS):
        got = got[()]  # np.where and its kind give one number this way
    for kinds, as_good, what in _SCALARS:
        if isinstance(expected, kinds):
            is_bool = isinstance(got, BOOLS) and kinds is not BOOLS
            if is_bool or not isinstance(got, as_good):
                return f" (it should be {what}, not {type_name(got)})"
            return None if got == expected or _is_near(got, expected, tolerance) else ""
    if is_tensor(expected) and is_tensor(got):
        if tolerance == _EXACT and got.dtype != expected.dtype:
            return f" (its dtype is {got.dtype}, it should be {expected.dtype})"
        return _array(as_array(got), as_array(expected), tolerance)
    if isinstance(expected, ARRAYS):
        return _array(got, expected, tolerance)
    return _collection(got, expected, tolerance)


def _is_near(got: Any, expected: Any, tolerance: tuple[float, float]) -> bool:
    """Whether two numbers are that close; what is counted is never rounded."""
    if isinstance(expected, INTS):
        return False
    try:
        return math.isclose(got, expected, rel_tol=tolerance[0], abs_tol=tolerance[1])
    except OverflowError:  # a whole number that no float can hold
        return False


def _array(got: Any, expected: np.ndarray, tolerance: tuple[float, float]) -> str | None:
    if not isinstance(got, ARRAYS):
        return f" (it should be a NumPy array, not {type_name(got)})"
    if got.shape != expected.shape:
        return _shapes(got, expected)
    if got.dtype.kind not in "biuf":
        return f" (its dtype is {got.dtype}, it should hold numbers)"
    if np.isclose(got, expected, *tolerance).all():
        return None
    narrow = got.dtype.kind == "f" and got.dtype.itemsize < 8
    if narrow and np.isclose(got, expected, *_ROUGH).all():
        return f" (its dtype is {got.dtype}; calculate in float64)"
    return ""


def _shapes(got: np.ndarray, expected: np.ndarray) -> str:
    """Of two shapes what the texts of the arrays leave out: `describe` tells a long one by it."""
    parts = [] if is_shown_by_shape(got) else [f"its shape is {got.shape}"]
    parts += [] if is_shown_by_shape(expected) else [f"it should be {expected.shape}"]
    return f" ({', '.join(parts)})" if parts else ""


def _collection(got: Any, expected: Any, tolerance: tuple[float, float]) -> str | None:
    """The first difference of two lists, tuples or dictionaries; anything else has to be equal."""
    if type(got) is not type(expected):
        return f" (it should be {type_name(expected)}, not {type_name(got)})"
    if not isinstance(expected, list | tuple | dict):
        return None if got == expected else ""
    if isinstance(expected, dict):
        if got.keys() != expected.keys():
            keys = describe(list(got)), describe(list(expected))
            return f" (its keys are {keys[0]}, they should be {keys[1]})"
        got, expected = [got[key] for key in expected], list(expected.values())
    if len(got) != len(expected):
        return ""
    remarks = (_difference(g, e, tolerance) for g, e in zip(got, expected, strict=True))
    return next((remark for remark in remarks if remark is not None), None)


def coerce_like(expected: Any, got: Any) -> Any:
    """`got` in the container and of the kind of number that `expected` has.

    It comes back as it is if its values do not fit: 1.5 is not a whole number. So does an array of
    more than _MAX_LIST_ROWS, since in a list each of its rows takes more room than its numbers.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        return {key: coerce_like(expected.get(key), item) for key, item in got.items()}
    if is_tensor(got) and not is_tensor(expected):
        got = as_array(got)
    if isinstance(expected, ARRAYS) or is_tensor(expected):
        return _coerce_to_array(expected, got)
    if isinstance(expected, list | tuple) and isinstance(got, (list, tuple, *ARRAYS)):
        if isinstance(got, ARRAYS) and got.ndim and len(got) > _MAX_LIST_ROWS:
            return got
        items = list(got) if getattr(got, "ndim", 1) else [got]
        pairs = zip(expected, items, strict=False)
        return type(expected)([*(coerce_like(e, g) for e, g in pairs), *items[len(expected) :]])
    if isinstance(got, ARRAYS) and got.size == 1 and isinstance(expected, _NUMBER_TYPES):
        got = got.reshape(-1)[0]
    return _coerce_number(expected, got) if isinstance(got, _NUMBER_TYPES) else got


def _coerce_to_array(expected: Any, got: Any) -> Any:
    """Nested lists as an array or a tensor; as they are, if their rows differ in length."""
    try:
        numbers = np.asarray(got) if isinstance(got, list | tuple) else got
    except ValueError:
        return got
    if is_tensor(expected) and isinstance(numbers, ARRAYS) and numbers.dtype.kind in "biuf":
        # Flat, since an array without columns can have any number of rows, and so could its list.
        return expected.new_tensor(numbers.ravel().tolist()).reshape(numbers.shape)
    return numbers


def _coerce_number(expected: Any, got: Any) -> Any:
    """0 and 1 as a bool, a whole float or a bool as an int."""
    if isinstance(expected, BOOLS):
        return bool(got) if got in (0, 1) else got
    if isinstance(expected, FLOATS) and isinstance(got, BOOLS):
        return int(got)
    if not isinstance(expected, INTS) or isinstance(got, FLOATS) and not math.isfinite(got):
        return got
    return int(got) if got == int(got) else got


def first_difference(got: Any, gives: Any, form: bool = True) -> str | None:
    """The first row of a table (..., V) that is not as expected, or entry of a long array.

    In words; None if `got` is short, right, or of another shape. Of a tuple it is the place in its
    first wrong part.
    """
    if isinstance(gives, tuple) and type(got) is tuple and len(got) == len(gives):
        pairs = zip(got, gives, strict=True)
        wrong = (pair for pair in pairs if difference(*pair, form) is not None)
        return next((first_difference(*pair, form) for pair in wrong), None)
    kind = "a tensor" if is_tensor(gives) else "an array"
    if kind == "an array" and not isinstance(gives, ARRAYS) or difference(got, gives, form) != "":
        return None  # no numbers, of another type or shape, or right
    got = got if form else coerce_like(gives, got)
    got, gives = (as_array(each) if is_tensor(each) else each for each in (got, gives))
    if got.shape != gives.shape:
        return None
    in_rows = gives.ndim > 1 and gives.shape[-1] <= MAX_ENTRIES
    if gives.ndim == 0 or (gives.ndim == 1 and gives.size <= MAX_ENTRIES):
        return None
    apart = ~np.isclose(got, gives, *(_EXACT if form else _ROUGH))
    place = tuple(map(int, np.argwhere(apart)[0]))
    place = place[:-1] if in_rows else place
    texts = distinct_texts(got[place].tolist(), gives[place].tolist())
    at = place[0] if len(place) == 1 else place
    return f"{kind} whose {'row' if in_rows else 'entry'} {at} is {texts[0]}, expected {texts[1]}"


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are one: equal numbers of equal kinds, and all else equal.

    Numbers agree within 1e-9 or their own rounding, and nan agrees with nan. An array, a tensor, a
    list and a tuple are alike, but 1.0 is not 1, nor is True.
    """
    return is_close(one, other) and _kinds(one) == _kinds(other)


def is_close(one: Any, other: Any) -> bool:
    """Whether two plain values are one, whatever kind their numbers have: 1.0 is 1 here."""
    first, second = _numbers(one), _numbers(other)
    if first is not None and second is not None:
        return _are_close(first, second)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_close(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_close, one, other))
    return type(one) is type(other) and bool(one == other)


def _are_close(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays of one shape agree; np.allclose alone would repeat a short one."""
    if one.shape != other.shape:
        return False
    rounding = max(_rounding(one), _rounding(other))
    return np.allclose(one, other, rtol=rounding, atol=_EXACT[1], equal_nan=True)


def _kinds(value: Any) -> set[str]:
    """The kinds of numbers in a value: NumPy's letters for truth values, whole ones and floats."""
    if isinstance(value, list | tuple | dict):
        parts = value.values() if isinstance(value, dict) else value
        return set().union(*map(_kinds, parts))
    numbers = _numbers(value)
    return set() if numbers is None else {numbers.dtype.kind}


def _numbers(value: Any) -> np.ndarray | None:
    """A number, numbers in a row or a tensor as an array; None for anything else."""
    try:
        array = tensor_as_numpy(value) if is_tensor(value) else np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    return array if array.dtype.kind in "biufc" else None


def _rounding(numbers: np.ndarray) -> float:
    """The relative error of a float that is a sum: two processes may add it up in another order.

    A type narrower than float32 gets no more room: an answer must not choose how rough it may be.
    """
    if numbers.dtype.kind not in "fc":
        return 0.0
    return 32 * float(min(np.finfo(numbers.dtype).eps, np.finfo(np.float32).eps))
