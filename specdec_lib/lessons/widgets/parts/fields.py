"""Checks of a simulator's state: each takes a field's name and a value, and gives the plain value.

ValueError, naming the field, for what the simulator cannot show.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

Field = Callable[[str, Any], Any]


def number(low: float, high: float) -> Field:
    """A number from `low` to `high`, as a float."""

    def check(name: str, value: Any) -> float:
        found = _float(name, value)
        if not low <= found <= high:
            raise ValueError(f"{name} is {found:g}: this simulator takes {low:g} to {high:g}")
        return found

    return check


def whole(low: int, high: int) -> Field:
    """A whole number from `low` to `high`, as an int; 3.0 is one, True is none."""

    def check(name: str, value: Any) -> int:
        found = math.nan if isinstance(value, bool) else _float(name, value)
        if not found.is_integer() or not low <= found <= high:
            raise ValueError(f"{name} is {value!r}: give a whole number from {low} to {high}")
        return int(found)

    return check


def probability(name: str, value: Any) -> float:
    """A float in [0, 1]."""
    found = _float(name, value)
    if not 0.0 <= found <= 1.0:
        raise ValueError(f"{name} is {found}: a probability lies between 0 and 1")
    return found


def _float(name: str, value: Any) -> float:
    try:
        if not isinstance(value, str):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} is {value!r}, which is not a number")


def distribution(size: int) -> Field:
    """`size` probabilities that sum to 1 (within 1e-9)."""

    def check(name: str, values: Iterable[Any]) -> list[float]:
        try:
            numbers = [probability(f"{name}[{i}]", value) for i, value in enumerate(values)]
        except TypeError:
            raise ValueError(f"{name} is {values!r}: give {size} probabilities") from None
        if len(numbers) != size:
            raise ValueError(
                f"{name} has {len(numbers)} probabilities; this simulator shows {size}"
            )
        if abs(math.fsum(numbers) - 1.0) > 1e-9:
            raise ValueError(f"{name} sums to {math.fsum(numbers):.6g}: a distribution sums to 1")
        return numbers

    return check


def one_of(*values: Any) -> Field:
    """One of `values`."""

    def check(name: str, value: Any) -> Any:
        if value not in values:
            raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(str, values))}")
        return value

    return check


def text(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r}, which is not a text")
    return value


def unchecked(name: str, value: Any) -> Any:
    """Plain data that only this package makes."""
    return value
