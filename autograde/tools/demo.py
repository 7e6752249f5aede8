"""`make course`: build, grade a sample class through nbgrader, then execute the chapters.

The class and its table come first, since the chapters take most of the time. What was graded or
executed before, and has not changed since, is taken from what was kept of it.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from autograde.build.execute import execute
from autograde.build.release import build, release_into
from autograde.course import BUILD, ROOT, chapter_names, chapters, exit_code
from autograde.grading.classroom import grade_class
from autograde.grading.result import read_grades
from autograde.intake.files import write_json
from autograde.report.table import print_table
from autograde.sandbox import isolation, selftest
from autograde.sandbox.isolation import NoIsolation
from autograde.tools.samples import write_students

CLASS = BUILD / "sample-course"

NEXT = """
notebooks/ has what students get, build/solutions/ the executed solutions, build/sample-course/ the
class of the table above. make lab opens the chapters as a student, make grader formgrader, and
SPECDEC_COURSE=build/sample-course make grader formgrader with this class."""


def main() -> int:
    """Run the steps."""
    print(f"{len(build())} notebooks were out of date", flush=True)
    grade_sample_class(CLASS, chapter_names())
    print_table(read_grades(grades_of(CLASS)))
    execute([chapter.source for chapter in chapters()])
    print(NEXT)
    return 0


def grades_of(course: Path) -> Path:
    """The file with the results of our engine."""
    return course / "grades.json"


def isolate_if_possible() -> None:
    """The sample class is our own work: if this machine has no isolation, go on without."""
    try:
        print(selftest.require_isolation())
    except NoIsolation:
        print("The samples are graded without isolation (`autograde doctor` says what is missing).")
        isolation.disable_isolation()


def grade_sample_class(course: Path, names: list[str]) -> None:
    """Make the class anew, grade it with our engine and then with nbgrader's own commands."""
    isolate_if_possible()
    shutil.rmtree(course, ignore_errors=True)
    write_students(course / "submitted", names)
    release_into(course, names)
    write_json(grades_of(course), {"students": grade_class(course / "submitted")})
    nbgrader(course, "autograde")
    nbgrader(course, "generate_feedback")


def nbgrader(course: Path, command: str, chapter: str = "*") -> None:
    """Run one of nbgrader's commands on the class, its log kept beside the class.

    One run takes all chapters: two at once would wait for each other's locks on the gradebook.
    """
    file, start = course / "nbgrader.log", time.monotonic()
    environment = os.environ | {"SPECDEC_COURSE": str(course)}
    with file.open("a") as log:
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", command, chapter],
            cwd=ROOT, env=environment, stdout=log, stderr=log,
        )  # fmt: skip
    if done.returncode:
        tail = "\n".join(file.read_text().splitlines()[-15:])
        raise SystemExit(f"nbgrader {command} {chapter} failed; the end of {file}:\n{tail}")
    print(f"  nbgrader {command}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(exit_code(main))
