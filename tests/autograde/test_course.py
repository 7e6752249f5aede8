"""The main job on a class of its own: five students, nbgrader's gradebook, feedback pages."""

import sys
from pathlib import Path

import pytest
from classes.submitting import CHAPTER

from autograde.chapter import AuthorError, chapter_names
from autograde.commands import exit_code
from autograde.nbgrader.gradebook import compare, read_scores
from autograde.pool import grade_class
from autograde.tools import demo as course
from autograde.tools import site
from autograde.tools.samples import STUDENTS


def grade_samples(folder: Path, names: list[str]) -> None:
    """What `make course` does after the build, for some chapters, in a folder of its own."""
    places = {"CLASS": folder, "LOG": folder / "log", "GRADES": folder / "grades.json"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (places | {"chapter_names": lambda: names}).items():
            patch.setattr(course, name, value)
        course.grade_sample_class()


@pytest.fixture(scope="module")
def sample_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    grade_samples(folder, [CHAPTER])
    return folder


def test_marks_are_as_the_samples_are_made(sample_class: Path):
    grades = grade_class(sample_class / "submitted").grades
    scores = {student: result[CHAPTER]["score"] for student, result in grades.items()}
    assert list(scores) == sorted(STUDENTS)
    assert scores["ada-right"] == 22.0 and scores["dan-blank"] == 0.0
    assert 0 < scores["cleo-misconceived"] < scores["ben-half"] < 22.0
    assert 0 < scores["eve-crashing"] < scores["ben-half"]


@pytest.mark.slow
def test_engine_and_gradebook_agree_on_every_chapter(tmp_path: Path):
    grade_samples(tmp_path, chapter_names())
    grades = grade_class(tmp_path / "submitted").grades
    assert all(sorted(result) == sorted(chapter_names()) for result in grades.values())
    compare(grades, read_scores(tmp_path))


def test_a_second_run_does_nothing_again(monkeypatch, tmp_path: Path, capsys):
    for name, value in {"STAMP": tmp_path / "stamp", "GRADES": tmp_path / "grades.json"}.items():
        monkeypatch.setattr(course, name, value)
    for step in ("build", "execute", "compare", "read_scores"):
        monkeypatch.setattr(course, step, lambda *_: [])
    monkeypatch.setattr(course, "grade_sample_class", None)  # a call would fail
    (tmp_path / "stamp").write_text(course.fingerprint())
    (tmp_path / "grades.json").write_text('{"students": {}}')
    assert course.main() == 0
    assert "sample class: up to date" in capsys.readouterr().out


def test_a_failing_nbgrader_command_shows_the_end_of_its_log(sample_class: Path, monkeypatch):
    monkeypatch.setattr(course, "LOG", sample_class / "other-log")
    with pytest.raises(SystemExit, match="No notebooks were matched"):
        course.nbgrader("autograde", "99_none")


@pytest.mark.parametrize("command", [course.main, site.main])
def test_an_authors_mistake_is_a_line_and_no_traceback(command, monkeypatch, capsys):
    def build() -> list:
        raise AuthorError("solutions/02.py, line 3: two cells are called f")

    monkeypatch.setattr(sys.modules[command.__module__], "build", build)
    assert exit_code(command) == 1
    assert capsys.readouterr().err == "solutions/02.py, line 3: two cells are called f\n"
