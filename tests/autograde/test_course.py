"""The main job on a class of its own: five students, nbgrader's gradebook, feedback pages."""

from pathlib import Path

import pytest
from classes.gradebook import compare, read_scores
from classes.submitting import CHAPTER, FULL

from autograde.chapter import AuthorError, chapter_names, exit_code
from autograde.result import read_grades
from autograde.tools import demo as course
from autograde.tools.samples import STUDENTS


def test_marks_are_as_the_samples_are_made_and_each_student_has_a_page(tmp_path: Path):
    course.grade_sample_class(tmp_path, [CHAPTER])
    grades = read_grades(course.grades_of(tmp_path))
    compare(grades, read_scores(tmp_path))
    scores = {student: result[CHAPTER]["score"] for student, result in grades.items()}
    assert list(scores) == sorted(STUDENTS)
    assert scores["ada-right"] == FULL and scores["dan-blank"] == 0.0
    assert 0 < scores["cleo-misconceived"] < scores["ben-half"] < FULL
    assert 0 < scores["eve-crashing"] < FULL
    pages = tmp_path.glob(f"feedback/*/{CHAPTER}/{CHAPTER}.html")
    assert sorted(page.parts[-3] for page in pages) == sorted(STUDENTS)


@pytest.mark.slow
def test_engine_and_gradebook_agree_on_every_chapter(tmp_path: Path):
    course.grade_sample_class(tmp_path, chapter_names())
    grades = read_grades(course.grades_of(tmp_path))
    assert all(sorted(result) == sorted(chapter_names()) for result in grades.values())
    compare(grades, read_scores(tmp_path))


def test_an_authors_mistake_is_a_line_and_no_traceback(capsys: pytest.CaptureFixture):
    def build() -> int:
        raise AuthorError("solutions/02.py, line 3: two cells are called f")

    assert exit_code(build) == 1
    assert capsys.readouterr().err == "solutions/02.py, line 3: two cells are called f\n"
