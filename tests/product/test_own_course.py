"""docs/own_course.md, followed from an empty folder to marks: its commands as they stand.

They run in one order, once; the tests look at what came out of it.
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
from autograde.course import ROOT

PAGE = (ROOT / "docs" / "own_course.md").read_text(encoding="utf-8")
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
CHAPTER = "01_temperatures"


@dataclass(frozen=True)
class Shell:
    """The folder in which the page's commands run."""

    start: Path

    @property
    def course(self) -> Path:
        return self.start / "temperatures"

    def run(self, line: str, place: Path | None = None) -> subprocess.CompletedProcess:
        """A line in this environment; only the first takes this repository's grader."""
        commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        line = line.replace("autograde new", f"PYTHONPATH='{ROOT}' python -m autograde new")
        return subprocess.run(
            ["bash", "-c", line],
            cwd=place or self.course,
            env=environment | {"PATH": commands},
            capture_output=True,
            text=True,
        )


def said(done: subprocess.CompletedProcess) -> str:
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """The page, followed."""
    shell = Shell(tmp_path_factory.mktemp("own"))
    lines = [line for text in COMMANDS.findall(PAGE) for line in text.splitlines()]
    for number, line in enumerate(line for line in lines if line != "cd temperatures"):
        done = shell.run(line, None if number else shell.start)
        assert done.returncode == 0, f"{line}\n{said(done)}"
    return shell


@pytest.mark.slow
def test_the_page_ends_with_marks_and_a_cause(followed: Shell):
    grades = json.loads((followed.course / "grades.json").read_text())["students"]
    ada, ben = (grades[name][CHAPTER] for name in ("ada", "ben"))
    assert (ada["status"], ada["score"], ada["max_score"]) == ("graded", 0.0, 2.0)
    assert (ben["score"], ben["exercises"]["celsius"]["causes"]) == (
        1.0,
        ["a temperature is never negative."],
    )
    assert ben["pending"] == ["why_two_scales"]


@pytest.mark.slow
def test_the_bundle_holds_notebooks_and_no_model(followed: Shell):
    with zipfile.ZipFile(followed.course / "build" / "temperatures.zip") as bundle:
        names = set(bundle.namelist())
        text = "".join(bundle.read(name).decode() for name in names)
    notebook = f"temperatures/notebooks/{CHAPTER}/{CHAPTER}.ipynb"
    assert names == {"temperatures/README.md", notebook}
    assert "HIDDEN TESTS" not in text and "specdec" not in text


@pytest.mark.slow
def test_a_library_of_the_course_is_packed_and_can_be_installed(followed: Shell, tmp_path: Path):
    project, library = followed.course / "pyproject.toml", followed.course / "thermometer"
    before = project.read_text(encoding="utf-8")
    project.write_text(f'{before}library = "thermometer"\n', encoding="utf-8")
    library.mkdir()
    (library / "__init__.py").write_text("ZERO = 32\n")
    (library / "scale.txt").write_text("Fahrenheit\n")
    done = followed.run("python -m autograde bundle library.zip")
    project.write_text(before, encoding="utf-8")
    shutil.rmtree(library)
    assert done.returncode == 0, said(done)
    with zipfile.ZipFile(followed.course / "library.zip") as bundle:
        bundle.extractall(tmp_path)
    install = "python -m pip install -q --no-build-isolation --target there ./temperatures"
    done = followed.run(install, tmp_path)
    assert done.returncode == 0, said(done)
    there = {path.name for path in (tmp_path / "there" / "thermometer").glob("*.*")}
    assert {"__init__.py", "scale.txt"} <= there
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
