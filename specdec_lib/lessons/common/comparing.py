"""Whether a value is as good as the expected one; if it is not, what to say of its type."""

from typing import Any

import numpy as np

from specdec_lib.lessons.common.describing import ENTRIES, describe, told_apart, type_name
from specdec_lib.lessons.common.kinds import ARRAYS, BOOLS, FLOATS, INTS, as_array, is_tensor

#: How far a number may be off: from its absolute value, and from nothing.
EXACT = (0.0, 1e-9)
ROUGH = (1e-6, 1e-7)  # what float32 leaves of a number
MOST_ROWS = 10_000  # of an array that is taken for a list


def difference(got: Any, expected: Any, form: bool = True) -> str | None:
    """None if `got` is as good as `expected`; else a remark on its type, or an empty text.

    Without `form` only the values count: a tuple or an array is as good as a list, an array of
    floats or of float32 as good as one of whole numbers or of float64.
    """
    room = EXACT if form else ROUGH
    return _difference(got if form else in_form_of(expected, got), expected, room)


def _difference(got: Any, expected: Any, room: tuple[float, float]) -> str | None:
    if isinstance(got, ARRAYS) and got.shape == () and not isinstance(expected, ARRAYS):
        got = got[()]  # np.where and its kind give one number this way
    if isinstance(expected, BOOLS):
        return _scalar(got, expected, BOOLS, "True or False", room)
    if isinstance(expected, INTS):
        return _scalar(got, expected, INTS, "a whole number", room)
    if isinstance(expected, float):
        return _scalar(got, expected, INTS + FLOATS, "a number", room)
    if isinstance(expected, ARRAYS):
        return _array(got, expected, room)
    if is_tensor(expected):
        return _tensor(got, expected, room)
    return _sequence(got, expected, room)


def _scalar(got: Any, expected: Any, kinds: tuple, what: str, room: tuple) -> str | None:
    is_bool = isinstance(got, BOOLS)
    if not isinstance(got, kinds) or (is_bool and bool not in kinds):
        return f" (it should be {what}, not {type_name(got)})"
    room = EXACT if kinds is INTS else room  # what is counted is not rounded
    near = room[0] * abs(float(expected)) + room[1]
    return None if got == expected or abs(float(got) - float(expected)) <= near else ""


def _array(got: Any, expected: np.ndarray, room: tuple) -> str | None:
    if not isinstance(got, ARRAYS):
        return f" (it should be a NumPy array, not {type_name(got)})"
    if got.shape != expected.shape:
        return f" (its shape is {got.shape}, it should be {expected.shape})"
    if got.dtype.kind not in "biuf":
        return f" (its dtype is {got.dtype}, it should hold numbers)"
    if not far_off(got, expected, room).any():
        return None
    narrow = got.dtype.kind == "f" and got.dtype.itemsize < 8
    if narrow and not far_off(got, expected, ROUGH).any():
        return f" (its dtype is {got.dtype}; calculate in float64)"
    return ""


def far_off(got: np.ndarray, expected: np.ndarray, room: tuple = EXACT) -> np.ndarray:
    """Where two arrays of one shape differ by more than `room`: booleans of that shape."""
    with np.errstate(invalid="ignore"):  # inf from inf
        apart = np.abs(np.subtract(got, expected, dtype=float))  # of booleans, too
    return ~((apart <= room[0] * np.abs(expected) + room[1]) | (got == expected))


def _tensor(got: Any, expected: Any, room: tuple) -> str | None:
    if not is_tensor(got):
        return _sequence(got, expected, room)
    if room == EXACT and got.dtype != expected.dtype:
        return f" (its dtype is {got.dtype}, it should be {expected.dtype})"
    return _array(as_array(got), as_array(expected), room)


def _sequence(got: Any, expected: Any, room: tuple) -> str | None:
    if type(got) is not type(expected):
        return f" (it should be {type_name(expected)}, not {type_name(got)})"
    if isinstance(expected, dict):
        return _entries(got, expected, room)
    if not isinstance(expected, list | tuple):
        return None if got == expected else ""
    if len(got) != len(expected):
        return ""
    remarks = [_difference(g, e, room) for g, e in zip(got, expected, strict=True)]
    return next((remark for remark in remarks if remark is not None), None)


def _entries(got: dict, expected: dict, room: tuple) -> str | None:
    """The difference of two dictionaries, whatever the order of their keys."""
    if got.keys() != expected.keys():
        keys = describe(list(got)), describe(list(expected))
        return f" (its keys are {keys[0]}, they should be {keys[1]})"
    return _sequence([got[key] for key in expected], list(expected.values()), room)


