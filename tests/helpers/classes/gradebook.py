"""The automatic marks of nbgrader's gradebook, compared with the grader's own."""

from pathlib import Path

from nbgrader.api import Gradebook

from autograde.grading.result import Grades

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


def require_same_marks(grades: Grades, scores: Scores) -> None:
    """Every mark of the grader is the gradebook's, to the last digit."""
    for student, chapters in grades.items():
        for chapter, result in chapters.items():
            ours = {name: e["score"] for name, e in result["exercises"].items()}
            assert ours == scores.get(student, {}).get(chapter), (student, chapter)
