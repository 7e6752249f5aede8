"""The student bundle: what is in it, and that a student can work with it alone."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograde.bugs import answers_of
from autograde.build.bundle import write_bundle
from autograde.chapter import chapter_names
from autograde.cli import main
from autograde.pool import grade_class
from autograde.tools.samples import filled
from specdec_lib.lessons.ch02 import quizzes

CHAPTER = "02_rejection_sampling"
SOME = ["00_bottleneck", CHAPTER]
# The answers to chapter 02's quizzes: how the text of their first wrong options begins.
QUIZZES = {each: getattr(quizzes, each)().a[:30] for each in ("quiz_02", "quiz_02_b")}


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


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of `SOME`."""
    words = [word for name in reversed(SOME) for word in ("--chapter", name)]
    return unzipped(tmp_path_factory.mktemp("some"), *words)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle for self-study."""
    return unzipped(tmp_path_factory.mktemp("alone"), "--self-study")


def test_students_get_the_notebooks_and_the_library_and_no_answers(unpacked: Path):
    top = {path.name for path in unpacked.iterdir()}
    assert {"README.md", "pyproject.toml", "notebooks", "specdec_lib", "environment.yml"} <= top
    assert not top & {"solutions", "autograde", "tests", "docs", "nbgrader_config.py"}
    assert sorted(path.name for path in (unpacked / "notebooks").iterdir()) == chapter_names()
    text = "".join(path.read_text() for path in (unpacked / "notebooks").rglob("*.ipynb"))
    assert "BEGIN SOLUTION" not in text and "HIDDEN TESTS" not in text
    # pip makes the commands that it names, and that of the grader could not start.
    assert "autograde.cli" not in (unpacked / "pyproject.toml").read_text(encoding="utf-8")


def test_its_readme_points_at_nothing_that_it_lacks(unpacked: Path):
    text = (unpacked / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert [link for link in links if not (unpacked / link).exists()] == []
    assert not re.search(r"\bmake [a-z]+`|\bautograde\b", text)  # the instructor's commands


def test_with_chapters_it_has_their_notebooks_only_and_all_else(some: Path, unpacked: Path):
    others = {f"notebooks/{n}/{n}.ipynb" for n in chapter_names() if n not in SOME}
    assert files_of(unpacked) - files_of(some) == others
    first = (some.parent / "course.zip").read_bytes()
    write_bundle(some.parent / "again.zip", [*SOME, CHAPTER])
    assert (some.parent / "again.zip").read_bytes() == first


def test_its_quizzes_answer_at_once_or_hold_no_answers(unpacked: Path, tmp_path: Path):
    without = unzipped(tmp_path, "--quizzes", "after-grading")
    left = files_of(unpacked) - files_of(without)
    assert left == {f"specdec_lib/lessons/ch{name[:2]}/quizzes.py" for name in chapter_names()}
    text = "".join(path.read_text() for path in without.rglob("*.py"))
    assert not [quiz for quiz in QUIZZES if f"def {quiz}(" in text or QUIZZES[quiz] in text]
    asked = "from specdec_lib.lessons.ch02.checks import answered; answered('quiz_02', 'a')"
    assert f"not right. {QUIZZES['quiz_02']}" in python(unpacked, asked)
    assert python(without, asked) == "quiz_02: your answer a is recorded.\n"
    assert main(["bundle", "no.zip", "--self-study", "--quizzes", "after-grading"]) == 2


def python(bundle: Path, code: str) -> str:
    """What a line of Python prints with the bundle's own library."""
    command = [sys.executable, "-B", "-c", code]
    return subprocess.run(command, cwd=bundle, capture_output=True, text=True, check=True).stdout


