"""docs/own_course.md, followed from an empty folder to marks: its commands as they stand.

They run in one order, once, with a grader that is installed apart from this repository; the tests
look at what came out of it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograde.cli import main
from autograde.course import GRADER, ROOT
from autograde.intake.files import files_below

PAGE = (ROOT / "docs" / "own_course.md").read_text(encoding="utf-8")
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
CHAPTER = "01_temperatures"


@dataclass(frozen=True)
class Shell:
    """The folder in which the page's commands run, and the one that the grader is installed in."""

    start: Path
    installed: Path

    @property
    def course(self) -> Path:
        return self.start / "temperatures"

    def run(self, line: str, place: Path | None = None) -> subprocess.CompletedProcess:
        """A line with the installed grader, and the other packages of this environment."""
        programs = (self.installed / "bin", Path(sys.executable).parent, os.environ["PATH"])
        environment = {k: v for k, v in os.environ.items() if k != "AUTOGRADE_ROOT"}
        environment["PATH"] = os.pathsep.join(map(str, programs))
        environment["PYTHONPATH"] = str(self.installed)
        how = {"cwd": place or self.course, "env": environment, "capture_output": True}
        return subprocess.run(["bash", "-c", line], text=True, **how)


def said(done: subprocess.CompletedProcess) -> str:
    return done.stdout + done.stderr


def install(source: Path, target: Path) -> None:
    """Install a package from its folder as pip does, without what it needs."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*command, "--target", target, source], capture_output=True, text=True)
    assert done.returncode == 0, said(done)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a grader that is installed from a copy of this repository."""
    copy = tmp_path_factory.mktemp("copy")
    left_out = shutil.ignore_patterns("__pycache__", "assets")  # the models are large
    for name in ("autograde", "specdec_lib"):
        shutil.copytree(ROOT / name, copy / name, ignore=left_out)
    for name in ("LICENSE", "LICENSE-text.md", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, copy / name)
    target = tmp_path_factory.mktemp("installed")
    install(copy, target)
    shutil.rmtree(copy)
    return target


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory, installed: Path) -> Shell:
    """The page, followed."""
    shell = Shell(tmp_path_factory.mktemp("own"), installed)
    lines = [line for text in COMMANDS.findall(PAGE) for line in text.splitlines()]
    for number, line in enumerate(line for line in lines if line != "cd temperatures"):
        done = shell.run(line, None if number else shell.start)
        assert done.returncode == 0, f"{line}\n{said(done)}"
    return shell


@pytest.mark.slow
def test_nothing_of_the_grader_lies_in_the_course(followed: Shell):
    where = followed.run("python -c 'import autograde; print(autograde.__file__)'")
    assert where.stdout.startswith(str(followed.installed))
    example = GRADER / "build" / "example"
    grader = {p.read_bytes() for p in files_below(GRADER) if not p.is_relative_to(example)}
    assert [path for path in files_below(followed.course) if path.read_bytes() in grader] == []
    kit = (followed.course / "temperatures_lib" / "checking").glob("*.py")
    assert "specdec_lib" not in "".join(path.read_text(encoding="utf-8") for path in kit)


@pytest.mark.slow
def test_the_page_ends_with_marks_and_a_cause(followed: Shell):
    grades = json.loads((followed.course / "grades.json").read_text())["students"]
    ada, ben = (grades[name][CHAPTER] for name in ("ada", "ben"))
    assert (ada["status"], ada["score"], ada["max_score"]) == ("graded", 0.0, 2.0)
    assert ben["score"] == 1.0
    assert ben["exercises"]["celsius"]["causes"] == ["a temperature is never negative."]
    assert ben["pending"] == ["why_two_scales"]


@pytest.mark.slow
def test_the_bundle_holds_notebooks_and_a_library_that_can_be_installed(followed: Shell, tmp_path):
    library = followed.course / "temperatures_lib"
    (library / "scale.txt").write_text("Fahrenheit\n")
    done = followed.run("autograde bundle again.zip")
    assert done.returncode == 0, said(done)
    with zipfile.ZipFile(followed.course / "again.zip") as bundle:
        bundle.extractall(tmp_path)
    course = tmp_path / "temperatures"
    names = {path.relative_to(course).as_posix() for path in files_below(course)}
    ours = {f"temperatures_lib/{p.relative_to(library).as_posix()}" for p in files_below(library)}
    notebook = f"notebooks/{CHAPTER}/{CHAPTER}.ipynb"
    assert names == {"README.md", "pyproject.toml", notebook} | ours
    assert "HIDDEN TESTS" not in (course / notebook).read_text(encoding="utf-8")
    install(course, tmp_path / "there")
    there = tmp_path / "there" / "temperatures_lib"
    assert (there / "checking" / "LICENSE").is_file() and (there / "scale.txt").is_file()
    assert not (tmp_path / "there" / "autograde").exists()


def nbgraders_own() -> nbformat.NotebookNode:
    """A notebook as nbgrader's own users write it, with a hidden test in its cell."""
    common = {"schema_version": 3, "task": False, "locked": True, "solution": False}
    metadata = {"nbgrader": common | {"grade": True, "grade_id": "hidden_cell", "points": 2}}
    source = "### BEGIN HIDDEN TESTS\nassert celsius(32) == 0\n### END HIDDEN TESTS"
    return new_notebook(cells=[new_code_cell(source, metadata=metadata)])


@pytest.mark.slow
def test_a_notebook_with_tests_in_its_cells_is_refused(followed: Shell):
    path = followed.course / "solutions" / "old" / "old.ipynb"
    path.parent.mkdir()
    nbformat.write(nbgraders_own(), path)
    done = followed.run("nbgrader generate_assignment old")
    assert done.returncode == 1
    assert "its tests stand in its own cells (hidden_cell)" in said(done)
    assert not (followed.course / "course" / "release" / "old").exists()


def test_a_course_takes_the_place_of_nothing(tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["new", str(tmp_path)]) == 2
    assert [path.name for path in tmp_path.rglob("*")] == ["mine.txt"]
