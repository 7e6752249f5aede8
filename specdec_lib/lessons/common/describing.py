"""Values and calls as text: in messages as short as they may be, in calls as they can be pasted."""

import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from specdec_lib.lessons.common.kinds import ARRAYS, BOOLS, FLOATS, INTS, is_tensor

MOST_SHOWN = 2000  # characters of one value in a message; a student's may have millions
ENTRIES = 12  # numbers of an array that a message shows
PASTED = 36  # numbers of an array that a call shows
DIGITS = (5, 8, 12, None)  # significant digits, as many as tell two numbers apart; None: all


def type_name(value: Any) -> str:
    """The type of `value` with its article: "a list", "an array", "None"."""
    name = getattr(value, "type_in_student_code", type(value).__name__)
    if value is None:
        return "None"
    if isinstance(value, ARRAYS):
        return "an array"
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def told_apart(one: Any, other: Any) -> tuple[str, str]:
    """Both values as text, with as many digits as are needed to see where they differ."""
    texts = [(describe(one, digits), describe(other, digits)) for digits in DIGITS]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def describe(value: Any, digits: int | None = DIGITS[0]) -> str:
    """`value` as a student would write it, with at most so many significant digits.

    What is longer than `MOST_SHOWN` characters is cut there, before the rest of it is written.
    """
    text = ""
    for piece in _pieces(value, digits):
        text += piece
        if len(text) > MOST_SHOWN:
            return text[:MOST_SHOWN] + " ..."
    return text


def _pieces(value: Any, digits: int | None) -> Iterator[str]:
    """The text of `value`, in pieces of which none is long."""
    if isinstance(value, ARRAYS):
        shown = 0 < value.size <= ENTRIES
        whole = f"an array of shape {value.shape}"
        yield from _pieces(value.tolist(), digits) if shown else [whole]
    elif is_tensor(value):
        shown = 0 < value.numel() <= ENTRIES
        whole = f"a tensor of shape {tuple(value.shape)}"
        yield f"tensor({describe(value.tolist(), digits)})" if shown else whole
    elif isinstance(value, list | tuple | dict) and len(value) <= 40:
        yield from _items(value, digits)
    elif isinstance(value, BOOLS):
        yield str(bool(value))
    elif isinstance(value, types.FunctionType | types.MethodType):
        yield value.__name__
    else:
        yield _number(value, digits) if isinstance(value, FLOATS) else shortened(value)


def _number(value: float, digits: int | None) -> str:
    return f"{value:.{digits}g}" if digits else repr(float(value))


def _items(value: list | tuple | dict, digits: int | None) -> Iterator[str]:
    """The pieces of a list, a tuple or a dict."""
    if isinstance(value, dict):
        brackets, items = "{}", [(f"{shortened(key)}: ", item) for key, item in value.items()]
    else:
        brackets, items = "()" if isinstance(value, tuple) else "[]", [("", item) for item in value]
    yield brackets[0]
    for i, (name, item) in enumerate(items):
        yield f"{', ' * bool(i)}{name}"
        yield from _pieces(item, digits)
    yield ",)" if brackets == "()" and len(value) == 1 else brackets[1]


def shortened(value: Any, most: int = 200) -> str:
    """`repr` of a value, the same in every run, and cut if it is longer than `most`."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return text if len(text) <= most else text[:most] + " ..."


def as_code(value: Any) -> str:
    """`value` as it can be pasted into a notebook; an array of many numbers by its shape."""
    if isinstance(value, ARRAYS) and 0 < value.size <= PASTED:
        other = "" if value.dtype.name in ("float64", "int64", "bool") else value.dtype.name
        dtype = f", dtype=np.{other}" if other else ""
        return f"np.array({_numbers(value.tolist(), 'np')}{dtype})"
    if isinstance(value, ARRAYS) and value.size == 0:
        return f"np.zeros({value.shape})" if value.ndim > 1 else "np.array([])"
    if is_tensor(value) and value.numel() <= PASTED:
        usual = str(value.dtype) in ("torch.float32", "torch.int64", "torch.bool")
        numbers = _numbers(value.tolist(), "torch")
        return f"torch.tensor({numbers}{'' if usual else f', dtype={value.dtype}'})"
    if isinstance(value, BOOLS + INTS + FLOATS):
        return _numbers(getattr(value, "item", lambda: value)(), "np")
    return describe(value, DIGITS[-1])


def _numbers(value: Any, module: str) -> str:
    """Numbers as code, with the names that `module` has for nan and infinity."""
    return re.sub(r"\b(nan|inf)\b", rf"{module}.\1", repr(value))


def format_call(function: Callable, args: tuple) -> str:
    """The call as code, with the parameters' names: `f(p=np.array([0.5, 0.5]), token=1)`."""
    names = parameter_names(function)
    named = [
        f"{names[i]}={as_code(arg)}" if i < len(names) else as_code(arg)
        for i, arg in enumerate(args)
    ]
    return f"{name_of(function)}({', '.join(named)})"


def brief_call(function: Callable, args: tuple) -> str:
    """The call as a check prints it: `f([0.5, 0.5], 1)`; what is long stands there by its name."""
    names, digits = parameter_names(function) + [""] * len(args), _digits_that_tell_apart(args)
    texts = (_brief(arg, name, digits) for arg, name in zip(args, names, strict=False))
    return f"{name_of(function)}({', '.join(texts)})"


def _digits_that_tell_apart(args: tuple) -> int | None:
    """As many digits as arrays need that differ, so that they are not written the same."""
    arrays = [arg for arg in args if isinstance(arg, ARRAYS)]
    different = len({str(arg.tolist()) for arg in arrays})
    told = (d for d in DIGITS if len({describe(arg, d) for arg in arrays}) == different)
    return next(told, DIGITS[0])


def _brief(value: Any, name: str, digits: int | None) -> str:
    """`value` as text, or its parameter's name for rows of numbers and for a long text."""
    shape, text = getattr(value, "shape", (1,)), describe(value, digits)
    return name if name and (len(shape) > 1 or 0 in shape or len(text) > 60) else text


def name_of(function: Callable) -> str:
    """The function's name, whatever it is."""
    return getattr(function, "__name__", "function")


def parameter_names(function: Callable) -> list[str]:
    """The names of the function's parameters, in order; none if it tells none."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
