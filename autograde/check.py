"""What a chapter's hidden tests are written with: behaviours, and checks on how a call went.

Points attach to behaviours. A behaviour is a set of cases under one name; it counts whole, and
no constant, no copy of an argument and no stub passes all of its cases.
"""

from collections.abc import Mapping

import pytest

from autograde.sandbox.remote import Student
from specdec_lib.lessons.common.answers import letter_of, require_guess
from specdec_lib.lessons.common.examples import Different


def behaviour(
    exercise: str, name: str, after: tuple[str, ...] = (), weight: int = 1
) -> pytest.MarkDecorator:
    """Mark a test as cases of a behaviour, worth `weight` shares of the exercise.

    `after` names what must work first: other behaviours of the exercise, or other exercises.
    Where one of them fails too, the student is sent there first.
    """
    return pytest.mark.behaviour(exercise, name, after, weight)


def untouched(student: Student) -> None:
    """Raise Different where a call of this case changed one of its arguments."""
    for call in student.calls:
        if call.reply and call.reply.changed:
            names = student.parameters.get(call.function, [])
            which = ", ".join(names[i] for i in call.reply.changed)
            raise Different(
                f"{call.function} changed its argument {which}. Work on a new array: the caller "
                "still needs the old one."
            )


def own_array(student: Student) -> None:
    """Raise Different where a call of this case returned an argument, or a view of one."""
    for call in student.calls:
        if call.reply and call.reply.shares:
            raise Different(
                f"{call.function} returned an array that shares its memory with an argument. "
                "Return a copy: whoever changes the result would change p or q."
            )


def no_warning(student: Student) -> None:
    """Raise Different where a call of this case gave a warning."""
    for call in student.calls:
        if call.reply and call.reply.warnings:
            text = call.reply.warnings[0]
            raise Different(
                f'{call.function} gave a warning: "{text}". Did you divide before you looked '
                "for a zero?"
            )


def choose(student: Student, name: str, right: str, because: Mapping[str, str]) -> None:
    """Raise Different unless the quiz answer `name` is `right`; says why the choice is wrong."""
    letter = letter_of(name, student.value(name))
    if letter != right:
        raise Different(f"You chose {letter}. {because[letter]}")


def guessed(student: Student, name: str, low: float, high: float) -> None:
    """Raise Different unless a number from `low` to `high` stands in the prediction `name`."""
    require_guess(name, student.value(name), low, high)
