"""How a course is found; and the main job on a class of five: gradebook, feedback pages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from classes.gradebook import read_scores, require_same_marks

from autograde import course as the_course
from autograde.course import ROOT, Course, UsageError, chapter_names
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


@pytest.fixture
def courses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two courses, `one` and `other`, and with a third one in `one/inner`."""
    for name in ("one", "other", "one/inner"):
        (tmp_path / name / "solutions").mkdir(parents=True)
        (tmp_path / name / "pyproject.toml").write_text("[tool.autograde]\nseed = 5\n")
    monkeypatch.delenv(the_course.ROOT_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path.resolve()


def course_here() -> Course:
    """The course that another process would find now."""
    return the_course.current_course.__wrapped__()


@pytest.mark.parametrize(
    ("folder", "root"),
    [("one", "one"), ("one/solutions", "one"), ("one/inner/solutions", "one/inner")],
)
def test_the_course_is_the_nearest_one_upwards(courses: Path, monkeypatch, folder, root):
    monkeypatch.chdir(courses / folder)
    course = course_here()
    assert (course.root, course.name, course.seed) == (courses / root, Path(root).name, 5)
    assert course.tests == course.root / "hidden_tests" and course.library is None
    assert sys.path[0] == str(course.root)


def test_a_file_of_settings_names_its_own_course_where_another_one_would_be_found(
    courses: Path, monkeypatch
):
    monkeypatch.chdir(courses / "one")
    the_course.set_root(courses / "one")
    assert the_course.ROOT_VARIABLE not in os.environ
    monkeypatch.setenv(the_course.ROOT_VARIABLE, "")  # restored at the end
    the_course.set_root(courses / "other")
    assert course_here().root == courses / "other"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no course found: looked in "),
        ("[tool.autograde]\nseeds = 7\n", "takes hidden_tests, kit, library, seed, and not seeds"),
        ("[tool.autograde]\nseed = -1\n", "the seed is -1; write a whole number"),
        ("[tool.autograde\n", "pyproject.toml: Expected"),
    ],
)
def test_what_is_wrong_is_said(courses: Path, monkeypatch, text: str, words: str):
    (courses / "pyproject.toml").write_text(text)
    monkeypatch.chdir(courses)
    with pytest.raises(UsageError, match=words):
        course_here()
    monkeypatch.setenv(the_course.ROOT_VARIABLE, str(courses))
    with pytest.raises(UsageError, match=words.replace("looked in", "\\$AUTOGRADE_ROOT names")):
        course_here()


def test_without_a_course_a_command_says_so_and_help_and_new_work(courses: Path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def autograde(*words: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "autograde", *words]
        return subprocess.run(command, cwd=courses, capture_output=True, text=True)

    done = autograde("build")
    assert done.returncode == 2 and done.stderr.startswith("autograde: no course found: looked in")
    assert done.stderr.count("\n") == 1
    assert autograde("--help").returncode == 0
    assert autograde("new", "mine").returncode == 0 and (courses / "mine" / "solutions").is_dir()


def test_specdec_mark_marks_by_the_course_that_its_library_belongs_to(courses: Path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (courses / "work").mkdir()
    command = [sys.executable, "-m", "specdec_lib.cli", "mark", "02", "--work", courses / "work"]
    done = subprocess.run(command, cwd=courses / "one", capture_output=True, text=True)
    assert "02_rejection_sampling.ipynb: `specdec start` copies it" in done.stderr
