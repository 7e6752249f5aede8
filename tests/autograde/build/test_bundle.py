"""The student bundle: what is in it, and that a student can work with it alone."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, WRONG_LETTER

from autograde.build.bundle import write_bundle
from autograde.cli import main
from autograde.course import chapter_names
from specdec_lib.lessons.checking.answers import quizzes_of

SOME = ["00_bottleneck", CHAPTER]
# How the words for an option of each quiz of chapter 02 begin: for quiz_02 a wrong one's.
QUIZZES = {
    name: quiz.explanations[WRONG_LETTER][:30]
    for name, quiz in quizzes_of("specdec_lib.lessons.ch02").items()
}


def unzipped(folder: Path, *words: str) -> Path:
    """What `autograde bundle` writes with these words, unpacked."""
    assert main(["bundle", str(folder / "course.zip"), *words]) == 0
    with zipfile.ZipFile(folder / "course.zip") as bundle:
        bundle.extractall(folder)
    (course,) = (path for path in folder.iterdir() if path.is_dir())
    return course


def files_of(bundle: Path) -> set[str]:
    return {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unzipped(tmp_path_factory.mktemp("bundle"))


def test_students_get_the_notebooks_and_the_library_and_no_answers(unpacked: Path):
    top = {path.name for path in unpacked.iterdir()}
    assert {"README.md", "pyproject.toml", "notebooks", "specdec_lib", "environment.yml"} <= top
    assert not top & {"solutions", "autograde", "tests", "nbgrader_config.py"}
    assert sorted(path.name for path in (unpacked / "notebooks").iterdir()) == chapter_names()
    text = "".join(path.read_text() for path in (unpacked / "notebooks").rglob("*.ipynb"))
    assert "BEGIN SOLUTION" not in text and "HIDDEN TESTS" not in text
    assert not [
        name for name in files_of(unpacked) if re.search(r"hidden_tests|/test_|/ch\d\d_", name)
    ]
    # An entry point of a package that is not there would be an error in a student's pytest.
    assert '= "autograde.' not in (unpacked / "pyproject.toml").read_text(encoding="utf-8")


def test_its_pages_point_at_nothing_that_it_lacks(unpacked: Path):
    pages = [unpacked / "README.md", *(unpacked / "docs").iterdir()]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    links = [
        page.parent / link
        for page, text in texts.items()
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    ]
    assert [link for link in links if not link.exists()] == []
    assert not re.search(r"\bmake [a-z]+`|\bautograde\b", texts[pages[0]])  # the instructor's


def test_it_holds_the_guides_that_its_chapters_name_and_a_table_of_them(unpacked: Path):
    chapters = [path.read_text() for path in (unpacked / "notebooks").rglob("*.ipynb")]
    named = {name for text in chapters for name in re.findall(r"`(docs/\w+\.md)`", text)}
    assert {"docs/field_guide.md", "docs/regimes.md"} <= named <= files_of(unpacked)
    assert "docs/your_log_says.md" in files_of(unpacked)
    rows = re.findall(r"^\| \[\d\d .*\|$", (unpacked / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == len(chapter_names())


def test_a_student_starts_with_some_chapters_and_gets_the_others_later(unpacked: Path, tmp_path):
    some = unzipped(tmp_path, *(word for name in SOME for word in ("--chapter", name)))
    others = {f"notebooks/{n}/{n}.ipynb" for n in chapter_names() if n not in SOME}
    assert files_of(unpacked) - files_of(some) == others
    assert not any(other in (some / "README.md").read_text() for other in others)
    write_bundle(tmp_path / "again.zip", SOME)
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "course.zip").read_bytes()
    work = tmp_path / "work"
    assert specdec(some, "start", "--no-lab", "--work", work).count(": copied") == len(SOME)
    told = specdec(unpacked, "update", "--work", work)
    assert told.count("no change") == len(SOME)
    assert told.count(": new") == len(chapter_names()) - len(SOME)


def test_its_quizzes_answer_at_once_or_hold_no_answers(unpacked: Path, tmp_path: Path):
    without = unzipped(tmp_path, "--quizzes", "after-grading")
    left = files_of(unpacked) - files_of(without)
    assert left == {f"specdec_lib/lessons/ch{name[:2]}/quizzes.toml" for name in chapter_names()}
    library = (path for path in (without / "specdec_lib").rglob("*") if path.is_file())
    text = b"".join(path.read_bytes() for path in library).decode(errors="ignore")
    assert not [quiz for quiz in QUIZZES if f"[{quiz}]" in text or QUIZZES[quiz] in text]
    chosen = f"answered('quiz_02', '{WRONG_LETTER}')"
    shown = f"try:\n    {chosen}\nexcept AssertionError as wrong:\n    print(wrong)"
    asked = f"from specdec_lib.lessons.ch02.lesson import answered\n{shown}"
    assert f"not right. {QUIZZES['quiz_02']}" in python(unpacked, "-c", asked)
    assert python(without, "-c", asked) == f"quiz_02: your answer {WRONG_LETTER} is recorded.\n"


def python(bundle: Path, *words: object) -> str:
    """What Python prints with the bundle's own library."""
    command = [sys.executable, "-B", *map(str, words)]
    own = os.environ | {"PYTHONPATH": str(bundle)}  # also of a program that it starts
    done = subprocess.run(command, cwd=bundle, env=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def specdec(bundle: Path, *words: object) -> str:
    """What `specdec` prints with the bundle's own library."""
    return python(bundle, "-m", "specdec_lib.cli", *words)


@pytest.mark.slow
def test_a_student_installs_it(unpacked: Path, tmp_path: Path):
    """In a fresh environment, with its own command and without the grader's."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    commands = tmp_path / "venv" / "bin"
    install = [commands / "python", "-m", "pip", "install", "-q", "--no-deps", unpacked]
    subprocess.run(install, check=True)
    assert (commands / "specdec").exists() and not (commands / "autograde").exists()
    start = [commands / "python", "-c", "import specdec_lib; print(specdec_lib.__file__)"]
    done = subprocess.run(start, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.startswith(str(tmp_path / "venv"))
