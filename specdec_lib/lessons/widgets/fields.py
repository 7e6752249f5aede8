"""Checks of a simulator's state: each takes a field's name and a value, and gives the plain value.

ValueError, naming the field, for what no slider can show.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

Field = Callable[[str, Any], Any]


def number(low: float, high: float) -> Field:
    """A number from `low` to `high`, as a float."""

    def check(name: str, value: Any) -> float:
        found = math.nan if isinstance(value, str) else float(value)
        if not low <= found <= high:
            raise ValueError(f"{name} is {value!r}: give a number from {low:g} to {high:g}")
        return found

    return check


probability = number(0.0, 1.0)


def whole(low: int, high: int) -> Field:
    """A whole number from `low` to `high`, as an int; 3.0 is one."""

    def check(name: str, value: Any) -> int:
        found = number(low, high)(name, value)
        if not found.is_integer():
            raise ValueError(f"{name} is {value!r}: give a whole number from {low} to {high}")
        return int(found)

    return check


def probabilities(name: str, values: Iterable[Any]) -> list[float]:
    """Each of them a float in [0, 1]."""
    return [probability(f"{name}[{i}]", value) for i, value in enumerate(values)]


def distribution(size: int) -> Field:
    """`size` probabilities that sum to 1 (within 1e-9)."""

    def check(name: str, values: Iterable[Any]) -> list[float]:
        numbers = probabilities(name, values)
        if len(numbers) != size or abs(math.fsum(numbers) - 1.0) > 1e-9:
            raise ValueError(f"{name} is {numbers}: give {size} probabilities that sum to 1")
        return numbers

    return check


def one_of(*values: Any) -> Field:
    """One of `values`."""

    def check(name: str, value: Any) -> Any:
        if value not in values:
            raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(str, values))}")
        return value

    return check


def blocks(name: str, value: Iterable[Any]) -> list[dict[str, Any]]:
    """Recorded blocks: texts of draft tokens, p and q of each, and the target's own token.

    Beside them stand the coins `r`, or how many were `accepted`.
    """
    made = [_block(f"{name}[{i}]", block) for i, block in enumerate(value)]
    if not made:
        raise ValueError(f"{name} is empty: give at least one block")
    return made


def _block(name: str, block: dict[str, Any]) -> dict[str, Any]:
    drafted = list(block["drafted"])
    numbers = {key: probabilities(f"{name}.{key}", block[key]) for key in "pqr" if key in block}
    wrong = [key for key, row in numbers.items() if len(row) != len(drafted)]
    if wrong:
        raise ValueError(f"{name} has {len(drafted)} draft tokens: give as many {wrong[0]}")
    accepted = whole(0, len(drafted))(f"{name}.accepted", block.get("accepted", 0))
    return {**numbers, "drafted": drafted, "accepted": accepted, "token": str(block["token"])}
