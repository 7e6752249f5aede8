"""Wrong answers as students write them, to hold the grader's causes against.

None is copied from a registered misconception. Each says its true fault, and names the registered
misconceptions that may be told to its author: none, one, or two for two mistakes in one function.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Attempt:
    """A wrong answer to `exercise` with its true `fault` and the `causes` that name it."""

    exercise: str
    name: str
    fault: str
    causes: tuple[str, ...]
    code: str


class Attempts:
    """The attempts at one chapter, in order."""

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter
        self.all: list[Attempt] = []

    def at(self, exercise: str, *causes: str) -> Callable[[Callable], Callable]:
        """Decorate an attempt at a graded function; its docstring says what is wrong with it."""

        def register(function: Callable) -> Callable:
            source = inspect.getsource(function)
            body = source[source.index("def ") :]
            code = body.replace(f"def {function.__name__}(", f"def {exercise}(", 1)
            fault, name = function.__doc__.rstrip("."), function.__name__
            self.all.append(Attempt(exercise, name, fault, causes, code))
            return function

        return register
