"""The known bugs of a chapter: patches of its solution, with words for a student who has one.

They stand beside the hidden tests, in a table of the same name (docs/author.md), and serve twice:
the gates hold that each of them loses points, and a student whose function behaves like one of them
reads why it is wrong (see causes.py).
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograde.course import AuthorError, Chapter
from autograde.hidden.material import Material, material_of

KEYS = {"think", "because", "patches"}


@dataclass(frozen=True)
class KnownBug:
    """A wrong answer to an exercise: the code of a whole cell, and its explanation.

    `think` is what somebody may believe, `because` why it is not so, both as sentences. The third
    part of the message, the numbers, comes from the case that failed. Bugs of one chapter with the
    same `think` are one misconception that shows in several exercises.
    """

    exercise: str
    think: str
    because: str
    code: str

    def explain(self, numbers: str) -> str:
        """The explanation in three parts; `numbers` come from the case that failed."""
        return f"You may have assumed that {self.think} But {self.because} For example: {numbers}"


@cache
def bugs_of(chapter: str) -> list[KnownBug]:
    """The known bugs of a chapter, in the order of its table; none without one.

    Raises AuthorError, with the file and the exercise, for what is no known bug.
    """
    file = Chapter(chapter).tests.with_suffix(".toml")
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise AuthorError(f"{file.name}: {error}") from None
    rows = [(exercise, row) for exercise, table in tables.items() for row in table]
    return [bug for exercise, row in rows for bug in _bugs_in(file, exercise, row)]


def _bugs_in(file: Path, exercise: str, row: dict) -> Iterator[KnownBug]:
    """The bugs of one row: a misconception, in one form or in several."""
    if row.keys() != KEYS:
        keys = f"{', '.join(sorted(row))}; it takes {', '.join(sorted(KEYS))}"
        raise AuthorError(f"{file.name}: a bug of {exercise} has {keys}")
    think, because = (" ".join(row[key].split()) for key in ("think", "because"))
    material = material_of(file.stem.removeprefix("test_"))
    for old, new in row["patches"]:
        yield KnownBug(exercise, think, because, patched(material, exercise, old, new))


def patched(material: Material, exercise: str, old: str, new: str) -> str:
    """The solution's answer to an exercise with the text `new` in place of `old`.

    Raises AuthorError unless the old text stands there exactly once.
    """
    answer = material.answers.get(exercise, "")
    if answer.count(old) != 1:
        raise AuthorError(
            f"{Chapter(material.chapter).tests.stem}.toml: a bug of {exercise} replaces {old!r}, "
            f"which stands {answer.count(old)} times in the solution; it must stand there once"
        )
    return answer.replace(old, new)