def in_form_of(expected: Any, got: Any) -> Any:
    """`got` in the container and of the kind of number that `expected` has.

    It comes back as it is where its values do not fit: 1.5 is no whole number, and an array of
    more than MOST_ROWS is no such list. Each of its rows would take more room than its numbers.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        return {key: in_form_of(expected.get(key), item) for key, item in got.items()}
    if is_tensor(got) and not is_tensor(expected):
        got = as_array(got)
    if isinstance(expected, ARRAYS) and isinstance(got, list | tuple):
        return _as_numbers(got)
    if is_tensor(expected) and isinstance(got, (list, tuple, *ARRAYS)):
        return _like_tensor(expected, _as_numbers(got))
    if isinstance(expected, list | tuple) and isinstance(got, (list, tuple, *ARRAYS)):
        if isinstance(got, ARRAYS) and got.ndim and len(got) > MOST_ROWS:
            return got
        return _items_in_form(expected, list(got) if getattr(got, "ndim", 1) else [got])
    return _number_in_form(expected, got)


def _as_numbers(got: Any) -> Any:
    """Nested lists as an array; as they are, if they are no rows of numbers of one length."""
    try:
        return np.asarray(got)
    except ValueError:
        return got


def _like_tensor(expected: Any, got: Any) -> Any:
    numbers = isinstance(got, ARRAYS) and got.dtype.kind in "biuf"
    # Flat, since of an array without columns a list of its rows could be of any length.
    return expected.new_tensor(got.ravel().tolist()).reshape(got.shape) if numbers else got


def _items_in_form(expected: list | tuple, got: list) -> list | tuple:
    """The items in a list or a tuple, each in the form of its counterpart, if it has one."""
    pairs = zip(expected, got, strict=False)
    return type(expected)([*(in_form_of(e, g) for e, g in pairs), *got[len(expected) :]])


def _number_in_form(expected: Any, got: Any) -> Any:
    """0 and 1 as a bool, a whole float or a bool as an int, an array of one number as that."""
    if isinstance(got, ARRAYS) and got.size == 1 and isinstance(expected, BOOLS + INTS + FLOATS):
        got = got.reshape(-1)[0]
    if not isinstance(got, BOOLS + INTS + FLOATS):
        return got
    if isinstance(expected, BOOLS):
        return bool(got) if got in (0, 1) else got
    if isinstance(expected, INTS + FLOATS) and isinstance(got, BOOLS):
        return int(got)
    return int(got) if isinstance(expected, INTS) and got == int_or_none(got) else got


def int_or_none(number: Any) -> int | None:
    """The whole number nearest to 0 from `number`; None for nan and infinities."""
    try:
        return int(number)
    except (ValueError, OverflowError):
        return None


def differing_place(got: Any, gives: Any, form: bool = True) -> str | None:
    """The first row of a table (..., V) that is not as expected, or entry of a long array.

    In words; None if `got` is short, right, or of another shape. Of a tuple it is the place in its
    first wrong part.
    """
    if isinstance(gives, tuple) and type(got) is tuple and len(got) == len(gives):
        pairs = zip(got, gives, strict=True)
        wrong = (pair for pair in pairs if difference(*pair, form) is not None)
        return next((differing_place(*pair, form) for pair in wrong), None)
    if not isinstance(gives, ARRAYS) and not is_tensor(gives):
        return None
    kind = "a tensor" if is_tensor(gives) else "an array"
    if not form:
        got = in_form_of(gives, got)
    if difference(got, gives, form) != "":  # of another type or shape, or right
        return None
    got, gives = (as_array(each) if is_tensor(each) else each for each in (got, gives))
    return _place_in_array(kind, got, gives, EXACT if form else ROUGH)


def _place_in_array(kind: str, got: Any, gives: Any, room: tuple[float, float]) -> str | None:
    """The first wrong row, or the first wrong entry if the rows are long, in words."""
    in_rows = gives.ndim > 1 and gives.shape[-1] <= ENTRIES
    if gives.ndim == 0 or (gives.ndim == 1 and gives.size <= ENTRIES):
        return None
    place = tuple(map(int, np.argwhere(far_off(got, gives, room))[0]))
    place = place[:-1] if in_rows else place
    texts = told_apart(got[place].tolist(), gives[place].tolist())
    at = place[0] if len(place) == 1 else place
    return f"{kind} whose {'row' if in_rows else 'entry'} {at} is {texts[0]}, expected {texts[1]}"
