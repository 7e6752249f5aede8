"""The command `autograde report`."""

import argparse
import json
from pathlib import Path

from autograde.chapter import BUILD, course_dir
from autograde.files import write_if_changed
from autograde.nbgrader.gradebook import overrides
from autograde.report.class_report import report

REPORT_DOES = """\
Read the results and times that `autograde grade --json` wrote, and the class's
gradebook. Write a page about the class: points and behaviours by exercise, the
misconceptions found and who has them, who could not be graded, what took
longest, and marks by hand that stand over other ones of the tests.
"""
REPORT_ENDS = """\
Example:
  autograde report grades.json --out week2.html

Exit codes: 0 done; 2 not started; 141 output closed.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command with its options."""
    command = commands.add_parser(
        "report",
        help="the class on one page, as HTML",
        description=REPORT_DOES,
        epilog=REPORT_ENDS,
    )
    option = command.add_argument
    option("grades", type=Path, metavar="GRADES", help="what `autograde grade --json` has written")
    out = option(
        "--out", type=Path, metavar="FILE", help="the page to write; default: build/report.html"
    )
    out.default = BUILD / "report.html"
    option(
        "--course",
        type=Path,
        metavar="DIR",
        help="the class's folder, with gradebook.db; default: course/, or $SPECDEC_COURSE",
    )
    command.set_defaults(run=run_report)


def run_report(options: argparse.Namespace) -> int:
    """`autograde report`."""
    grades = read_grades(options.grades)
    by_hand = overrides(options.course or course_dir(), grades)
    page = report(grades, by_hand, read_seconds(seconds_beside(options.grades)))
    write_if_changed(options.out, page.encode("utf-8"))
    print(f"the report: {options.out}")
    return 0


def read_grades(path: Path) -> dict:
    """The students of a results file. Raises ValueError where it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["students"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is not what `autograde grade --json` writes") from None


def seconds_beside(grades: Path) -> Path:
    """Where `autograde grade --json` writes how long each submission took: beside its results.

    They are not in them, since the results of the same class are the same bytes every time.
    """
    return grades.with_suffix(".seconds.json")


def read_seconds(path: Path) -> dict | None:
    """By student and chapter, or None where there is no such file."""
    if not path.is_file():
        print(f"{path} is not there, so the page does not tell what was slowest")
        return None
    return read_grades(path)
