"""Wrong answers as students write them, each with words of the causes that it may be told.

A failed test group is told a known bug's thought that has such words, or none: a wrong cause is
worse than none.
"""

from dataclasses import dataclass

from data_files import table

from autograde.course import chapter_names
from autograde.hidden.material import material_of


@dataclass(frozen=True)
class Attempt:
    """A wrong answer to an exercise, with words of what its failed test groups may be told."""

    exercise: str
    name: str
    causes: list[str]
    code: str

    @property
    def chapter(self) -> str:
        return chapter_of(self.exercise)


def chapter_of(exercise: str) -> str:
    """The chapter that asks for it: no two have an exercise of one name."""
    (chapter,) = [each for each in chapter_names() if exercise in material_of(each).answers]
    return chapter


def with_slips(exercise: str, *slips: tuple[str, str]) -> str:
    """The solution's answer with the new text of each slip for the old, which stands there once."""
    code = material_of(chapter_of(exercise)).answers[exercise]
    for old, new in slips:
        assert code.count(old) == 1, (exercise, old)
        code = code.replace(old, new)
    return code


def _attempt(exercise: str, row: dict) -> Attempt:
    code = row.get("code") or with_slips(exercise, *row["slips"])
    return Attempt(exercise, row["name"], row["causes"], code)


ATTEMPTS = [_attempt(name, row) for name, rows in table("attempts.toml").items() for row in rows]
