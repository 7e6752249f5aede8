"""What a chapter's hidden tests are written with: exercises, test groups and cases.

The tests are ordinary pytest functions; `Exercise.group` says what a test counts for, and
docs/author.md has an example. Points attach to test groups: a group is a set of cases under one
name, and counts whole. `rng` comes from the seed of the course, so a private fork has other cases.

The grader reads nothing of a case but how it ends, so any library can help to write one:

- it returns: the case passed;
- `AssertionError(text)`: it failed, and the student reads the text; with the attribute `cause` (see
  `with_cause`), the test has recognised that bug by itself; where a known bug explains the failure,
  the attribute `seen`, which is the text without general advice, stands for the text;
- `NotImplementedError(text)`, or an exception with the attribute `no_answer`: there is no answer
  yet;
- an exception with the attribute `what_happened`: that happened in the student's code;
- any other exception: the result could not be judged, and the student reads that.

What a student's function returns is plain data. An object of any other type comes back as one whose
attribute `type_in_student_code` names the type.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from autograde.sandbox.student import Call, Student

Cases = Callable  # takes a random generator, and yields the arguments of calls: one, or a tuple


@dataclass(frozen=True)
class Group:
    """A test group of an exercise, worth `weight` shares of its points."""

    exercise: "Exercise"
    name: str
    weight: int = 1


class Exercise:
    """A graded function, quiz or prediction, by the name that its cell has in the notebook."""

    def __init__(self, name: str) -> None:
        self.name = name

    def group(
        self, name: str, *, weight: int = 1, cases: Cases | Sequence[Cases] = ()
    ) -> pytest.MarkDecorator:
        """Mark a test function as one of the test group `name`.

        With `cases`, one generator function or several, the test runs once for everything that they
        yield: it is the fixture `args`, always a tuple. Each gets a random generator of its own.
        Several tests may have one group. Raises ValueError for a weight below 1.
        """
        if type(weight) is not int or weight < 1:
            raise ValueError(f"{name!r} has the weight {weight!r}; write a whole number from 1 up")
        generators = (cases,) if callable(cases) else tuple(cases)
        return pytest.mark.test_group(Group(self, name, weight), generators)


@dataclass
class Case:
    """One run of a test, as its report says it: `error` is None if it passed.

    `own_error` is the same with the student's own answers above it. The two differ only if the case
    failed and was run again with the chapter's, of which `replaced` took the place of wrong ones.
    `seen` is the error less the advice that ends it. `cause` is the misconception that the test has
    recognised by itself, `pass_message` what it says to whoever passed.
    """

    group: Group
    error: str | None
    own_error: str | None
    unwritten: bool = False
    calls: list[Call] = field(default_factory=list)
    replaced: frozenset[str] = frozenset()
    cause: str | None = None
    pass_message: str = ""
    seen: str = ""

    @property
    def exercise(self) -> str:
        return self.group.exercise.name


def with_cause(error: AssertionError, cause: str) -> AssertionError:
    """The error of a case that shows by itself the known bug whose `think` is `cause`."""
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
