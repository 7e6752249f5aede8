"""The older form of a chapter's tests: functions under a group, and wrong answers written out.

Chapters that have not moved to groups and patches use it; a new chapter does not.
"""

import inspect
from collections.abc import Callable, Iterator
from itertools import product
from types import CodeType

from autograde.bugs import KnownBug
from autograde.chapters import common


class Exercise(common.Exercise):
    """An exercise whose groups consist of test functions, under pytest's `parametrize` or alone."""

    def behaviour(self, name: str, weight: int = 1, composed: bool = False) -> Callable:
        """Decorates the tests of the group `name`, each with `student` and its own parameters."""
        group = self._group(name, weight, composed)

        def register(test: Callable) -> Callable:
            group.makers.append(lambda rng: _cases(test))
            return test

        return register


def _cases(test: Callable) -> Iterator[Callable]:
    """The cases of a test function, in pytest's order."""
    marks = [mark.args for mark in getattr(test, "pytestmark", [])]
    for rows in product(*(_rows(*args) for args in marks)):
        values = {name: value for row in rows for name, value in row.items()}
        yield lambda student, solution, values=values: test(student=student, **values)


def _rows(names: str, values: list) -> list[dict[str, object]]:
    """The values of one `parametrize` under their names."""
    each = names.replace(" ", "").split(",")
    rows = [value if len(each) > 1 else (value,) for value in values]
    return [dict(zip(each, row, strict=True)) for row in rows]


class Misconceptions:
    """The wrong answers of one chapter, in order."""

    def __init__(self) -> None:
        self.all: list[KnownBug] = []

    def exercise(self, name: str) -> "WrongAnswers":
        """The wrong answers to the graded function `name`, still to be written."""
        return WrongAnswers(self, name)


class WrongAnswers:
    """The wrong answers to one exercise: `wrong` decorates each."""

    def __init__(self, chapter: Misconceptions, exercise: str) -> None:
        self.chapter, self.name = chapter, exercise
        self.words: dict[Callable, tuple[str, str]] = {}

    def wrong(self, think: str, because: str, same_as: Callable | None = None) -> Callable:
        """Decorate a wrong version of the exercise."""

        def register(function: Callable) -> Callable:
            self.words[function] = think, because
            code = _answer_code(function, self.name)
            self.chapter.all.append(KnownBug(self.name, think, because, code))
            return function

        return register

    def form_of(self, wrong: Callable) -> Callable[[Callable], Callable]:
        """Decorate another form of a wrong answer above: other code, the same words."""
        return self.wrong(*self.words[wrong])


def _answer_code(function: Callable, exercise: str) -> str:
    """What a student with this misconception would hand in, the helpers it uses above it."""
    source = inspect.getsource(function)
    helpers = [inspect.getsource(helper) for helper in _helpers(function)]
    body = source[source.index("def ") :]
    answer = body.replace(f"def {function.__name__}(", f"def {exercise}(", 1)
    return "\n\n".join([*helpers, answer])


def _helpers(function: Callable) -> list[Callable]:
    """The file's own `_helpers` that a function calls, those that they call before them."""
    used = [function.__globals__.get(name) for name in _names(function.__code__)]
    mine = [f for f in used if inspect.isfunction(f) and f.__name__.startswith("_")]
    return list(dict.fromkeys(helper for f in mine for helper in [*_helpers(f), f]))


def _names(code: CodeType) -> list[str]:
    """The global names in a function's code, those of the functions within it included."""
    inner = [
        name for const in code.co_consts if isinstance(const, CodeType) for name in _names(const)
    ]
    return [*code.co_names, *inner]
