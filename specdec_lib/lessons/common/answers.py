"""Answers that are words or numbers: predictions to commit, quiz letters to record."""

import math
from collections.abc import Callable, Mapping, Sequence

from specdec_lib.lessons.common.describing import shortened
from specdec_lib.lessons.common.examples import Different, Unwritten


def committed(name: str, guess: object, low: float, high: float) -> None:
    """Check that a guess from `low` to `high` is written down, and say so."""
    require_guess(name, guess, low, high)
    print(f"{name}: {guess:g} is written down. Right or wrong, it counts.")


def require_guess(name: str, guess: object, low: float, high: float) -> None:
    """Raise Unwritten if there is no guess, Different unless it is a number in range."""
    if guess is None:
        raise Unwritten(f"{name}: no guess yet")
    is_number = isinstance(guess, int | float) and not isinstance(guess, bool)
    if not is_number or math.isnan(guess) or not low <= guess <= high:
        raise Different(
            f"{name} is {shortened(guess)}; write a number from {low:g} to {high:g}. "
            "Any guess counts."
        )


def reveal(name: str, guess: object, truth: float, why: str) -> None:
    """Set a committed guess beside the computed truth; before the guess it reveals nothing."""
    if not isinstance(guess, int | float) or isinstance(guess, bool):
        print(f"Write your guess into {name} first: this cell waits for it.")
        return
    said = f"You said {guess:g}"
    right = math.isclose(guess, truth, abs_tol=5e-3)
    print(f"{said}, and it is. {why}" if right else f"{said}. It is {truth:g}. {why}")


def revealing(truths: Mapping[str, tuple[float, str]]) -> Callable[[str, object], None]:
    """`reveal(name, guess)` of a chapter: `truths` has the truth of each prediction, and why."""

    def reveal_known(name: str, guess: object) -> None:
        """Set a committed prediction of this chapter beside the truth."""
        reveal(name, guess, *truths[name])

    return reveal_known


def answered(name: str, choice: object) -> None:
    """Check that a quiz answer is a letter; whether it is right is told after grading."""
    print(f"{name}: your answer {letter_of(name, choice)} is recorded.")


def letter_of(name: str, choice: object, options: Sequence[str] = tuple("abcd")) -> str:
    """The option that a quiz answer names: "B)" is b.

    Raises Unwritten if there is none, Different for anything but one of the letters.
    """
    if choice is None or choice == "":
        raise Unwritten(f"{name}: no answer yet")
    letter = choice.strip().strip(".)(").lower() if isinstance(choice, str) else None
    if letter not in options:
        raise Different(f"{name} is {shortened(choice)}; write one letter of {', '.join(options)}")
    return letter
