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

from autograde.bugs import bugs_of
from autograde.chapter import ROOT, AuthorError, Chapter
from autograde.cli import main
from autograde.nbgrader.regions import HIDDEN_TESTS
from autograde.nbgrader.stubs import require_built
from autograde.runner import collected

PAGE = (ROOT / "docs" / "own_course.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)
CHAPTER = "01_temperatures"
TESTS = "autograde/chapters/ch01_tests.py"


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
    lines = [
        line for kind, text in BLOCK.findall(PAGE) for line in text.splitlines() * (kind == "sh")
    ]
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


@pytest.mark.slow
def test_a_bug_that_no_case_sees_is_named(followed: Shell):
    path = followed.course / TESTS
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace('"return abs(f - 32) * 5 / 9"', '"return (f - 32) * 5 / 9 + 0"'))
    done = followed.run("python -m autograde gates")
    path.write_text(before, encoding="utf-8")
    (shown,) = (text for kind, text in BLOCK.findall(PAGE) if kind == "text")
    assert done.returncode == 1 and done.stdout.startswith(shown.rstrip())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["build", "build --check"])
def test_an_exercise_without_a_test_is_refused_by_name(followed: Shell, command: str):
    text = followed.course / "solutions" / f"{CHAPTER}.py"
    before = text.read_text(encoding="utf-8")
    more = before[before.index('# %% solution="celsius"') : before.index("# %% [markdown] written")]
    text.write_text(before + "\n" + more.replace("celsius", "kelvin"), encoding="utf-8")
    done = followed.run(f"python -m autograde {command}")
    text.write_text(before, encoding="utf-8")
    assert done.returncode == 1
    assert said(done) == "ch01_tests.py: kelvin has points and no test. Write one for it.\n"


def nbgraders_own() -> nbformat.NotebookNode:
    """A notebook as nbgrader's own users write it, with a hidden test in its cell."""
    common = {"schema_version": 3, "task": False, "locked": True, "solution": False}
    metadata = {"nbgrader": common | {"grade": True, "grade_id": "hidden_cell", "points": 2}}
    source = "### BEGIN HIDDEN TESTS\nassert celsius(32) == 0\n### END HIDDEN TESTS"
    return new_notebook(cells=[new_code_cell(source, metadata=metadata)])


REFUSING = ["python -m autograde build", "python -m autograde build --check"]
REFUSING += ["nbgrader generate_assignment old"]


@pytest.mark.slow
@pytest.mark.parametrize("command", REFUSING)
def test_a_notebook_with_tests_in_its_cells_is_refused(followed: Shell, command: str):
    path = followed.course / "solutions" / "old" / "old.ipynb"
    path.parent.mkdir()
    nbformat.write(nbgraders_own(), path)
    done = followed.run(command)
    path.unlink()
    path.parent.rmdir()
    assert done.returncode == 1
    assert "its tests stand in its own cells (hidden_cell)" in said(done)
    assert "its tests to autograde/chapters/chNN_tests.py" in said(done)
    assert not (followed.course / "course" / "release" / "old").exists()


@pytest.mark.parametrize("name, why", [("has space", "use letters"), ("full", "not empty")])
def test_a_course_takes_the_place_of_nothing(tmp_path: Path, capsys, name: str, why: str):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    assert main(["new", str(tmp_path / name)]) == 2
    assert why in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine.txt"]


def test_a_chapter_without_files_of_its_own_has_no_tests_and_no_wrong_answers():
    with pytest.raises(AuthorError, match="99_none: nothing grades mean, mode: .*ch99_tests.py"):
        collected(Chapter("99_none"), ["mean", "mode"], lambda: None)
    assert bugs_of("99_none") == []


def test_a_notebook_that_the_builder_made_is_taken():
    notebook = nbgraders_own()
    with pytest.raises(AuthorError, match="hidden_cell"):
        require_built(notebook, "old")
    notebook.cells[0].source = f"assert True\n{HIDDEN_TESTS}"
    require_built(notebook, "old")
