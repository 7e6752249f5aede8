"""The commands `autograde collect` and `autograde export`: their options, and what they print."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from autograde.grading.classroom import require_chapter
from autograde.lms.collect import FORMATS, collect
from autograde.lms.export import (
    WHO,
    Mark,
    Merged,
    marks_in_gradebook,
    marks_of,
    merge,
    plain_table,
    read_table,
    write_table,
)
from autograde.paths import course_dir
from autograde.reports.commands import read_grades

UNFINISHED = {
    "failed": "could not be graded, and stand with 0",
    "to be marked": "a written answer is still to be marked in formgrader, and counts 0",
}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Both commands with their options."""
    taking = commands.add_parser(
        "collect",
        help="take submissions out of a zip of Canvas or Moodle",
        description="Put the notebooks of a zip of submissions into the class's folder: the latest "
        "attempt of each student where it is graded, the others beside it, in attempts/.",
    )
    taking.add_argument("zip", type=Path, help="the zip of all submissions, as the LMS gives it")
    taking.add_argument("--format", required=True, choices=sorted(FORMATS))
    taking.add_argument("--chapter", required=True, metavar="NAME")
    taking.add_argument("--course", type=Path, metavar="DIR", help="default course/")
    taking.set_defaults(run=run_collect)
    giving = commands.add_parser(
        "export",
        help="write marks as CSV, or into the table of an LMS",
        description="Write the marks of a chapter as a plain table or, with --lms, into a copy of "
        "the table that Canvas or Moodle exported, for it to import again.",
    )
    giving.add_argument(
        "grades", type=Path, help="the class's gradebook.db, or what `autograde grade --json` wrote"
    )
    giving.add_argument("--format", default="csv", choices=["csv", *sorted(WHO)])
    giving.add_argument("--chapter", required=True, metavar="NAME")
    giving.add_argument("--lms", type=Path, metavar="FILE", help="the table that the LMS exported")
    giving.add_argument("--column", metavar="TEXT", help="of that table; default: by the chapter")
    giving.add_argument("--out", type=Path, required=True, metavar="FILE")
    giving.set_defaults(run=run_export)


def run_collect(options: argparse.Namespace) -> int:
    """`autograde collect`: exit code 1 where something in the zip was refused."""
    require_chapter(options.chapter)
    course = options.course or course_dir()
    places = (course / "submitted", course / "attempts")
    result = collect(options.zip, options.format, options.chapter, *places)
    print(f"{len(result.taken)} students' notebooks are in {places[0]}")
    _print("late", result.late)
    _print(f"kept apart, in {places[1]}", result.kept_apart)
    _print("refused", result.refused)
    return 1 if result.refused else 0


def run_export(options: argparse.Namespace) -> int:
    """`autograde export`: exit code 1 where somebody is on one side only."""
    require_chapter(options.chapter)
    marks = _marks(options.grades, options.chapter)
    if not marks:
        raise ValueError(f"{options.grades} has no marks of {options.chapter}")
    if options.format == "csv":
        write_table(plain_table(marks), options.out)
        print(f"{options.out}: {len(marks)} students")
        _print_unfinished(marks)
        return 0
    if options.lms is None:
        raise ValueError(f"--format {options.format} needs --lms: the table that it exported")
    merged = merge(read_table(options.lms), options.format, _column(options), marks)
    write_table(merged.table, options.out)
    return _told(merged, marks, options.out)


def _told(merged: Merged, marks: dict[str, Mark], out: Path) -> int:
    """Print what became of everybody."""
    print(f"{out}: {merged.filled} of {len(marks)} marks are in it")
    _print("graded, and not in the table", merged.not_in_table)
    _print("graded, and fitting several rows: fill these in by hand", merged.ambiguous)
    _print("in the table, and not graded", merged.not_graded)
    _print_unfinished(marks)
    return 1 if merged.not_in_table or merged.ambiguous else 0


def _print_unfinished(marks: dict[str, Mark]) -> None:
    for status, title in UNFINISHED.items():
        _print(title, [student for student, mark in marks.items() if mark.status == status])


def _column(options: argparse.Namespace) -> str:
    """The column of the LMS's table. Moodle's has one for marks, Canvas's one an assignment."""
    if options.column:
        return options.column
    return "Grade" if options.format == "moodle" else options.chapter


def _marks(path: Path, chapter: str) -> dict[str, Mark]:
    """From a gradebook with manual points and penalties, from a JSON file the automatic points."""
    if path.suffix == ".db":
        return marks_in_gradebook(path, chapter)
    return marks_of(read_grades(path), chapter)


def _print(title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        print(f"{title}:")
        print("\n".join(f"  {line}" for line in lines))
