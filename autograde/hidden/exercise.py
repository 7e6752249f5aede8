"""What a chapter's hidden tests are written with: exercises, their test groups and known bugs.

Points attach to test groups; docs/author.md has an example. A group is a set of cases under one
name; it counts whole. `rng` comes from the seed of the course, so a private fork has other cases.

The grader reads nothing of a case but how it ends, so any library can help to write one:

- it returns: the check passed;
- `AssertionError(text)`: the check failed, and the student reads the text; with the attribute
  `cause` (see `by_cause`), the test has recognised that bug by itself; where a known bug explains
  the failure, the attribute `seen`, which is the text without general advice, stands for the text;
- `NotImplementedError(text)`, or an exception with the attribute `no_answer`: there is no answer
  yet;
- an exception with the attribute `what_happened`: that happened in the student's code;
- any other exception: the result could not be judged, and the student reads that.

What a student's function returns is plain data. An object of any other type comes back as one whose
attribute `type_in_student_code` names the type.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any
from zlib import crc32

import numpy as np

from autograde.course import course_seed
from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.session import StudentError
from autograde.sandbox.student import Student

# What a chapter imports from here beside `Exercise`.
__all__ = ["Exercise", "RemoteObject", "Student", "StudentError", "by_cause", "untouched"]


@dataclass(frozen=True)
class Bug:
    """A known wrong answer: the solution of `exercise` with `old` replaced by `new`.

    `think` is what somebody may believe, `because` why it is not so, both as sentences. The third
    part of the message, the numbers, comes from the case that failed. Bugs of one chapter with the
    same `think` are one thought that shows in several exercises.
    """

    exercise: str
    old: str
    new: str
    think: str
    because: str


@dataclass(frozen=True, eq=False)
class Group:
    """A test group of an exercise, worth `weight` shares of its points.

    `makers` give its cases for a random generator: functions of a student and of the solution.
    """

    exercise: "Exercise"
    name: str
    weight: int = 1
    makers: list[Callable] = field(default_factory=list)

    def cases(self) -> Iterator[Callable]:
        """The cases of the course's seed, each to be called with `student` and `solution`."""
        for number, maker in enumerate(self.makers):
            text = f"{self.exercise.name} {self.name} {number}"
            yield from maker(partial(np.random.default_rng, [course_seed(), crc32(text.encode())]))


