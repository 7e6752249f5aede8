"""What a chapter's hidden tests are written with: behaviours, and checks on how a call went.

Points attach to behaviours. A behaviour is a set of cases under one name; it counts whole, and
no constant, no copy of an argument and no stub passes all of its cases.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from autograde.sandbox.proxy import Student
from specdec_lib.lessons.examples import Different, describe


def behaviour(exercise: str, name: str, after: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """Mark a test as cases of a behaviour.

    `after` names what must work first: other behaviours of the exercise, or other exercises.
    Where one of them fails too, the student is sent there first.
    """
    return pytest.mark.behaviour(exercise, name, after)


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
    choice = student.value(name)
    if choice is None or choice == "":
        raise NotImplementedError(f"{name}: no answer yet")
    letter = choice.strip().strip(".)(").lower() if isinstance(choice, str) else choice
    if letter == right:
        return
    why = because.get(letter) if isinstance(letter, str) else None
    raise Different(f"You chose {describe(choice)}. {why or 'Answer with one letter of the list.'}")


def guessed(student: Student, name: str, low: float, high: float) -> None:
    """Raise Different unless a number from `low` to `high` stands in the prediction `name`."""
    guess: Any = student.value(name)
    if guess is None:
        raise NotImplementedError(f"{name}: no guess yet")
    is_number = isinstance(guess, int | float) and not isinstance(guess, bool)
    if not is_number or not low <= guess <= high or np.isnan(guess):
        text = f"{name} is {describe(guess)}; write a number from {low:g} to {high:g}"
        raise Different(f"{text}. Any guess counts, right or wrong.")
