"""A small class, graded with the commands of docs/instructor.md, for tests of what they leave."""

from functools import cache
from pathlib import Path

import nbformat
from classes.submitting import CHAPTER, hand_in, run_nbgrader

from autograde.build.release import release_into
from autograde.pool import grade_class
from autograde.tools.samples import sample

STUDENTS = ("ada-right", "cleo-misconceived")


def make(course: Path) -> None:
    """Two students hand in, nbgrader grades them and writes their feedback."""
    release_into(course, [CHAPTER])
    for student in STUDENTS:
        hand_in(course / "submitted", student, nbformat.writes(sample(student, CHAPTER)))
    for command in ("autograde", "generate_feedback"):
        run_nbgrader(course, command, CHAPTER)


def feedback_page(course: Path, student: str) -> Path:
    """The page that the student gets."""
    return course / "feedback" / student / CHAPTER / f"{CHAPTER}.html"


@cache
def grades(course: Path) -> dict:
    """What `autograde grade` says of the class, by student and chapter."""
    return grade_class(course / "submitted")
