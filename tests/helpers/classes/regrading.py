"""The solution with other answers in it, graded."""

from autograde.grade import grade
from autograde.result import Result
from autograde.submission import release_of
from autograde.tools.samples import filled, solutions_of


def grade_with(chapter: str, **answers: str) -> Result:
    """The solution's result with other `answers` in it."""
    return grade(filled(release_of(chapter), solutions_of(chapter) | answers), chapter)
