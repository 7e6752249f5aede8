"""nbgrader's gradebook: reading the automatic marks, and comparing them with the grader's."""

from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.api import Gradebook

from autograde.result import Grades

Scores = dict[str, dict[str, dict[str, float]]]


def read_scores(course: Path) -> Scores:
    """The automatic mark of every graded code cell, by student, chapter and exercise."""
    scores: Scores = {}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for assignment in gradebook.assignments:
            for submission in assignment.submissions:
                marks = scores.setdefault(submission.student.id, {})
                marks[assignment.name] = {
                    grade.name.removeprefix("test_"): grade.auto_score
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                    if grade.cell.cell_type == "code"
                }
    return scores


def extend(course: Path, chapter: str, student: str, time: timedelta) -> datetime:
    """Extend the student's time for the chapter; returns the new due date (UTC).

    Raises ValueError if there is no such class, submission or due date.
    """
    file = course / "gradebook.db"
    if not file.is_file():  # nbgrader would make an empty one
        raise ValueError(f"there is no class in {course}: it has no gradebook.db")
    with Gradebook(f"sqlite:///{file}") as gradebook:
        due = gradebook.find_submission(chapter, student).assignment.duedate
        if due is None:
            raise ValueError(
                f"{chapter} has no due date; give it one: "
                f'nbgrader db assignment add {chapter} --duedate "2027-02-01 12:00 UTC"'
            )
        gradebook.grant_extension(chapter, student, hours=time / timedelta(hours=1))
        return due + time


def compare(grades: Grades, scores: Scores) -> None:
    """Raise ValueError if a mark of the grader is not the gradebook's, to the last digit."""
    for student, chapters in grades.items():
        for chapter, result in chapters.items():
            ours = {name: e["score"] for name, e in result["exercises"].items()}
            theirs = scores.get(student, {}).get(chapter)
            if ours != theirs:
                raise ValueError(
                    f"{student}, {chapter}: the gradebook has {theirs}, the grader {ours}. "
                    "Grade the class again with nbgrader autograde --force."
                )
