"""`make course`: build, execute, and grade a sample class through nbgrader, start to end.

A step is skipped if nothing that it depends on has changed since it was last done.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable

from tqdm import tqdm

from autograde.build.execute import execute
from autograde.build.release import build, release_into
from autograde.chapter import BUILD, ROOT, SOLUTIONS, chapter_names, chapters, library_folders
from autograde.commands import exit_code
from autograde.files import digest_of, files_below, write_json
from autograde.nbgrader.gradebook import compare, read_scores
from autograde.pool import grade_class
from autograde.report.table import print_table
from autograde.result import Grades
from autograde.sandbox import isolation, selftest
from autograde.sandbox.isolation import NONE, VARIABLE, NoIsolation
from autograde.tools.samples import STUDENTS, write_students

CLASS = BUILD / "sample-course"
GRADES = CLASS / "grades.json"
LOG = CLASS / "nbgrader.log"
STAMP = CLASS / ".stamp"

NEXT = """
Where to go next
  make lab       open the chapters as a student, in work/
  make grader    open JupyterLab at the root: formgrader is in its menu, with the class of course/
  SPECDEC_COURSE=build/sample-course make grader    the same with this sample class
  make test      run the tests, in about 7 minutes
  build/solutions/ holds the executed solutions, as notebooks and as pages"""


def main() -> int:
    """Run the steps that are due, then print the class's table."""
    say("notebooks", "built", [b.changed for b in build()])
    executed = execute([chapter.source for chapter in chapters()])
    say("solutions", "executed", [e.ran for e in executed])
    stamp = fingerprint()  # before grading: what changes meanwhile is not graded yet
    due = not (STAMP.exists() and STAMP.read_text() == stamp)
    if due:
        grade_sample_class()
        STAMP.write_text(stamp)
    say("sample class", "graded", [due] * len(STUDENTS))
    grades = json.loads(GRADES.read_text())["students"]
    compare(grades, read_scores(CLASS))
    print_table(grades, feedback_places(grades))
    print(NEXT)
    return 0


def say(what: str, done: str, changed: list[bool]) -> None:
    """One line on a step: how many of the things were out of date, and have been `done` now."""
    state = f"{sum(changed)} of {len(changed)} {done}" if any(changed) else "up to date"
    print(f"{what}: {state}", flush=True)


def isolate_if_possible() -> None:
    """The sample class is our own work: if this machine has no isolation, go on without."""
    try:
        print(selftest.require())
    except NoIsolation as error:
        print(f"No isolation on this machine; the samples are graded without it. {error}")
        os.environ[VARIABLE] = NONE
        isolation.chosen.cache_clear()


def grade_sample_class() -> None:
    """Make the class anew, grade it with our engine and then with nbgrader's own commands."""
    isolate_if_possible()
    shutil.rmtree(CLASS, ignore_errors=True)
    names = chapter_names()
    steps: list[tuple[str, Callable[[], object]]] = [
        ("submissions", lambda: write_students(CLASS / "submitted", names)),
        ("release", lambda: release_into(CLASS, names)),
        ("autograde grade", grade_with_our_engine),
        *[(f"nbgrader autograde {n}", lambda n=n: nbgrader("autograde", n)) for n in names],
        *[(f"nbgrader feedback {n}", lambda n=n: nbgrader("generate_feedback", n)) for n in names],
    ]
    with tqdm(steps, unit="step", desc="sample class") as bar:
        for name, step in bar:
            bar.set_postfix_str(name)
            step()


def grade_with_our_engine() -> None:
    """`autograde grade` on the class: several at a time, into the cache that nbgrader reads."""
    write_json(GRADES, {"students": grade_class(CLASS / "submitted").grades})


def nbgrader(command: str, chapter: str) -> None:
    """Run one of nbgrader's commands on the sample class, its log kept beside the class."""
    environment = os.environ | {"SPECDEC_COURSE": str(CLASS)}
    with LOG.open("a") as log:
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", command, chapter],
            cwd=ROOT, env=environment, stdout=log, stderr=log,
        )  # fmt: skip
    if done.returncode:
        tail = "\n".join(LOG.read_text().splitlines()[-15:])
        raise SystemExit(f"nbgrader {command} {chapter} failed; the end of {LOG}:\n{tail}")


def fingerprint() -> str:
    """A digest of everything that the sample class depends on."""
    folders = [SOLUTIONS, ROOT / "autograde", *library_folders()]
    files = [path for folder in folders for path in files_below(folder)]
    return digest_of([ROOT / "nbgrader_config.py", *files], sys.version)


def feedback_places(grades: Grades) -> dict[str, str]:
    """For each student the folder of feedback pages, relative to where the command runs."""
    folder = (CLASS / "feedback").relative_to(ROOT)
    return {student: str(folder / student) + os.sep for student in grades}


if __name__ == "__main__":
    sys.exit(exit_code(main))
