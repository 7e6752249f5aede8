"""The commands `autograde grade`, `autograde receipt` and `autograde sample`."""

import argparse
import json
import os
import sys
from pathlib import Path

from autograde.sandbox.isolation import NONE, VARIABLE


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The three commands with their options."""
    _add_grade(commands)
    _add_receipt(commands)
    sample = commands.add_parser("sample", help="make a class of submissions of every kind")
    sample.add_argument("folder", type=Path, help="a new folder; STUDENT/CHAPTER/ come below it")
    sample.add_argument("--students", type=int, default=100, metavar="N", help="default 100")
    sample.add_argument("--chapter", metavar="NAME", help="only this chapter; default all")
    sample.set_defaults(run=run_sample)


def _add_grade(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    grade = commands.add_parser("grade", help="grade a folder of submissions, several at a time")
    grade.add_argument("submitted", type=Path, help="STUDENT/CHAPTER/CHAPTER.ipynb lie below it")
    grade.add_argument(
        "--json", type=Path, metavar="FILE", help="write the results here, the times beside it"
    )
    grade.add_argument("--chapter", metavar="NAME", help="only this chapter; default all")
    grade.add_argument("--workers", type=int, metavar="N", help="at a time; default all cores")
    grade.add_argument(
        "--unsafe-no-isolation", action="store_true", help="run students' code without any fence"
    )
    grade.add_argument("--scheduler", metavar="ADDRESS", help="a dask scheduler, tcp://HOST:PORT")
    grade.add_argument("--receipts", type=Path, metavar="DIR", help="write a receipt for each")
    grade.set_defaults(run=run_grade)


def _add_receipt(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    receipt = commands.add_parser("receipt", help="print a submission's receipt, or verify one")
    receipt.add_argument(
        "words",
        nargs="+",
        metavar="SUBMISSION | verify RECEIPT SUBMISSION",
        help="a notebook; after `verify RECEIPT`, the notebook that it is held against",
    )
    receipt.add_argument("--chapter", metavar="NAME", help="default: the notebook's file name")
    receipt.add_argument("--out", type=Path, metavar="FILE", help="write the receipt here")
    receipt.set_defaults(run=run_receipt)


def run_grade(options: argparse.Namespace) -> int:
    """`autograde grade`: a table, and the results as JSON. Failed submissions are results too."""
    from autograde.grading.classroom import grade_and_time, require_chapter
    from autograde.grading.receipts import write_receipts
    from autograde.sandbox import doctor

    require_chapter(options.chapter)
    _require_positive("--workers", options.workers)
    if options.workers and options.scheduler:
        raise ValueError("--workers is for this machine, --scheduler for a cluster: give one")
    if options.unsafe_no_isolation:
        os.environ[VARIABLE] = NONE
    print(doctor.require(), file=sys.stderr)
    what = (options.submitted, options.chapter, options.workers, options.scheduler)
    grades, seconds = grade_and_time(*what)
    if options.json:
        _write(options.json, grades, seconds)
    if options.receipts:
        write_receipts(options.receipts, options.submitted, grades)
    _print(options.submitted, grades)
    return 0


def _write(file: Path, grades: dict, seconds: dict) -> None:
    """The results, and the times beside them."""
    from autograde.files import write_json
    from autograde.reports.commands import seconds_beside

    write_json(file, {"students": grades})
    write_json(seconds_beside(file), {"students": seconds})


def _print(submitted: Path, grades: dict) -> None:
    """The table and, for the class of course/, the marks by hand that hide another one."""
    from autograde.paths import course_dir
    from autograde.reports.gradebook import overrides
    from autograde.reports.table import print_overrides, print_table

    print_table(grades)
    if submitted.resolve() == course_dir() / "submitted":
        print_overrides(overrides(course_dir(), grades))


def run_receipt(options: argparse.Namespace) -> int:
    """`autograde receipt`: exit code 1 where a verified receipt is not this submission's."""
    from autograde.files import write_json
    from autograde.grading import receipts
    from autograde.grading.classroom import require_chapter

    require_chapter(options.chapter)
    *verify, submission = map(Path, options.words)
    if verify and (len(verify) != 2 or str(verify[0]) != "verify"):
        raise ValueError("name one notebook, or: autograde receipt verify RECEIPT SUBMISSION")
    if verify:
        found = receipts.verify(verify[1], submission, options.chapter)
        print("\n".join(found) or f"{verify[1]} is the receipt of {submission}")
        return 1 if found else 0
    receipt = receipts.of_file(submission, options.chapter)
    if options.out:
        write_json(options.out, receipt)
    else:
        print(json.dumps(receipt, indent=2))
    return 0


def run_sample(options: argparse.Namespace) -> int:
    """`autograde sample`: write the class, and say how it is graded."""
    from autograde.grading.classroom import chapters, require_chapter
    from autograde.samples import write_large_class

    require_chapter(options.chapter)
    _require_positive("--students", options.students)
    names = [options.chapter] if options.chapter else chapters()
    write_large_class(options.folder, names, options.students)
    print(f"{options.students} students in {options.folder}; autograde grade {options.folder}")
    return 0


def _require_positive(option: str, number: int | None) -> None:
    if number is not None and number < 1:
        raise ValueError(f"{option} is {number}; it must be at least 1")
