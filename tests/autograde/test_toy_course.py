"""A course in another subject: the grader knows nothing of this one, nor of its library."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from classes.submitting import cell_of

from autograde.chapter import ROOT, notebook_path

CHAPTER = "01_temperatures"
FILES = {
    "solutions/01_temperatures.py": '''# %% [markdown]
# # 01 Temperatures

# %% solution="celsius"
def celsius(f: float) -> float:
    """Degrees Celsius for `f` degrees Fahrenheit."""
    ### BEGIN SOLUTION
    return (f - 32) * 5 / 9
    ### END SOLUTION


# %% test="celsius" points=2
assert celsius(212) == 100, "Water boils at 100 degrees Celsius."
''',
    "autograde/chapters/ch01_tests.py": '''"""Hidden tests of chapter 01."""

from autograde.check import Exercise

celsius = Exercise("celsius")


@celsius.group("freezing is 0")
def freezing(rng):
    yield 32.0


@celsius.group("a degree is 5/9 of a degree")
def degrees(rng):
    yield 212.0
    for _ in range(3):
        yield float(rng.integers(-90, 90))


celsius.bug(
    "(f - 32) * 5 / 9",
    "f - 32.0",
    think="a degree is a degree.",
    because="between freezing and boiling there are 180 degrees of one and 100 of the other.",
)
''',
    "autograde/chapters/__init__.py": "",
    "pyproject.toml": '[project]\nname = "temperatures"\n',
    # Whoever imports the library of this course fails: it is as if it were not installed.
    "sitecustomize.py": """import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "specdec_lib":
            raise ModuleNotFoundError("there is no specdec_lib here")


sys.meta_path.insert(0, Blocked())
""",
}
RIGHT = "def celsius(f):\n    return (f - 32) * 5 / 9\n"
WRONG = "def celsius(f):\n    return f - 32.0\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The grader's own code, and a course of one exercise."""
    root = tmp_path_factory.mktemp("course")
    ignore = shutil.ignore_patterns("__pycache__", "chapters")
    shutil.copytree(ROOT / "autograde", root / "autograde", ignore=ignore)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def run(course: Path, *arguments: str, code: int = 0) -> str:
    """What an `autograde` command of that course prints."""
    command = [sys.executable, "-m", "autograde", *arguments]
    environment = os.environ | {"PYTHONPATH": str(course)}
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def hand_in(course: Path, student: str, answer: str) -> None:
    """The release with an answer in it."""
    notebook = nbformat.read(notebook_path(course / "notebooks", CHAPTER), as_version=4)
    cell_of(notebook, "celsius").source = answer
    path = notebook_path(course / "submitted" / student, CHAPTER)
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def test_a_course_without_the_library_is_built_and_graded(course: Path):
    run(course, "build")
    hand_in(course, "ada", RIGHT)
    hand_in(course, "ben", WRONG)
    run(course, "grade", "submitted", "--json", "grades.json")
    grades = json.loads((course / "grades.json").read_text())["students"]
    ada, ben = (grades[name][CHAPTER] for name in ("ada", "ben"))
    assert (ada["status"], ada["score"], ada["max_score"]) == ("graded", 2.0, 2.0)
    assert (ben["score"], ben["exercises"]["celsius"]["causes"]) == (1.0, ["a degree is a degree."])
    (message,) = ben["exercises"]["celsius"]["messages"]
    assert "You may have assumed that a degree is a degree. But between freezing" in message
    assert message.endswith("For example: celsius(f=212.0) gave 180.0, and not 100.0.")


def test_a_constant_that_earns_points_fails_the_gates_and_a_sample_is_made(
    course: Path, tmp_path: Path
):
    run(course, "build")
    fault = run(course, "gates", code=1)
    run(course, "sample", str(tmp_path / "class"), "--students", "20")
    assert "functions that return 0 pass 'freezing is 0'" in fault
    assert len(list((tmp_path / "class").iterdir())) == 20
