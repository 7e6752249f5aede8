"""What the commands of `autograde` do, but for those of `autograde.lms`.

Each imports what it needs when it is called. A function returns the exit code: 0 is done, 1 done
with something to look at. It raises OSError, ValueError or NoIsolation if the command cannot be
started, which `exit_code` makes 2 of.
"""

import argparse
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from autograde.chapter import (
    BUILD,
    LIBRARY,
    ROOT,
    AuthorError,
    Chapter,
    chapter_names,
    course_dir,
    require_chapter,
)
from autograde.files import printable, write_if_changed, write_json
from autograde.result import Grades, read_grades, seconds_beside

OUTPUT_CLOSED = 141  # what a shell gives for a program that SIGPIPE ended: 128 + 13


def run_build(options: argparse.Namespace) -> int:
    """Exit code 1 if the text is wrong or, with --check, a notebook out of date."""
    from autograde.build.execute import execute
    from autograde.build.release import build, check

    chapters = options.chapters or None
    if options.check:
        stale = check(chapters=chapters)
        print("\n".join(stale) or "every notebook is up to date")
        return 1 if stale else 0
    built = build(chapters=chapters)
    if options.solutions:
        execute([Chapter(b.chapter).source for b in built])
    for b in built:
        state = "built" if b.changed else "up to date"
        print(f"{b.chapter}: {state}, {b.exercises} graded cells, {b.points:g} points")
    return 0


def run_new(options: argparse.Namespace) -> int:
    """Make the folder of a course, and say what to do in it."""
    from autograde.build.new import new_course

    count = new_course(options.course)
    print(f"{options.course}: {count} files, the grader and an empty course")
    print(f"next: cd {options.course}, write solutions/01_topic.py, python -m autograde build")
    return 0


def run_gates(options: argparse.Namespace) -> int:
    """Exit code 1 if a chapter's tests do not tell right from wrong."""
    from tqdm import tqdm

    from autograde.sandbox import selftest
    from autograde.tools.proof import faults

    for name in options.chapters:
        require_chapter(name)
    print(selftest.require(), file=sys.stderr)
    names = options.chapters or chapter_names()
    found = 0
    for name in tqdm(names, desc="gates", unit="chapter", disable=None):
        for fault in faults(name):
            found += 1
            tqdm.write(fault)
    if not found:
        print(f"{', '.join(names)}: the gates hold")
    return 1 if found else 0


def run_bundle(options: argparse.Namespace) -> int:
    """Write the zip of notebooks and library."""
    from autograde.build.bundle import write_bundle

    for name in options.chapters or ():
        require_chapter(name)
    usual = "specdec-course.zip" if LIBRARY else f"{ROOT.name}.zip"
    file = options.file or BUILD / ("self-study.zip" if options.self_study else usual)
    at_once = options.quizzes == "at-once"
    count = write_bundle(file, options.chapters, at_once, options.self_study)
    print(f"{file}: {count} files, {file.stat().st_size / 2**20:.1f} MiB")
    if options.self_study:
        print("It holds the solutions and the hidden tests: it is for no class.")
    return 0


def run_grade(options: argparse.Namespace) -> int:
    """Print the table, write the results as JSON. A submission that failed is a result too."""
    from autograde.pool import grade_class
    from autograde.sandbox import selftest
    from autograde.sandbox.isolation import NONE, VARIABLE

    require_chapter(options.chapter)
    _require_positive("--workers", options.workers)
    if options.workers and options.scheduler:
        raise ValueError("--workers is for this machine, --scheduler for a cluster: give one")
    if options.unsafe_no_isolation:
        os.environ[VARIABLE] = NONE
    print(selftest.require(), file=sys.stderr)
    what = (options.submitted, options.chapter, options.workers, options.scheduler)
    grades, seconds = grade_class(*what)
    if options.json:
        write_json(options.json, {"students": grades})
        write_json(seconds_beside(options.json), {"students": seconds})
    _print_grades(options.submitted, grades)
    return 0


def _print_grades(submitted: Path, grades: Grades) -> None:
    """The table and, for the class of course/, the marks by hand that hide another one."""
    from autograde.nbgrader.gradebook import overrides
    from autograde.report.table import print_table

    print_table(grades)
    if submitted.resolve() == course_dir() / "submitted":
        for override in overrides(course_dir(), grades):
            print(printable(str(override)))


def run_report(options: argparse.Namespace) -> int:
    """Write the page about the class."""
    from autograde.nbgrader.gradebook import overrides, written_marks
    from autograde.report.class_page import class_page

    grades = read_grades(options.grades)
    course = options.course or course_dir()
    by_hand = overrides(course, grades)
    times = seconds_beside(options.grades)
    seconds = read_grades(times) if times.is_file() else None
    if seconds is None:
        print(f"{times} is not there, so the page does not tell what was slowest")
    page = options.out or course / "report.html"
    html = class_page(grades, by_hand, seconds, written_marks(course))
    write_if_changed(page, html.encode("utf-8"))
    print(f"the report: {page}")
    return 0


def run_extend(options: argparse.Namespace) -> int:
    """Write an extension, and say until when."""
    from autograde.nbgrader.gradebook import extend

    time = timedelta(days=options.days, hours=options.hours)
    until = extend(options.course or course_dir(), options.chapter, options.student, time)
    print(f"{options.student}, {options.chapter}: until {until:%Y-%m-%d %H:%M} UTC")
    print(f"grade it again: nbgrader autograde {options.chapter} --force")
    return 0


def run_sample(options: argparse.Namespace) -> int:
    """Write the class, and say how it is graded."""
    from autograde.tools.samples import write_class

    require_chapter(options.chapter)
    _require_positive("--students", options.students)
    names = [options.chapter] if options.chapter else chapter_names()
    write_class(options.folder, names, options.students)
    print(f"{options.students} students in {options.folder}; autograde grade {options.folder}")
    return 0


def run_doctor(options: argparse.Namespace) -> int:
    """Exit code 1 if students' code cannot be graded safely here."""
    from autograde.sandbox.selftest import report

    lines, safe = report()
    print("\n".join(lines))
    return 0 if safe else 1


def _require_positive(option: str, number: int | None) -> None:
    if number is not None and number < 1:
        raise ValueError(f"{option} is {number}; it must be at least 1")


def exit_code(command: Callable[[], int], not_started: tuple[type[Exception], ...] = ()) -> int:
    """The exit code of a program that is `command`, with any error as a line on stderr.

    An AuthorError gives 1, an error of `not_started` 2, a reader that has gone 141 without a word.
    The signal SIGPIPE stays off: it would also end the program when another process that it talks
    to has gone.
    """
    try:
        return _said(command, not_started)
    except BrokenPipeError:
        # Python writes what is left once more as it ends; that goes nowhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        return OUTPUT_CLOSED


def _said(command: Callable[[], int], not_started: tuple[type[Exception], ...]) -> int:
    try:
        return command()
    except BrokenPipeError:  # an OSError, which may be one of `not_started`
        raise
    except AuthorError as error:
        print(error, file=sys.stderr)
        return 1
    except not_started as error:
        print(f"autograde: {error}", file=sys.stderr)
        return 2
    finally:
        sys.stdout.flush()  # now, while a closed pipe can still be caught
