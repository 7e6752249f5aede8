"""The commands `autograde grade`, `autograde receipt` and `autograde sample`."""

import argparse
import json
import os
import sys
from pathlib import Path

from autograde.sandbox.isolation import NONE, VARIABLE

GRADE_DOES = """\
Read SUBMITTED/STUDENT/CHAPTER/CHAPTER.ipynb of every student and run each in a
sandbox. Print a table and, with --json, write results and times. A submission
that cannot be graded stops nobody: it is listed with its reason, with 0 points.
"""
GRADE_ENDS = """\
Examples:
  autograde grade course/submitted --json grades.json
  autograde grade course/submitted --workers 2 --receipts receipts

Exit codes: 0 done; 2 not started, also where students' code cannot be isolated;
141 output closed.
"""
RECEIPT_DOES = """\
Read a notebook and print its receipt as JSON: a SHA-256 of every answer and,
if it has been graded, of the result.
"""
RECEIPT_ENDS = """\
Examples:
  autograde receipt 02_rejection_sampling.ipynb --out ada.json

Exit codes: 0 done; 2 not started; 141 output closed.
"""
SAMPLE_DOES = """\
Write the notebooks of a made-up class, right, wrong, broken and hostile ones,
to FOLDER/STUDENT/CHAPTER/CHAPTER.ipynb. The grader can be tried on them.
"""
SAMPLE_ENDS = """\
Example:
  autograde sample build/class --students 20 --chapter 02_rejection_sampling

Exit codes: 0 done; 2 not started; 141 output closed.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The three commands with their options."""
    _add_grade(commands)
    _add_receipt(commands)
    _add_sample(commands)


def _add_grade(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "grade",
        help="grade a folder of submissions, several at a time",
        description=GRADE_DOES,
        epilog=GRADE_ENDS,
    )
    option = command.add_argument
    option(
        "submitted",
        type=Path,
        metavar="SUBMITTED",
        help="the folder that has STUDENT/CHAPTER/CHAPTER.ipynb below it",
    )
    option("--chapter", metavar="NAME", help="only this chapter; default: all")
    _add_outputs(command)
    _add_places(command)
    command.set_defaults(run=run_grade)


def _add_outputs(command: argparse.ArgumentParser) -> None:
    """What `autograde grade` writes beside its table."""
    command.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the results here, as grades.json, and beside it the times, as "
        "grades.seconds.json; default: neither",
    )
    command.add_argument(
        "--receipts",
        type=Path,
        metavar="DIR",
        help="write everybody's receipt, DIR/STUDENT/CHAPTER.json; default: none",
    )


def _add_places(command: argparse.ArgumentParser) -> None:
    """Where `autograde grade` runs students' code."""
    command.add_argument(
        "--workers", type=int, metavar="N", help="so many at a time; default: one for every core"
    )
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="grade on the workers of this dask scheduler, tcp://HOST:PORT; default: here",
    )
    command.add_argument(
        "--unsafe-no-isolation",
        action="store_true",
        help="run students' code without any fence, with the rights of your account",
    )


def _add_receipt(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "receipt",
        help="print a submission's receipt",
        description=RECEIPT_DOES,
        epilog=RECEIPT_ENDS,
    )
    option = command.add_argument
    option("notebook", type=Path, metavar="NOTEBOOK", help="the notebook of a submission")
    option("--chapter", metavar="NAME", help="the notebook's chapter; default: its file name")
    option("--out", type=Path, metavar="FILE", help="write the receipt here; default: print it")
    command.set_defaults(run=run_receipt)


def _add_sample(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "sample",
        help="make a class of submissions of every kind",
        description=SAMPLE_DOES,
        epilog=SAMPLE_ENDS,
    )
    option = command.add_argument
    option("folder", type=Path, metavar="FOLDER", help="a new folder, which will hold the class")
    option("--students", type=int, default=100, metavar="N", help="how many; default: %(default)s")
    option("--chapter", metavar="NAME", help="only this chapter; default: all")
    command.set_defaults(run=run_sample)


def run_grade(options: argparse.Namespace) -> int:
    """`autograde grade`: a table, and the results as JSON. Failed submissions are results too."""
    from autograde.chapter import require_chapter
    from autograde.pool import grade_class
    from autograde.receipt import write_receipts
    from autograde.sandbox import doctor

    require_chapter(options.chapter)
    _require_positive("--workers", options.workers)
    if options.workers and options.scheduler:
        raise ValueError("--workers is for this machine, --scheduler for a cluster: give one")
    if options.unsafe_no_isolation:
        os.environ[VARIABLE] = NONE
    print(doctor.require(), file=sys.stderr)
    what = (options.submitted, options.chapter, options.workers, options.scheduler)
    grades, seconds = grade_class(*what)
    if options.json:
        _write(options.json, grades, seconds)
    if options.receipts:
        write_receipts(options.receipts, options.submitted, grades)
    _print(options.submitted, grades)
    return 0


def _write(file: Path, grades: dict, seconds: dict) -> None:
    """The results, and the times beside them."""
    from autograde.files import write_json
    from autograde.report.commands import seconds_beside

    write_json(file, {"students": grades})
    write_json(seconds_beside(file), {"students": seconds})


def _print(submitted: Path, grades: dict) -> None:
    """The table and, for the class of course/, the marks by hand that hide another one."""
    from autograde.chapter import course_dir
    from autograde.nbgrader.gradebook import overrides
    from autograde.report.table import print_overrides, print_table

    print_table(grades)
    if submitted.resolve() == course_dir() / "submitted":
        print_overrides(overrides(course_dir(), grades))


def run_receipt(options: argparse.Namespace) -> int:
    """`autograde receipt`: print the receipt of a notebook, or write it."""
    from autograde.chapter import require_chapter
    from autograde.files import write_json
    from autograde.receipt import of_file

    require_chapter(options.chapter)
    receipt = of_file(options.notebook, options.chapter)
    if options.out:
        write_json(options.out, receipt)
    else:
        print(json.dumps(receipt, indent=2))
    return 0


def run_sample(options: argparse.Namespace) -> int:
    """`autograde sample`: write the class, and say how it is graded."""
    from autograde.chapter import chapter_names, require_chapter
    from autograde.tools.samples import write_large_class

    require_chapter(options.chapter)
    _require_positive("--students", options.students)
    names = [options.chapter] if options.chapter else chapter_names()
    write_large_class(options.folder, names, options.students)
    print(f"{options.students} students in {options.folder}; autograde grade {options.folder}")
    return 0


def _require_positive(option: str, number: int | None) -> None:
    if number is not None and number < 1:
        raise ValueError(f"{option} is {number}; it must be at least 1")
