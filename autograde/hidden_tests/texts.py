"""What the chapters share whose functions write texts."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograde.hidden_tests.common import Exercise

LONGEST = 1000  # tokens that are noted of a text: no right answer asks with so many


class Asked:
    """A function to lend, which notes what it was asked: that tells wrong answers apart."""

    def __init__(self, function: Callable[[list[int]], Any]) -> None:
        self.function = function
        self.trace: list[list[int]] = []

    def __call__(self, tokens: list[int]) -> Any:
        answer = self.function(tokens)
        self.trace.append(list(tokens)[:LONGEST])
        return answer

    def __repr__(self) -> str:
        return repr(self.function)


def partly(function: Callable, part: Callable) -> Callable:
    """`function`, of whose answers only `part(answer, arguments)` is looked at."""

    @functools.wraps(function)
    def look(*args: Any) -> Any:
        out = function(*args)
        return part(out, args) if isinstance(out, list | tuple | np.ndarray) else out

    return look


class TextExercise(Exercise):
    """Its text counts up to max_new_tokens: the group with `form` asks for the length."""

    def compare(
        self, function: Callable, args: tuple, expected: Any, hint: str, form: bool
    ) -> None:
        seen = function if form else partly(function, lambda text, args: text[: args[4]])
        super().compare(seen, args, expected, hint, form)