class Exercise:
    """A graded function, quiz or prediction, by the name that its cell has in the notebook."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.groups: list[Group] = []
        self.bugs: list[Bug] = []

    def group(
        self, name: str, *, weight: int = 1, form: bool = False, hint: str = ""
    ) -> Callable[[Callable], Callable]:
        """Decorate a generator of cases, each a tuple of arguments or one argument.

        A case passes if the student's function gives what the solution gives. With `form`, it must
        have the same type too (see `compare`). `hint` is true of every case. Several generators may
        have one group. Raises ValueError for a weight below 1.
        """

        def register(generate: Callable) -> Callable:
            def cases(rng: Callable) -> Iterator[Callable]:
                for args in generate(rng()):
                    args = args if isinstance(args, tuple) else (args,)
                    yield self._same_answer(args, form, hint)

            self._group(name, weight).makers.append(cases)
            return generate

        return register

    def check(self, name: str, *, weight: int = 1) -> Callable[[Callable], Callable]:
        """Decorate a function (student, solution, rng) that raises if the student is wrong."""

        def register(check: Callable) -> Callable:
            def cases(rng: Callable) -> Iterator[Callable]:
                yield lambda student, solution: check(student, solution, rng())

            self._group(name, weight).makers.append(cases)
            return check

        return register

    def bug(self, *patches: tuple[str, str], think: str, because: str) -> None:
        """Note a known bug in one form or in several: each is a text and what replaces it."""
        self.bugs += [Bug(self.name, old, new, think, because) for old, new in patches]

    def compare(
        self, function: Callable, args: tuple, expected: Any, hint: str, form: bool
    ) -> None:
        """Raise AssertionError unless `function(*args)` gives what the solution gives.

        `expected` is a value, or the exception that the solution raises. A course may have its own.
        """
        try:
            got = function(*args)
        except StudentError as error:
            got = error
        raises = [getattr(each, "name", None) for each in (got, expected)]
        if raises[0] != raises[1] or not (raises[0] or is_close(got, expected)):
            seen = f"{function.text(args)} gave {got!r}, and not {expected!r}."
            error = AssertionError(f"{seen} {hint}".strip())
            error.seen = seen
            raise error

    def _same_answer(self, args: tuple, form: bool, hint: str) -> Callable:
        """One case of a group; the solution is asked once."""

        @cache
        def expected(solution: Student) -> Any:
            try:
                return getattr(solution, self.name)(*copy.deepcopy(args))
            except StudentError as error:
                return error

        def case(student: Student, solution: Student) -> None:
            given = copy.deepcopy(args)  # a generator moves on
            self.compare(getattr(student, self.name), given, expected(solution), hint, form)

        return case

    def _group(self, name: str, weight: int) -> Group:
        """The group of that name, a new one if there is none."""
        if type(weight) is not int or weight < 1:
            raise ValueError(f"{name!r} has the weight {weight!r}; write a whole number from 1 up")
        known = next((each for each in self.groups if each.name == name), None)
        if known is None:
            known = Group(self, name, weight)
            self.groups.append(known)
        return known


def is_close(got: Any, expected: Any) -> bool:
    """Whether two values are one: numbers to 1e-9 or their own rounding, all rows alike."""
    one, other = _numbers(got), _numbers(expected)
    if one is not None and other is not None:
        rounding = 32 * max(map(_rounding, (one, other)))
        near = partial(np.allclose, rtol=rounding, atol=1e-9, equal_nan=True)
        return one.shape == other.shape and near(one, other)  # NumPy would repeat a short one
    if isinstance(got, dict) and isinstance(expected, dict):
        return got.keys() == expected.keys() and all(is_close(got[k], expected[k]) for k in got)
    if isinstance(got, list | tuple) and isinstance(expected, list | tuple):
        return len(got) == len(expected) and all(map(is_close, got, expected))
    return type(got) is type(expected) and bool(got == expected)


def kinds_in(value: Any) -> set[str]:
    """The kinds of numbers in a value: NumPy's letters for truth values, whole ones and floats."""
    if isinstance(value, list | tuple | dict):
        parts = value.values() if isinstance(value, dict) else value
        return set().union(*map(kinds_in, parts))
    numbers = _numbers(value)
    return set() if numbers is None else {numbers.dtype.kind}


def _numbers(value: Any) -> np.ndarray | None:
    """A number, numbers in a row or a tensor as an array; None for anything else."""
    if type(value).__name__ == "Tensor":
        value = value.detach()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value  # NumPy has none
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    return array if array.dtype.kind in "biufc" else None


def _rounding(numbers: np.ndarray) -> float:
    """Of floats: two processes may add float32 up in another order.

    A narrower type gets no more room than float32: an answer must not choose how rough it may be.
    """
    narrowest = np.finfo(np.float32).eps
    return float(min(np.finfo(numbers.dtype).eps, narrowest)) if numbers.dtype.kind in "fc" else 0.0


def by_cause(error: AssertionError, cause: str) -> AssertionError:
    """The error of a case that shows by itself the bug whose author thinks `cause`."""
    error.cause = cause
    return error


def untouched(student: Student) -> None:
    """Raise AssertionError if a call of this case changed one of its arguments."""
    for call in student.calls:
        if call.reply and call.reply.mutated_args:
            names = student.parameters.get(call.function, [])
            which = ", ".join(names[i] for i in call.reply.mutated_args)
            raise AssertionError(
                f"{call.function} changed its argument {which}. Work on a copy: the caller "
                "still needs the old one."
            )
