"""The main job on a class of its own: five students, nbgrader's gradebook, feedback pages."""

from pathlib import Path

import pytest
from classes.gradebook import read_scores, require_same_marks

from autograde.course import AuthorError, chapter_names, exit_code
from autograde.grading.result import read_grades
from autograde.tools import demo
from autograde.tools.samples import STUDENTS


@pytest.mark.slow
def test_marks_are_as_the_samples_are_made_and_each_student_has_a_page(tmp_path: Path):
    chapter = chapter_names()[0]  # the one that is graded soonest
    demo.grade_sample_class(tmp_path, [chapter])
    grades = read_grades(demo.grades_of(tmp_path))
    require_same_marks(grades, read_scores(tmp_path))
    scores = {student: result[chapter]["score"] for student, result in grades.items()}
    assert list(scores) == sorted(STUDENTS)
    full = grades["ada-right"][chapter]["max_score"]
    assert scores["ada-right"] == full and scores["dan-blank"] == 0.0
    assert 0 < scores["cleo-misconceived"] < scores["ben-half"] < full
    assert 0 < scores["eve-crashing"] < full
    pages = tmp_path.glob(f"feedback/*/{chapter}/{chapter}.html")
    assert sorted(page.parts[-3] for page in pages) == sorted(STUDENTS)


def test_an_authors_mistake_is_a_line_and_no_traceback(capsys: pytest.CaptureFixture):
    def build() -> int:
        raise AuthorError("solutions/02.py, line 3: two cells are called f")

    assert exit_code(build) == 1
    assert capsys.readouterr().err == "solutions/02.py, line 3: two cells are called f\n"
