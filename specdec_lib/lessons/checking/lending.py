"""What a lesson lends to a student's function: copies, fixed arrays, and functions that end a loop.

A function that works in place then spoils nothing for the cells below, and a loop that cannot end
is stopped by what it calls.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .kinds import ARRAYS, is_tensor

_MAX_CALLS = 100  # of a `ScriptedRandom`; a loop that asks for 0 numbers would never end


class CallLimitExceeded(RuntimeError):
    """A function went on for longer than any right answer needs, and was ended."""

    def __init__(self, what_happened: str) -> None:
        super().__init__(what_happened)
        self.what_happened = what_happened


def limit_calls(calls: int, function: Callable, name: str = "", why: str = "") -> Callable:
    """`function`, which raises CallLimitExceeded at one call more than `calls`.

    The message says that the student's function called `name`, such as "the target", too often,
    and why it never has to.
    """
    n_calls = 0

    @functools.wraps(function)
    def limited(*args: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        if n_calls > calls:
            times = "once" if calls == 1 else f"{calls} times"
            reason = f": {why}" if why else ""
            raise CallLimitExceeded(f"called {name or function.__name__} more than {times}{reason}")
        return function(*args)

    if hasattr(function, "code"):
        limited.code = f"lesson.limit_calls({calls}, {function.code})"
    return limited


def limit_lines(most: int, function: Callable, why: str) -> Callable:
    """`function`, which raises CallLimitExceeded with `why` where a call runs over `most` lines.

    Lines of Python, library code included: as many on every machine, however busy it is.
    """

    @functools.wraps(function)
    def limited(*args: Any) -> Any:
        lines, before = iter(range(most)), sys.gettrace()

        def watch(*_: object) -> Callable:
            if next(lines, None) is None:
                raise CallLimitExceeded(why)
            return watch

        sys.settrace(watch)
        try:
            return function(*args)
        finally:
            sys.settrace(before)

    return limited


class ScriptedRandom:
    """A generator of random numbers that gives `numbers` in their order.

    `why` ends the message of CallLimitExceeded for those who ask for more.
    """

    def __init__(self, *numbers: float, why: str = "") -> None:
        self.numbers, self.used, self.calls, self.why = numbers, 0, 0, why
        self.code = f"lesson.ScriptedRandom{numbers}"

    def random(self, size: int | None = None) -> float | np.ndarray:
        """The next number, or the next `size` of them (size,). CallLimitExceeded after the last."""
        if size is None:
            return float(self.random(1)[0])
        self.used, self.calls = self.used + size, self.calls + 1
        if self.used > len(self.numbers) or self.calls > _MAX_CALLS:
            raise CallLimitExceeded(
                f"asked rng for more than {len(self.numbers)} numbers, or too often: {self.why}"
            )
        return np.array(self.numbers[self.used - size : self.used])

    def __repr__(self) -> str:
        return self.code


def read_only(values: Sequence) -> np.ndarray:
    """An array that nobody can change, for a name that a notebook shares with its lesson."""
    array = np.array(values)
    array.setflags(write=False)
    return array


def copy_plain(value: Any) -> Any:
    """A copy of plain data, which may be changed; a model or a generator as it is."""
    if isinstance(value, ARRAYS):
        return value.copy()
    if is_tensor(value):
        return value.clone()  # gradients flow through
    if type(value) in (list, tuple):
        return type(value)(map(copy_plain, value))
    return {key: copy_plain(item) for key, item in value.items()} if type(value) is dict else value


def call_with_copies(function: Callable) -> Callable:
    """`function`, called with copies of its arguments."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*map(copy_plain, args))

    return call


def token_list(tokens: object) -> list[int]:
    """`tokens` as a list of whole numbers. ValueError if there is none."""
    if isinstance(tokens, list | tuple) and any(np.ndim(token) for token in tokens):
        raise ValueError(
            f"a model reads one flat list of tokens, and {tokens!r} has a list in it. "
            "`append` puts a list in as it is, `+=` puts in its tokens"
        )
    numbers = np.asarray(tokens).tolist() if np.ndim(tokens) == 1 else []
    if not numbers or not all(type(number) is int for number in numbers):
        raise ValueError(f"a model reads a list of whole numbers, one or more, not {tokens!r}")
    return numbers
