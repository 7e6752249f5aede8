"""What a chapter's hidden tests are written with: exercises and their behaviours.

Points attach to behaviours. A behaviour is a set of cases under one name; it counts whole, and
no constant, no copy of an argument and no stub passes all of its cases:

    mean = Exercise("mean")
    sums = mean.behaviour("the sum over the number")

    @sums
    @pytest.mark.parametrize("values, gives", [([1, 2], 1.5), ([4], 4.0)])
    def test_mean(student, values, gives):
        assert student.mean(values) == gives, f"mean({values}) is not {gives}."

The grader reads nothing of a case but how it ends, so any library can help to write one:

- it returns: the case passed;
- `AssertionError(text)`: the case failed, and the student reads the text; with the attribute
  `cause` (see `by_cause`), the test has recognised that misconception by itself;
- `NotImplementedError(text)`, or an exception with the attribute `no_answer`: there is no answer
  yet;
- an exception with the attribute `what_happened`, such as "raised ValueError: no number": that
  happened in the student's code;
- any other exception: the result could not be judged, and the student reads that.

What a student's function returns is plain data. An object of any other type comes back as one whose
attribute `type_in_student_code` names the type.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from autograde.sandbox.remote import MAX_GIVEN, RemoteObject
from autograde.sandbox.session import StudentError
from autograde.sandbox.student import Call, Student

# All that a hidden test needs of the grader: a chapter imports nothing of it but this and `wrong`.
__all__ = [
    "MAX_GIVEN",
    "Behaviour",
    "Exercise",
    "RemoteObject",
    "Student",
    "StudentError",
    "by_cause",
    "untouched",
]


class Exercise:
    """A graded function, quiz or prediction, by the name that its cell has in the notebook."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.behaviours: list[Behaviour] = []

    def behaviour(
        self,
        name: str,
        weight: int = 1,
        composed: bool = False,
    ) -> "Behaviour":
        """A new behaviour of the exercise, worth `weight` shares of its points.

        An exercise may call those above it, and is graded as if they were right; a `composed`
        behaviour counts only with the student's own underneath. Raises ValueError for a name that
        the exercise has already, and for a weight that is not a whole number above 0.
        """
        new = Behaviour(self, name, weight, composed)
        if name in [each.name for each in self.behaviours]:
            raise ValueError(f"{self.name} has the behaviour {name!r} already; give it one name")
        if type(weight) is not int or weight < 1:
            raise ValueError(f"{name!r} has the weight {weight!r}; write a whole number from 1 up")
        self.behaviours.append(new)
        return new


@dataclass(frozen=True, eq=False)
class Behaviour:
    """One behaviour of an exercise. It decorates the tests whose cases it consists of."""

    exercise: Exercise
    name: str
    weight: int
    composed: bool

    def __call__(self, test: Callable) -> Callable:
        return pytest.mark.behaviour.with_args(self)(test)


def by_cause(error: AssertionError, cause: str) -> AssertionError:
    """The error of a case that shows the misconception of the name `cause` by itself."""
    error.cause = cause
    return error


def untouched(student: Student) -> None:
    """Raise AssertionError if a call of this case changed one of its arguments.

    The student's process tells which ones.
    """
    for call in student.calls:
        if call.reply and call.reply.changed:
            raise _changed(student, call, call.reply.changed)


def _changed(student: Student, call: Call, places: list[int]) -> AssertionError:
    names = student.parameters.get(call.function, [])
    which = ", ".join(names[i] for i in places)
    return AssertionError(
        f"{call.function} changed its argument {which}. Work on a new array: the caller "
        "still needs the old one."
    )
