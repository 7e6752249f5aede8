"""Known wrong answers, and finding out which of them a student's function behaves like.

They serve twice: the tests hold that each of them loses points, and a student whose function
behaves exactly like one of them reads its refutation.
"""

import copy
import inspect
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from autograde.chapter import Chapter
from autograde.sandbox.inside import operations, wire
from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.student import Call, traces_of


@dataclass(frozen=True)
class Misconception:
    """A wrong answer with its refutation.

    `think` is what somebody may believe, `because` why it is not so, both as sentences; the
    third part, the numbers, comes from the case that failed. `code` is the wrong function under
    the exercise's own name. Misconceptions of one chapter with the same `thought` are one thought
    that shows in several exercises.
    """

    exercise: str
    name: str
    think: str
    because: str
    function: Callable
    code: str
    thought: str

    def explain(self, numbers: str) -> str:
        """The refutation in three parts."""
        return f"You might think: {self.think} It is not so: {self.because} Look: {numbers}"


class Misconceptions:
    """The wrong answers of one chapter, in order: if several match, the first one counts."""

    def __init__(self) -> None:
        self.all: list[Misconception] = []

    def exercise(self, name: str) -> "WrongAnswers":
        """The wrong answers to the graded function `name`, still to be written."""
        return WrongAnswers(self, name)

    def of(self, exercise: str) -> list[Misconception]:
        """Those of one exercise."""
        return [wrong for wrong in self.all if wrong.exercise == exercise]


@dataclass(frozen=True)
class WrongAnswers:
    """The wrong answers to one exercise: `wrong` decorates each."""

    chapter: Misconceptions
    exercise: str

    def wrong(
        self, think: str, because: str, same_as: Callable | None = None
    ) -> Callable[[Callable], Callable]:
        """Decorate a wrong version of the exercise, named after what is wrong with it.

        `same_as` is a wrong answer above, to another exercise, that comes of the same thought.
        Raises ValueError if it is none.
        """

        def register(function: Callable) -> Callable:
            name, code = function.__name__, _answer_code(function, self.exercise)
            thought = self._thought_of(same_as) if same_as else name
            new = Misconception(self.exercise, name, think, because, function, code, thought)
            self.chapter.all.append(new)
            return function

        return register

    def _thought_of(self, function: Callable) -> str:
        for wrong in self.chapter.all:
            if wrong.function is function:
                return wrong.thought
        raise ValueError(f"same_as={function!r} is no wrong answer above: decorate it with `wrong`")


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


@cache
def misconceptions_of(chapter: str) -> Misconceptions:
    """The registry `WRONG` of the chapter's wrong answers, `autograde/chapters/chNN_wrong.py`."""
    return Chapter(chapter).import_wrong().WRONG


def likely_cause(
    candidates: Iterable[Misconception], calls: list[Call], failing: list[Call]
) -> Misconception | None:
    """The first wrong answer that gives what the student's function gave in every call.

    If none does, the first that agrees on the `failing` calls: a student may hold one
    misconception and have made another slip.
    """
    if not failing:
        return None
    agree = [wrong for wrong in candidates if _agrees(wrong, failing)]
    whole = [wrong for wrong in agree if _agrees(wrong, calls)]
    return next(iter(whole + agree), None)


def _agrees(wrong: Misconception, calls: list[Call]) -> bool:
    return all(_same(wrong, call) for call in calls)


def _same(wrong: Misconception, call: Call) -> bool:
    """Whether the wrong answer does with the call's arguments what the student's function did."""
    copies = copy.deepcopy(call.args)
    args = tuple(a.thing if isinstance(a, RemoteObject) else a for a in copies)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value, work = _run(wrong, args, call)
    except Exception as error:
        return call.error == type(error).__name__ and call.traces == traces_of(copies)
    before = [wire.encode(arg) for arg in call.args]
    changed = [i for i in wire.changed(before, args) if not isinstance(call.args[i], RemoteObject)]
    if call.reply is None or call.reply.changed != changed or call.traces != traces_of(copies):
        return False
    return work and _same_value(call.reply.value, value)


def _run(wrong: Misconception, args: tuple, call: Call) -> tuple[object, bool]:
    """What the wrong answer returns, and whether it does about as much with torch.

    That is looked at only if the student's uses of torch were counted.
    """
    if call.reply is None or not call.reply.operators:
        return wrong.function(*args), True
    value, done = operations.counted(wrong.function, list(args))
    ratio = done["operators"] / call.reply.operators
    return value, bool(done["waits"]) == bool(call.reply.waits) and 1 / 2 < ratio < 2


def _same_value(got: Any, value: Any) -> bool:
    """Whether plain data is what a wrong answer returned, numbers to their rounding."""
    if isinstance(got, np.ndarray) and got.shape == () and not isinstance(value, np.ndarray):
        got = got.item()  # np.where and its kind give one number this way
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) in (int, float) and type(got) in (int, type(value)):
        return _same_numbers(np.float64(got), np.float64(value))
    if type(got) is not type(value):
        return False
    if isinstance(value, np.ndarray):
        return _same_numbers(got, value)
    if type(value).__name__ == "Tensor":
        return got.dtype == value.dtype and _same_numbers(got.numpy(), value.detach().numpy())
    if isinstance(value, dict):
        return got.keys() == value.keys() and all(_same_value(got[k], value[k]) for k in value)
    if isinstance(value, list | tuple):
        return len(got) == len(value) and all(map(_same_value, got, value))
    return got == value


def _same_numbers(got: np.ndarray, value: np.ndarray) -> bool:
    """Equal to the rounding of their dtype: two processes may add float32 up in another order."""
    rounding = 32 * np.finfo(value.dtype).eps if value.dtype.kind == "f" else 0
    room = {"rtol": rounding, "atol": max(1e-9, rounding), "equal_nan": True}
    return got.shape == value.shape and bool(np.allclose(got, value, **room))
