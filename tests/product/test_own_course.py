"""docs/own_course.md, followed from an empty folder to marks: its files and commands as they stand.

The page's commands run in one order, once; the tests look at what came out of it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograde.bugs import bugs_of
from autograde.chapter import AuthorError, Chapter
from autograde.cli import main
from autograde.nbgrader.regions import HIDDEN_TESTS
from autograde.nbgrader.stubs import require_built
from autograde.runner import collected

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "own_course.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^`([\w/.]+)`\n\n)?^```(python|sh|text)\n(.*?)^```$", re.M | re.S)
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
        """A line in this environment, in which nothing but the folder chooses the grader."""
        commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
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
    """The page, followed. A refusal that it shows is asked for where it stands."""
    shell, place = Shell(tmp_path_factory.mktemp("own")), None
    for name, kind, text in BLOCK.findall(PAGE):
        if kind == "python":
            (shell.course / name).write_text(text, encoding="utf-8")
        elif text.startswith(f"{CHAPTER}: nothing grades"):
            refused = shell.run("python -m autograde build")
            assert (refused.returncode, said(refused)) == (1, text)
        for line in text.splitlines() if kind == "sh" else ():
            if line == "cd temperatures":
                place = shell.course
                continue
            done = shell.run(line, place or shell.start)
            assert done.returncode == 0, f"{line}\n{said(done)}"
    return shell


@pytest.mark.slow
def test_the_page_ends_with_marks_and_a_cause(followed: Shell):
    grades = json.loads((followed.course / "grades.json").read_text())["students"]
    ada, ben = (grades[name][CHAPTER] for name in ("ada", "ben"))
    assert (ada["status"], ada["score"], ada["max_score"]) == ("graded", 0.0, 2.0)
    assert (ben["score"], ben["exercises"]["celsius"]["causes"]) == (1.0, ["shifted_only"])
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
def test_a_library_of_the_course_is_packed_with_what_it_needs(followed: Shell):
    project, library = followed.course / "pyproject.toml", followed.course / "thermometer"
    before = project.read_text(encoding="utf-8")
    settings = re.findall(r"^    ([\[\w].*)$", PAGE.partition("an extra `course`")[2], re.M)[:4]
    project.write_text("\n".join([before, *settings]), encoding="utf-8")
    library.mkdir()
    (library / "__init__.py").write_text("ZERO = 32\n")
    (library / "scale.txt").write_text("Fahrenheit\n")
    done = followed.run("python -m autograde bundle library.zip")
    project.write_text(before, encoding="utf-8")
    shutil.rmtree(library)
    assert done.returncode == 0, said(done)
    with zipfile.ZipFile(followed.course / "library.zip") as bundle:
        files = {name: bundle.read(name).decode() for name in bundle.namelist()}
    packed = {name.removeprefix("temperatures/thermometer/") for name in files}
    assert {"__init__.py", "scale.txt"} < packed
    needs = tomllib.loads(files["temperatures/pyproject.toml"])
    assert needs["project"]["dependencies"] == ["numpy"]
    assert needs["tool"]["setuptools"]["packages"]["find"]["include"] == ["thermometer*"]
    assert "`pip install .`" in files["temperatures/README.md"]
    assert not [name for name in files if "autograde" in name]


def test_no_command_of_the_page_is_gnus_alone():
    """`sed -i` without a suffix means another thing on macOS."""
    assert "sed -i" not in PAGE


def gates_after(followed: Shell, file: str, old: str, new: str) -> subprocess.CompletedProcess:
    """What the gates say with the only `old` in a file of the course replaced; it is put back."""
    path = followed.course / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new), encoding="utf-8")
    done = followed.run("python -m autograde gates")
    path.write_text(text, encoding="utf-8")
    return done


@pytest.mark.slow
def test_a_bug_that_no_case_sees_is_named(followed: Shell):
    done = gates_after(followed, TESTS, '"return f - 32.0"', '"return (f - 32) * 5 / 9 + 0"')
    (shown,) = (text for _, kind, text in BLOCK.findall(PAGE) if text.startswith("ch01_tests.py:"))
    assert done.returncode == 1 and done.stdout.startswith(shown)


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