def specdec(bundle: Path, *arguments: object) -> str:
    """What `specdec` prints with the bundle's own library."""
    command = [sys.executable, "-B", "-m", "specdec_lib.cli", *map(str, arguments)]
    own = os.environ | {"PYTHONPATH": str(bundle)}  # also of a program that it starts
    done = subprocess.run(command, cwd=bundle, env=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_student_starts_with_some_chapters_and_gets_the_others_later(
    some: Path, unpacked: Path, tmp_path: Path
):
    work = tmp_path / "work"
    told = specdec(some, "start", "--no-lab", "--work", work)
    assert told.count(": copied") == len(SOME)
    assert sorted(path.name for path in work.glob("[0-9]*")) == SOME
    assert specdec(some, "update", "--work", work).count("no change") == len(SOME)
    told = specdec(unpacked, "update", "--work", work)
    assert told.count("no change") == len(SOME)
    assert told.count(": new") == len(chapter_names()) - len(SOME)


def test_who_studies_alone_gets_the_answers_and_is_told_so(alone: Path, unpacked: Path):
    more = files_of(alone) - files_of(unpacked)
    assert files_of(unpacked) <= files_of(alone)
    assert {f"solutions/{name}/{name}.ipynb" for name in chapter_names()} <= more
    assert {name.split("/")[0] for name in more} == {"solutions", "autograde"}
    told = (alone / "README.md").read_text(encoding="utf-8")
    assert "it holds the answers" in told
    assert told.endswith((unpacked / "README.md").read_text(encoding="utf-8"))


def test_who_studies_alone_marks_with_the_bundle_alone(alone: Path, tmp_path: Path):
    """With the bundle's own packages and no others of ours: the path comes first."""
    specdec(alone, "start", "--no-lab", "--work", tmp_path)
    path = tmp_path / CHAPTER / f"{CHAPTER}.ipynb"
    wrong = answers_of(CHAPTER) | {"quiz_02": 'quiz_02 = "a"'}
    nbformat.write(filled(nbformat.read(path, as_version=4), wrong), path)
    told = specdec(alone, "mark", "--no-browser", "--work", tmp_path)
    assert f"{CHAPTER}: 21 of 22 points" in told
    assert (tmp_path / "marks" / f"{CHAPTER}.html").is_file()


@pytest.mark.slow
def test_a_student_installs_it_solves_a_chapter_and_is_graded(unpacked: Path, tmp_path: Path):
    """A fresh environment with the bundle alone; the seven packages come from this one."""
    python = _environment_with(unpacked, tmp_path / "venv")
    work = tmp_path / "work"
    start = [python.parent / "specdec", "start", "--no-lab", "--work", work]
    subprocess.run(start, cwd=tmp_path, check=True)
    assert not (python.parent / "autograde").exists()
    path = work / CHAPTER / f"{CHAPTER}.ipynb"
    solved = filled(nbformat.read(path, as_version=4), answers_of(CHAPTER))
    nbformat.write(solved, path)
    _run_all_cells(python, path)
    handed_in = tmp_path / "submitted" / "ada" / CHAPTER
    shutil.copytree(path.parent, handed_in)
    result = grade_class(tmp_path / "submitted")["ada"][CHAPTER]
    assert result["score"] == result["max_score"]


def _environment_with(bundle: Path, folder: Path) -> Path:
    """A virtual environment in which the bundle is installed and this one's packages are seen."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    install = [python, "-m", "pip", "install", "-q", "--no-deps", "-e", bundle]
    subprocess.run(install, check=True)
    (site,) = folder.rglob("site-packages")
    others = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
    (site / "others.pth").write_text("\n".join(others) + "\n")
    return python


def _run_all_cells(python: Path, path: Path) -> None:
    """Execute the notebook there with the bundle's library; an exception fails the test."""
    code = (
        "import json, sys; from IPython.core.interactiveshell import InteractiveShell;"
        "shell = InteractiveShell.instance();"
        "cells = json.load(open(sys.argv[1]))['cells'];"
        "[shell.run_cell(''.join(c['source'])).raise_error() "
        "for c in cells if c['cell_type'] == 'code']"
    )
    command = [python, "-c", code, path]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
