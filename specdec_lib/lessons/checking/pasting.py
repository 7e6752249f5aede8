"""Values and calls as code: a call that a message prints can be pasted into a cell and run again.

What no cell can make stands in angle brackets: `<the target>`, `<an array of shape (8, 9)>`.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .describing import describe, function_name, parameter_names, short_repr, type_name
from .kinds import ARRAYS, BOOLS, FLOATS, INTS, is_tensor, tensor_as_numpy

_MAX_CODE = 400  # characters of one argument
_LINE_LENGTH = 80  # characters of numbers, above which a row that repeats is written once


def format_call(function: Callable, args: tuple) -> str:
    """The call as code, with the parameters' names: `f(p=np.array([0.5, 0.5]), token=1)`."""
    names = [f"{name}=" for name in parameter_names(function)] + [""] * len(args)
    given = map(_given, names, map(as_code, args))
    return f"{function_name(function)}({', '.join(filter(None, given))})"


def brief_call(function: Callable, args: tuple) -> str:
    """The call as a check prints it: `f([0.5, 0.5], 1)`; a long argument by its name."""
    names = parameter_names(function) + [""] * len(args)
    texts = (_brief(arg, name) for arg, name in zip(args, names, strict=False))
    return f"{function_name(function)}({', '.join(texts)})"


def _brief(value: Any, name: str) -> str:
    """`value` as text, or its parameter's name for rows of numbers and for a long text."""
    shape, text = getattr(value, "shape", (1,)), describe(value)
    if "np.log" in (code := as_code(value)):
        text = code
    return name if name and (len(shape) > 1 or 0 in shape or len(text) > 60) else text


def _given(name: str, code: str) -> str:
    """An argument with its name. `*pair` is two arguments, the second of which has no code."""
    return code if not code or code.startswith("*") else name + code


def as_code(value: Any) -> str:
    """`value` as an expression for a notebook; in angle brackets if there is none, or a long one.

    A thing that a lesson lends says by its attribute `code` how a notebook makes it; a proxy has
    it as its attribute `obj`.
    """
    code = getattr(value, "code", getattr(getattr(value, "obj", None), "code", None))
    if isinstance(code, str):
        return code
    code = _plain_code(value)
    if code is None:
        text = describe(value) if callable(value) else short_repr(value)
        return text if text.startswith("<") else f"<{text}>"
    if len(code) <= _MAX_CODE:
        return code
    shape = f"shape {tuple(value.shape)}" if hasattr(value, "shape") else f"length {len(value)}"
    return f"<{type_name(value)} of {shape}>"


def _plain_code(value: Any) -> str | None:
    """Plain data as an expression, however long; None for anything else."""
    if isinstance(value, ARRAYS) or is_tensor(value):
        return _array_code(value)
    if isinstance(value, BOOLS + INTS + FLOATS):
        return _named(repr(getattr(value, "item", lambda: value)()), "np")
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {as_code(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        items = ", ".join(map(as_code, value))
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    return repr(value) if value is None or isinstance(value, str) else None


def _array_code(value: Any) -> str | None:
    """An array or a tensor as an expression; None if it holds no numbers."""
    module, make = ("torch", "tensor") if is_tensor(value) else ("np", "array")
    numbers = tensor_as_numpy(value) if is_tensor(value) else value
    if numbers.dtype.kind not in "biuf":
        return None
    # The dtypes that the numbers tell by themselves; no numbers are floats.
    usual = ["float32" if module == "torch" else "float64", *["int64", "bool"] * bool(numbers.size)]
    name = str(value.dtype).removeprefix("torch.")
    dtype = "" if name in usual else f", dtype={module}.{name}"
    if numbers.ndim > 1 and not numbers.size:
        return f"{module}.zeros({numbers.shape}{dtype})"
    probs = _probabilities(numbers)
    rows, order = _rows_once(numbers if probs is None else probs)
    text = _named(_digits(rows), module)
    if probs is None or make == "tensor" or dtype:
        text = f"{module}.{make}({text}{dtype})"
    return f"{text if probs is None else f'{module}.log({text})'}{order}"


def _rows_once(numbers: np.ndarray) -> tuple[np.ndarray, str]:
    """The rows of what is long and repeats, once, and the index that puts them in their places."""
    place: dict[bytes, int] = {}
    order = [place.setdefault(row.tobytes(), len(place)) for row in np.atleast_1d(numbers)]
    if numbers.ndim < 2 or 4 * len(place) > 3 * len(order) or len(_digits(numbers)) <= _LINE_LENGTH:
        return numbers, ""
    return numbers[[order.index(i) for i in range(len(place))]], f"[{order}]"


def _probabilities(logits: np.ndarray) -> np.ndarray | None:
    """The numbers of at most four digits whose logarithms these are, if they are shorter."""
    if logits.dtype.kind != "f" or not np.isfinite(logits).all():
        return None
    with np.errstate(all="ignore"):
        probs = np.round(np.exp(logits), 4)
        same = np.isclose(np.log(probs), logits, rtol=4 * np.finfo(logits.dtype).eps, atol=0)
    return probs if same.all() and len(_digits(probs)) < len(_digits(logits)) else None


def _digits(numbers: np.ndarray) -> str:
    """Numbers as nested lists, each with as many digits as its dtype needs."""
    return repr(numbers.astype(str).tolist()).replace("'", "")


def _named(numbers: str, module: str) -> str:
    """Numbers as code, with the names that `module` has for nan and infinity."""
    return re.sub(r"\b(nan|inf)\b", rf"{module}.\1", numbers)
