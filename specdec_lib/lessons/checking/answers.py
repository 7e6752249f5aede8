"""Answers that are words or numbers: predictions to commit, quiz letters to record."""

import math
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import resources
from typing import Any

from .describing import short_repr
from .examples import Different, Unwritten

_CLOSE_SHARE = 0.1  # of the truth: a guess no farther away is close
QUIZ_OPTIONS = tuple("abcd")
#: By prediction, the guess that its check has refused: nothing is revealed for it.
_refused: dict[str, object] = {}
PRINT_WIDTH = 92  # characters: a page breaks a longer printed line inside a word


@dataclass(frozen=True)
class Truth:
    """The right value of a prediction, or None if the chapter measures it.

    `why` explains it to everybody. `typical` are likely wrong numbers, each with its reason.
    """

    value: float | None
    why: str
    typical: Mapping[float, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Quiz:
    """A quiz: the right letter, and by letter why that option is right or wrong."""

    right: str
    explanations: Mapping[str, str]


def truths_of(chapter: str, **values: float | None) -> dict[str, Truth]:
    """The truth of each prediction in predictions.toml of the chapter whose package is `chapter`.

    `values` are the true values that the file does not hold, None for a measured one.
    """
    truths = {}
    for name, table in read_tables(chapter, "predictions.toml").items():
        value = values[name] if name in values else table["value"]
        typical = table.get("typical", {}).items()  # wrong numbers, written like 2.77 or 2/3
        reasons = {float(Fraction(number)): reason for number, reason in typical}
        truths[name] = Truth(value, table["why"], reasons)
    return truths


def quizzes_of(chapter: str) -> dict[str, Quiz]:
    """The quizzes in quizzes.toml of the chapter whose package is `chapter`.

    A class whose quizzes are answered only by grading has a library without these files (`autograde
    bundle --quizzes after-grading`): there it has none.
    """
    return {
        name: Quiz(table["right"], {key: table[key] for key in QUIZ_OPTIONS})
        for name, table in read_tables(chapter, "quizzes.toml").items()
    }


def read_tables(chapter: str, file: str) -> dict:
    """The tables of a TOML file in the package `chapter`, each text in one line; {} without it."""
    path = resources.files(chapter) / file
    return _in_one_line(tomllib.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _in_one_line(value: object) -> Any:
    """The value with each text in it in one line: the file breaks lines as it needs to."""
    if isinstance(value, dict):
        return {key: _in_one_line(part) for key, part in value.items()}
    if isinstance(value, list):
        return list(map(_in_one_line, value))
    return " ".join(value.split()) if isinstance(value, str) else value


def committed(name: str, guess: object, low: float, high: float) -> None:
    """Check that a guess from `low` to `high` is written down, and say so."""
    _refused[name] = guess
    require_guess(name, guess, low, high)
    del _refused[name]
    print(f"{name}: {guess:,.10g} is written down. Right or wrong, it counts.")


def require_guess(name: str, guess: object, low: float, high: float) -> None:
    """Raise Unwritten if there is no guess, Different unless it is a number in range."""
    if guess is None:
        raise Unwritten(f"{name}: no guess yet")
    if not _is_number(guess) or not low <= guess <= high:
        raise Different(
            f"{name} is {short_repr(guess)}; write a number from {low:,.10g} to {high:,.10g}. "
            "Any guess counts."
        )


def _is_number(guess: object) -> bool:
    return isinstance(guess, int | float) and not isinstance(guess, bool)


def make_reveal(truths: Mapping[str, Truth]) -> Callable[..., None]:
    """`reveal(name, guess)` of a chapter: `truths` has the truth of each of its predictions."""

    def reveal(name: str, guess: object, measured: float | None = None) -> None:
        """Set a committed guess beside the truth, or beside what was `measured`.

        Before a guess is written down, nothing is revealed.
        """
        if not _is_number(guess) or guess is _refused.get(name):
            print(f"Write your guess into {name} first: this cell waits for it.")
        else:
            _print_wrapped(feedback_on_guess(guess, truths[name], measured))

    return reveal


def feedback_on_guess(guess: float, truth: Truth, measured: float | None = None) -> str:
    """How far a guess is from the truth, or from what was measured, and why."""
    value = float(truth.value if measured is None else measured)
    return f"{_comparison(float(guess), value, truth.typical)} {truth.why}"


def _print_wrapped(text: str) -> None:
    """Print a paragraph in lines that end between two words."""
    print(textwrap.fill(text, PRINT_WIDTH, break_long_words=False, break_on_hyphens=False))


def _comparison(guess: float, value: float, typical: Mapping[float, str]) -> str:
    """Whether a guess is right, a typical wrong number or close, with the right number."""
    beginning, right = f"You said {guess:,.10g}", few_digits(value)
    if _is_same(guess, value):
        return f"{beginning}, and it is {right}."
    nearest = min(typical, key=lambda number: abs(guess - number), default=None)
    if nearest is not None and _is_same(guess, nearest):
        return f"{beginning}. It is {right}. {few_digits(nearest)} {typical[nearest]}"
    close = " That is close." if abs(guess - value) <= _CLOSE_SHARE * abs(value) else ""
    return f"{beginning}.{close} It is {right}."


def _is_same(guess: float, number: float) -> bool:
    """Whether a guess is this number, written with two digits or more."""
    return math.isclose(guess, number, rel_tol=0.005) or guess == float(f"{number:.2g}")


def few_digits(number: float) -> str:
    """A number with three significant digits at most, and no exponent: 1.68, 41.4, 1,340,000."""
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def make_answered(chapter: str) -> Callable[[str, object], None]:
    """`answered(name, choice)` of the chapter whose package is `chapter`."""

    def answered(name: str, choice: object) -> None:
        """Check a quiz answer, and print the explanation of that option.

        Raises Different with it for a wrong one, so that Validate does not call it right. Without
        quizzes.toml the answer is only recorded: grading tells whether it is right.
        """
        letter, quizzes = quiz_letter(name, choice), quizzes_of(chapter)
        if not quizzes:
            print(f"{name}: your answer {letter} is recorded.")
            return
        quiz = quizzes[name]
        if letter != quiz.right:
            message = f"{name}: {letter} is not right. {quiz.explanations[letter]}"
            raise Different(f"{message} Choose again if you like.")
        _print_wrapped(f"{name}: {letter} is right. {quiz.explanations[letter]}")

    return answered


def quiz_letter(name: str, choice: object) -> str:
    """The option that a quiz answer names: "B)" is b.

    Raises Unwritten if there is none, Different for anything but one of the letters.
    """
    if choice is None or choice == "":
        raise Unwritten(f"{name}: no answer yet")
    letter = choice.strip().strip(".)(").lower() if isinstance(choice, str) else None
    if letter not in QUIZ_OPTIONS:
        raise Different(
            f"{name} is {short_repr(choice)}; write one letter of {', '.join(QUIZ_OPTIONS)}"
        )
    return letter
