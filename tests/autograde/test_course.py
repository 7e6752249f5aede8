"""The main job on a class of its own: five students, nbgrader's gradebook, feedback pages."""

import re
import sys
from pathlib import Path

import pytest
from classes.builder_fixtures import TINY, changed, write_chapter
from classes.submitting import CHAPTER

from autograde.build import execute as executing
from autograde.chapter import AuthorError, chapter_names
from autograde.exits import exit_code
from autograde.nbgrader.gradebook import compare, read_scores
from autograde.result import read_grades
from autograde.tools import demo as course
from autograde.tools import site
from autograde.tools.samples import STUDENTS


@pytest.fixture(scope="module")
def sample_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    course.grade_sample_class(folder, [CHAPTER])
    return folder


def test_marks_are_as_the_samples_are_made(sample_class: Path):
    grades = read_grades(course.grades_of(sample_class))
    scores = {student: result[CHAPTER]["score"] for student, result in grades.items()}
    assert list(scores) == sorted(STUDENTS)
    assert scores["ada-right"] == 22.0 and scores["dan-blank"] == 0.0
    assert 0 < scores["cleo-misconceived"] < scores["ben-half"] < 22.0
    assert 0 < scores["eve-crashing"] < 22.0


def test_each_student_has_a_page_of_feedback(sample_class: Path):
    pages = sample_class.glob(f"feedback/*/{CHAPTER}/{CHAPTER}.html")
    assert sorted(page.parts[-3] for page in pages) == sorted(STUDENTS)


@pytest.mark.slow
def test_engine_and_gradebook_agree_on_every_chapter(tmp_path: Path):
    course.grade_sample_class(tmp_path, chapter_names())
    grades = read_grades(course.grades_of(tmp_path))
    assert all(sorted(result) == sorted(chapter_names()) for result in grades.values())
    compare(grades, read_scores(tmp_path))


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The long steps of `make course` as they come, with stand-ins that do nothing else."""
    done: list[str] = []

    def grade_sample_class(folder: Path, _: list[str]) -> None:
        done.append("class graded")

    def execute(sources: list[Path]) -> list:
        done.extend(source.stem for source in sources)
        return []

    monkeypatch.setattr(course, "CLASS", tmp_path / "class")
    monkeypatch.setattr(course, "build", list)
    monkeypatch.setattr(course, "grade_sample_class", grade_sample_class)
    monkeypatch.setattr(course, "show_table", lambda _: done.append("table"))
    monkeypatch.setattr(course, "execute", execute)
    return done


def test_the_table_comes_before_the_chapters(log: list[str], capsys):
    assert course.main() == 0
    assert log == ["class graded", "table", *chapter_names()]
    assert capsys.readouterr().out.endswith(course.NEXT + "\n")


def test_a_failing_chapter_keeps_the_table_and_is_named(
    log: list[str], tmp_path: Path, monkeypatch, capsys
):
    """The first of two cannot run. The second does, and is not run again the next time."""
    bad = changed("return product_of_both", "return x + 1")
    for name, text in {"01_bad": bad, "02_good": TINY}.items():
        write_chapter(tmp_path, text, name)
    paths = sorted((tmp_path / "solutions").iterdir())
    ran: list[str] = []

    def run(notebook, *_) -> str | None:
        text = str(notebook)
        ran.append("bad" if "return x + 1" in text else "good")
        return "cell 5 (test_square) failed." if ran[-1] == "bad" else None

    monkeypatch.setattr(executing, "_run", run)
    monkeypatch.setattr(course, "execute", lambda _: executing.execute(paths, tmp_path / "out"))
    assert [exit_code(course.main), exit_code(course.main)] == [1, 1]
    assert ran == ["bad", "good", "bad"]
    assert log == ["class graded", "table"] * 2
    said = capsys.readouterr()
    assert "01_bad: cell 5 (test_square) failed." in said.err
    assert re.search(r"  01_bad: failed after \d+ s\n  02_good: executed in \d+ s\n", said.out)


def test_a_failing_nbgrader_command_shows_the_end_of_its_log(tmp_path: Path):
    with pytest.raises(SystemExit, match="No notebooks were matched"):
        course.nbgrader(tmp_path, "autograde", "99_none")


@pytest.mark.parametrize("command", [course.main, site.main])
def test_an_authors_mistake_is_a_line_and_no_traceback(command, monkeypatch, capsys):
    def build() -> list:
        raise AuthorError("solutions/02.py, line 3: two cells are called f")

    monkeypatch.setattr(sys.modules[command.__module__], "build", build)
    assert exit_code(command) == 1
    assert capsys.readouterr().err == "solutions/02.py, line 3: two cells are called f\n"
