"""The known bugs of a chapter: patches of its solution, with words for a student who has one.

They serve twice: the gates hold that each of them loses points, and a student whose function
behaves like one of them reads why it is wrong (see causes.py).
"""

from dataclasses import dataclass

from autograde.course import AuthorError, Chapter
from autograde.hidden.exercise import Bug
from autograde.hidden.material import Material


@dataclass(frozen=True)
class KnownBug:
    """A wrong answer: the code of a whole cell, and its explanation (see `exercise.Bug`)."""

    exercise: str
    think: str
    because: str
    code: str

    def explain(self, numbers: str) -> str:
        """The explanation in three parts; `numbers` come from the case that failed."""
        return f"You may have assumed that {self.think} But {self.because} For example: {numbers}"


def patched(material: Material, bug: Bug) -> KnownBug:
    """The wrong answer that a bug makes of the solution.

    Raises AuthorError unless the text that it replaces stands there exactly once.
    """
    answer = material.answers.get(bug.exercise, "")
    if answer.count(bug.old) != 1:
        raise AuthorError(
            f"{Chapter(material.chapter).tests.name}: a bug of {bug.exercise} replaces "
            f"{bug.old!r}, which stands {answer.count(bug.old)} times in the solution; it must "
            "stand there once"
        )
    return KnownBug(bug.exercise, bug.think, bug.because, answer.replace(bug.old, bug.new))
