"""A course in another subject: the grader knows nothing of this one, nor of its library."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from classes.submitting import cell_of

from autograde.chapter import ROOT, notebook_path

CHAPTER = "01_temperatures"
# Whoever imports the library of this course fails: it is as if it were not installed.
NO_LIBRARY = """import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "specdec_lib":
            raise ModuleNotFoundError("there is no specdec_lib here")


sys.meta_path.insert(0, Blocked())
"""
ANSWERS = {
    "ada": "return (f - 32) * 5 / 9",
    "ben": "return abs(f - 32) * 5 / 9",
    "cleo": "return 0",
}


def run(root: Path, course: Path, *arguments: str) -> None:
    """Run an `autograde` command of the grader that stands in `root`."""
    environment = os.environ | {"PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "autograde", *arguments]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def hand_in(course: Path, student: str, answer: str) -> None:
    """The release with an answer in it."""
    notebook = nbformat.read(notebook_path(course / "notebooks", CHAPTER), as_version=4)
    cell_of(notebook, "celsius").source = f"def celsius(f):\n    {answer}\n"
    path = notebook_path(course / "submitted" / student, CHAPTER)
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def grades(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """The marks of three students in a course that `autograde new` has made."""
    course = tmp_path_factory.mktemp("new") / "temperatures"
    run(ROOT, ROOT, "new", str(course))
    (course / "sitecustomize.py").write_text(NO_LIBRARY)
    run(course, course, "build")
    run(course, course, "gates")
    for student, answer in ANSWERS.items():
        hand_in(course, student, answer)
    run(course, course, "grade", "submitted", "--json", "grades.json")
    students = json.loads((course / "grades.json").read_text())["students"]
    return {student: result[CHAPTER] for student, result in students.items()}


def test_a_course_without_the_library_is_made_built_proved_and_graded(grades: dict[str, dict]):
    assert {student: result["score"] for student, result in grades.items()} == {
        "ada": 2.0,
        "ben": 1.0,
        "cleo": 0.0,
    }
    ben = grades["ben"]["exercises"]["celsius"]
    assert ben["causes"] == ["a temperature is never negative."]
    assert "You may have assumed that a temperature is never negative." in ben["messages"][0]
