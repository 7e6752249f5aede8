"""Values as short text; pasting.py has calls and code."""

import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from .kinds import ARRAYS, BOOLS, FLOATS, is_tensor

MAX_SHOWN = 2000  # characters of one value in a message; a student's may have millions
MAX_ENTRIES = 12  # numbers of an array that a message shows
_DIGITS = (5, 8, 12, None)  # significant digits, as many as tell two numbers apart; None: all


def type_name(value: Any) -> str:
    """The type of `value` with its article: "a list", "an array", "None"."""
    if value is None:
        return "None"
    if isinstance(value, ARRAYS):
        return "an array"
    name = getattr(value, "type_in_student_code", type(value).__name__)
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def distinct_texts(one: Any, other: Any) -> tuple[str, str]:
    """Both values as text, with as many digits as are needed to see where they differ."""
    texts = [(describe(one, digits), describe(other, digits)) for digits in _DIGITS]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def describe(value: Any, digits: int | None = _DIGITS[0]) -> str:
    """`value` as a student would write it, with at most so many significant digits.

    What is longer than `MAX_SHOWN` characters is cut there, before the rest of it is written.
    """
    text = ""
    for piece in _pieces(value, digits):
        text += piece
        if len(text) > MAX_SHOWN:
            return text[:MAX_SHOWN] + " ..."
    return text


def _pieces(value: Any, digits: int | None) -> Iterator[str]:
    """The text of `value`, in pieces of which none is long."""
    if isinstance(value, ARRAYS) or is_tensor(value):
        yield _table(value, digits)
    elif isinstance(value, list | tuple | dict) and len(value) <= 40:
        yield from _items(value, digits)
    elif isinstance(value, BOOLS):
        yield str(bool(value))
    elif isinstance(value, FLOATS):
        yield f"{value:.{digits}g}" if digits else repr(float(value))
    elif isinstance(value, types.FunctionType | types.MethodType):
        yield value.__name__
    else:
        yield short_repr(value)


def _table(value: Any, digits: int | None) -> str:
    """An array or a tensor: its few numbers, or its shape."""
    kind = "tensor" if is_tensor(value) else "array"
    if is_shown_by_shape(value):
        return f"{'an' if kind == 'array' else 'a'} {kind} of shape {tuple(value.shape)}"
    numbers = describe(value.tolist(), digits)
    return numbers if kind == "array" else f"tensor({numbers})"


def is_shown_by_shape(value: Any) -> bool:
    """Whether an array or a tensor has no numbers, or more than a message shows."""
    return 0 in value.shape or len(value.reshape(-1)) > MAX_ENTRIES


def _items(value: list | tuple | dict, digits: int | None) -> Iterator[str]:
    """The pieces of a list, a tuple or a dict."""
    if isinstance(value, dict):
        brackets = "{}"
        items = [(f"{short_repr(key)}: ", item) for key, item in value.items()]
    else:
        brackets = "()" if isinstance(value, tuple) else "[]"
        items = [("", item) for item in value]
    yield brackets[0]
    for i, (name, item) in enumerate(items):
        yield f", {name}" if i else name
        yield from _pieces(item, digits)
    yield ",)" if brackets == "()" and len(value) == 1 else brackets[1]


def short_repr(value: Any) -> str:
    """`repr` of a value, the same in every run, and cut after 200 characters."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return text if len(text) <= 200 else text[:200] + " ..."


def function_name(function: Callable) -> str:
    """The function's name; "function" if it has none."""
    return getattr(function, "__name__", "function")


def parameter_names(function: Callable) -> list[str]:
    """The names by which the function takes its arguments, in order; none if one has no name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    nameless = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}
    if any(parameter.kind in nameless for parameter in parameters):
        return []
    return [parameter.name for parameter in parameters]
