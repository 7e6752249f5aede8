"""`make course`: build, grade a sample class through nbgrader, then execute the chapters.

The class and its table come first, since the chapters take most of the time. Unchanged submissions
and chapters are neither graded nor executed again.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from autograde.build.execute import execute
from autograde.build.release import build_chapters, release_into
from autograde.course import BUILD, ROOT, chapter_names, chapters, exit_code
from autograde.grading.classroom import grade_class
from autograde.grading.result import read_grades
from autograde.intake.files import write_json
from autograde.report.table import print_table
from autograde.sandbox import isolation, selftest
from autograde.sandbox.isolation import NoIsolation
from autograde.tools.samples import write_students

SAMPLE_COURSE = BUILD / "sample-course"

_NEXT_STEPS = """
notebooks/ has what students get, build/solutions/ the executed solutions, build/sample-course/ the
class of the table above. make lab opens the chapters as a student, make grader formgrader, and
SPECDEC_COURSE=build/sample-course make grader formgrader with this class."""


def make_course() -> int:
    """Run the steps of `make course`."""
    print(f"{len(build_chapters())} notebooks were out of date", flush=True)
    grade_sample_class(SAMPLE_COURSE, chapter_names())
    execute([chapter.source for chapter in chapters()])
    print(_NEXT_STEPS)
    return 0


def grades_of(course: Path) -> Path:
    """The file with the results of `autograde grade`."""
    return course / "grades.json"


def isolate_if_possible() -> None:
    """Go on without isolation if this machine has none: the sample class is our own code."""
    try:
        print(selftest.require_isolation())
    except NoIsolation:
        print("The samples are graded without isolation (`autograde doctor` says what is missing).")
        isolation.disable_isolation()


def grade_sample_class(course: Path, names: list[str]) -> None:
    """Recreate the class, grade it, print the marks, and run nbgrader's own commands on it."""
    isolate_if_possible()
    shutil.rmtree(course, ignore_errors=True)
    write_students(course / "submitted", names)
    release_into(course, names)
    write_json(grades_of(course), {"students": grade_class(course / "submitted")})
    print_table(read_grades(grades_of(course)))
    nbgrader(course, "autograde")
    nbgrader(course, "generate_feedback")


def nbgrader(course: Path, command: str) -> None:
    """Run one of nbgrader's commands on the class, with its log in the class's folder.

    One run takes all chapters: two at once would wait for each other's locks on the gradebook.
    """
    log_file = course / "nbgrader.log"
    start = time.monotonic()
    environment = os.environ | {"SPECDEC_COURSE": str(course)}
    with log_file.open("a") as log:
        process = subprocess.run(
            [sys.executable, "-m", "nbgrader", command, "*"],
            cwd=ROOT, env=environment, stdout=log, stderr=log,
        )  # fmt: skip
    if process.returncode:
        tail = "\n".join(log_file.read_text().splitlines()[-15:])
        raise SystemExit(f"nbgrader {command} failed; the end of {log_file}:\n{tail}")
    print(f"  nbgrader {command}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(exit_code(make_course))
