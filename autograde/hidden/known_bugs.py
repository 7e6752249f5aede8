"""The known bugs of a chapter: patches of its solution, with words for a student who has one.

They serve twice: the gates hold that each of them loses points, and a student whose function
behaves like one of them reads why it is wrong (see cause.py).
"""

from dataclasses import dataclass
from functools import cache

from autograde.course import AuthorError, Chapter
from autograde.hidden.exercise import Bug, Exercise
from autograde.intake.submission import is_answer, solution_of

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"


@dataclass(frozen=True)
class KnownBug:
    """A wrong answer: the code of a whole cell, and its explanation (see `check.Bug`)."""

    exercise: str
    think: str
    because: str
    code: str

    def explain(self, numbers: str) -> str:
        """The explanation in three parts; `numbers` come from the case that failed."""
        return f"You may have assumed that {self.think} But {self.because} For example: {numbers}"


@cache
def bugs_of(chapter: str) -> list[KnownBug]:
    """The known bugs of a chapter, in the order of its tests; none without tests."""
    known = Chapter(chapter)
    names = vars(known.import_tests()) if known.tests.is_file() else {}
    exercises = [each for each in names.values() if isinstance(each, Exercise)]
    return [patched(chapter, bug) for exercise in exercises for bug in exercise.bugs]


def patched(chapter: str, bug: Bug) -> KnownBug:
    """The wrong answer that a bug makes of the solution.

    Raises AuthorError unless the text that it replaces stands there exactly once.
    """
    answer = answers_of(chapter).get(bug.exercise, "")
    if answer.count(bug.old) != 1:
        raise AuthorError(
            f"{Chapter(chapter).tests.name}: a bug of {bug.exercise} replaces {bug.old!r}, which "
            f"stands {answer.count(bug.old)} times in the solution; it must stand there once"
        )
    return KnownBug(bug.exercise, bug.think, bug.because, answer.replace(bug.old, bug.new))


@cache
def answers_of(chapter: str) -> dict[str, str]:
    """The right answer of every cell that a student writes in, by its name."""
    cells = [cell for cell in solution_of(chapter).cells if is_answer(cell)]
    return {cell.metadata.nbgrader.grade_id: without_marks(cell.source) for cell in cells}


def without_marks(source: str) -> str:
    """The source of a cell less the lines that mark its solution region."""
    marks = (BEGIN_SOLUTION, END_SOLUTION)
    return "\n".join(line for line in source.split("\n") if line.strip() not in marks)
