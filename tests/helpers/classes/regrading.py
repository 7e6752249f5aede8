"""The solution with other answers in it, graded."""

from classes.wrong_rounds import without_others

from autograde.grade import grade
from autograde.result import Result
from autograde.submission import release_of
from autograde.tools.samples import filled, solutions_of


def grade_with(chapter: str, **answers: str) -> Result:
    """The solution's result with other `answers` in it."""
    return grade(filled(release_of(chapter), solutions_of(chapter) | answers), chapter)


def grade_alone(chapter: str, **answers: str) -> Result:
    """The result of a notebook with these `answers`, the solution's where they call them, no more.

    An exercise goes as in `grade_with`, and the others take no time.
    """
    return grade_with(chapter, **without_others(chapter, answers))
