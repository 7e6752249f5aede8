"""`make course`: build, grade a sample class through nbgrader, then execute the chapters.

The class and its table come first, since the chapters take most of the time. What was graded or
executed before, and has not changed since, is taken from what was kept of it.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from autograde.build.execute import execute
from autograde.build.release import build, release_into
from autograde.chapter import BUILD, ROOT, chapter_names, chapters
from autograde.exits import exit_code
from autograde.files import write_json
from autograde.nbgrader.gradebook import compare, read_scores
from autograde.pool import grade_class
from autograde.report.table import print_table
from autograde.result import read_grades
from autograde.sandbox import isolation, selftest
from autograde.sandbox.isolation import NoIsolation
from autograde.tools.samples import write_students

CLASS = BUILD / "sample-course"

NEXT = """
What was made
  notebooks/              the chapters that students get
  build/sample-course/    the sample class: its gradebook and the feedback pages of the table above
  build/solutions/        the executed solutions
Where to go next
  make lab       open the chapters as a student, in work/
  make grader    open JupyterLab at the root: formgrader is in its menu, with the class of course/
  SPECDEC_COURSE=build/sample-course make grader    the same with this sample class
  make test      run the tests"""


def main() -> int:
    """Run the steps; the table is shown before any chapter is executed."""
    say("notebooks", "built", [bool(b.changed) for b in build()])
    grade_sample_class(CLASS, chapter_names())
    show_table(CLASS)
    executed = execute([chapter.source for chapter in chapters()])
    say("chapters", "executed", [e.ran for e in executed])
    print(NEXT)
    return 0


def say(what: str, done: str, changed: list[bool]) -> None:
    """One line on a step: how many of the things were out of date, and have been `done` now."""
    state = f"{sum(changed)} of {len(changed)} {done}" if any(changed) else "up to date"
    print(f"{what}: {state}", flush=True)


def show_table(course: Path) -> None:
    """Print the graded class. Raises ValueError if engine and gradebook do not agree."""
    grades = read_grades(grades_of(course))
    compare(grades, read_scores(course))
    print_table(grades)
    sys.stdout.flush()


def grades_of(course: Path) -> Path:
    """The file with the results of our engine."""
    return course / "grades.json"


def isolate_if_possible() -> None:
    """The sample class is our own work: if this machine has no isolation, go on without."""
    try:
        print(selftest.require())
    except NoIsolation:
        print("The samples are graded without isolation (`autograde doctor` says what is missing).")
        isolation.isolate_nothing()


def grade_sample_class(course: Path, names: list[str]) -> None:
    """Make the class anew, grade it with our engine and then with nbgrader's own commands."""
    isolate_if_possible()
    shutil.rmtree(course, ignore_errors=True)
    steps: dict[str, Callable[[], object]] = {
        "submissions": lambda: write_students(course / "submitted", names),
        "release": lambda: release_into(course, names),
        "autograde grade": lambda: write_json(
            grades_of(course), {"students": grade_class(course / "submitted")}
        ),
        "nbgrader autograde": lambda: nbgrader(course, "autograde"),
        "nbgrader generate_feedback": lambda: nbgrader(course, "generate_feedback"),
    }
    for name, step in steps.items():
        start = time.monotonic()
        step()
        print(f"  {name}: {time.monotonic() - start:.0f} s", flush=True)


def nbgrader(course: Path, command: str, chapter: str = "*") -> None:
    """Run one of nbgrader's commands on the class, its log kept beside the class.

    nbgrader takes a pattern for the chapter. One run for all saves its start, 2 to 3 seconds of a
    processor, for each; and two at once would wait for each other's locks on the gradebook.
    """
    file = course / "nbgrader.log"
    environment = os.environ | {"SPECDEC_COURSE": str(course)}
    with file.open("a") as log:
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", command, chapter],
            cwd=ROOT, env=environment, stdout=log, stderr=log,
        )  # fmt: skip
    if done.returncode:
        tail = "\n".join(file.read_text().splitlines()[-15:])
        raise SystemExit(f"nbgrader {command} {chapter} failed; the end of {file}:\n{tail}")


if __name__ == "__main__":
    sys.exit(exit_code(main))
