"""The commands `autograde collect` and `autograde export`: their options, and what they print."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from autograde.chapter import course_dir, require_chapter
from autograde.files import printable
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
from autograde.report.commands import read_grades

UNFINISHED = {
    "failed": "could not be graded, and stand with 0",
    "to be marked": "a written answer is still to be marked in formgrader, and counts 0",
}
COLLECT_DOES = """\
Read the zip of all submissions that Canvas or Moodle gives. Write everybody's
latest notebook to DIR/submitted/STUDENT/CHAPTER/CHAPTER.ipynb, where it is
graded. Other attempts and what is replaced go to DIR/attempts/STUDENT/CHAPTER/.
"""
COLLECT_ENDS = """\
Example:
  autograde collect all.zip --format canvas --chapter 02_rejection_sampling

Exit codes: 0 done; 1 a file was refused; 2 not started; 141 output closed.
"""
EXPORT_DOES = """\
Read the marks of a chapter and write them as CSV to the file of --out: a table
of their own or, with --format canvas or moodle, a copy of the table of --lms
with one column filled in. Print who is graded and has no row, and who has no
mark.
"""
EXPORT_ENDS = """\
Examples:
  autograde export grades.json --chapter 02_rejection_sampling --out marks.csv
  autograde export course/gradebook.db --chapter 02_rejection_sampling \\
    --format canvas --lms exported.csv --out import.csv

Exit codes: 0 done; 1 a graded student has no row in the table, or several;
2 not started; 141 output closed.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Both commands with their options."""
    _add_collect(commands)
    _add_export(commands)


def _add_collect(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "collect",
        help="take submissions out of a zip of Canvas or Moodle",
        description=COLLECT_DOES,
        epilog=COLLECT_ENDS,
    )
    option = command.add_argument
    option("zip", type=Path, metavar="ZIP", help="the zip of all submissions, as the LMS gives it")
    option("--format", required=True, choices=sorted(FORMATS), help="the LMS that made the zip")
    option("--chapter", required=True, metavar="NAME", help="the chapter that was handed in")
    option(
        "--course",
        type=Path,
        metavar="DIR",
        help="the class's folder; default: course/, or $SPECDEC_COURSE",
    )
    command.set_defaults(run=run_collect)


def _add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "export",
        help="write marks as CSV, or into the table of an LMS",
        description=EXPORT_DOES,
        epilog=EXPORT_ENDS,
    )
    option = command.add_argument
    option(
        "grades",
        type=Path,
        metavar="GRADES",
        help="the class's gradebook.db, with marks by hand and penalties, or what "
        "`autograde grade --json` wrote, with the tests' marks only",
    )
    option("--chapter", required=True, metavar="NAME", help="the chapter whose marks are written")
    option("--out", type=Path, required=True, metavar="FILE", help="the CSV file to write")
    option(
        "--format",
        default="csv",
        choices=["csv", *sorted(WHO)],
        help="csv: a table of their own; else the LMS that takes the file; default: %(default)s",
    )
    _add_options_of_tables(command)
    command.set_defaults(run=run_export)


def _add_options_of_tables(command: argparse.ArgumentParser) -> None:
    """What only an LMS's own table needs."""
    command.add_argument(
        "--lms",
        type=Path,
        metavar="FILE",
        help="the table that the LMS exported; default: none, which will do for csv only",
    )
    command.add_argument(
        "--column",
        metavar="TEXT",
        help="the header of the column to fill in that table, or a part that no other header has; "
        "default: the chapter's name, for moodle Grade",
    )


def run_collect(options: argparse.Namespace) -> int:
    """`autograde collect`: exit code 1 where something in the zip was refused."""
    require_chapter(options.chapter)
    course = options.course or course_dir()
    places = (course / "submitted", course / "attempts")
    result = collect(options.zip, options.format, options.chapter, *places)
    print(f"{len(result.taken)} students' notebooks are in {places[0]}")
    _print("late", result.late)
    _print("graded, though not called after the chapter", result.called_otherwise)
    _print(f"kept apart, in {places[1]}", result.kept_apart)
    _print("refused", result.refused)
    return 1 if result.refused else 0


def run_export(options: argparse.Namespace) -> int:
    """`autograde export`: exit code 1 where a graded student has no row in the table, or several.

    A row without a mark is printed too, and leaves the exit code at 0.
    """
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
    _print(
        "graded, and fitting several rows, or one row together: fill these in by hand",
        merged.ambiguous,
    )
    _print("in the table, and without a mark", merged.not_graded)
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
        print("\n".join(f"  {printable(line)}" for line in lines))
