"""What `autograde collect`, `feedback` and `export` do, and what they print."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from autograde.chapter import course_dir, require_chapter
from autograde.files import printable
from autograde.lms.collect import collect
from autograde.lms.export import (
    Mark,
    marks_in_gradebook,
    marks_of,
    maximum,
    merge,
    plain_table,
    read_table,
    write_table,
)
from autograde.lms.give_back import remember, remembered, write_pages
from autograde.result import read_grades

UNFINISHED = {
    "failed": "could not be graded, and stand with 0",
    "to be marked": "a written answer is still to be marked in formgrader, and counts 0",
}


def run_collect(options: argparse.Namespace) -> int:
    """Exit code 1 if something in the zip was refused."""
    require_chapter(options.chapter)
    course = options.course or course_dir()
    places = (course / "submitted", course / "attempts")
    result = collect(options.zip, options.format, options.chapter, *places)
    remember(course, options.format, options.chapter, result.names)
    print(f"{len(result.students)} students' notebooks are in {places[0]}")
    _print("late", result.late)
    _print("graded under another file name", result.called_otherwise)
    _print("doubtful: check in the LMS who submitted these", result.doubtful)
    _print("same LMS id in two folders; if it is one student, delete the older", result.one_number)
    _print(f"kept apart, in {places[1]}", result.kept_apart)
    _print("refused", result.refused)
    return 1 if result.refused else 0


def run_feedback(options: argparse.Namespace) -> int:
    """Exit code 1 if somebody whose notebook was collected has no page."""
    require_chapter(options.chapter)
    course = options.course or course_dir()
    names = remembered(course, options.format, options.chapter)
    out = options.out or course / f"feedback-{options.chapter}.zip"
    without = write_pages(out, course, options.format, options.chapter, names)
    pages = len(names) - len(without)
    print(f"{out}: {pages} pages, under the names that {options.format.title()} knows")
    _print("collected, and without a page", without)
    return 1 if without else 0


def run_export(options: argparse.Namespace) -> int:
    """Exit code 1 if a graded student has no row in the table, or several.

    A row without a mark is printed too, and leaves the exit code at 0.
    """
    require_chapter(options.chapter)
    marks = _marks(options.grades, options.chapter)
    if not marks:
        raise ValueError(f"{options.grades} has no marks of {options.chapter}")
    if options.format != "csv" and options.lms is None:
        raise ValueError(f"--format {options.format} needs --lms: the table that it exported")
    code = 0
    if options.format == "csv":
        write_table(plain_table(marks), options.out)
        print(f"{options.out}: {len(marks)} students")
    else:
        code = _export_merged(options, marks)
    for status, title in UNFINISHED.items():
        _print(title, [student for student, mark in marks.items() if mark.status == status])
    return code


def _marks(path: Path, chapter: str) -> dict[str, Mark]:
    """From a gradebook with manual points and penalties, from a JSON file the automatic points."""
    if path.suffix == ".db":
        return marks_in_gradebook(path, chapter)
    return marks_of(read_grades(path), chapter)


def _export_merged(options: argparse.Namespace, marks: dict[str, Mark]) -> int:
    """Fill a column of the LMS's table, and print what became of everybody.

    Moodle's table has one column for marks, Canvas's one an assignment.
    """
    column = options.column or ("Grade" if options.format == "moodle" else options.chapter)
    table = read_table(options.lms)
    scale = _scale(options, maximum(table, options.format, column), marks)
    merged = merge(table, options.format, column, marks, scale)
    write_table(merged.table, options.out)
    print(f"{options.out}: {merged.filled} of {len(marks)} marks are in it")
    _print("graded, and not in the table", merged.not_in_table)
    _print("doubtful, as several rows or students fit: fill these in by hand", merged.doubtful)
    _print("in the table, and without a mark", merged.not_graded)
    return 1 if merged.not_in_table or merged.doubtful else 0


def _scale(options: argparse.Namespace, most: float | None, marks: dict[str, Mark]) -> float:
    """What marks are multiplied by. Asked for if the LMS counts to another maximum than we do.

    Raises ValueError where nobody can answer, or nobody does.
    """
    ours = max(mark.max_score for mark in marks.values())
    if most in (None, ours) or not ours:
        return 1.0
    how = options.points or _asked(
        f"{options.lms} gives at most {most:g} points for {options.chapter}, the chapter has "
        f"{ours:g}.",
        f"Multiply every mark by {most / ours:.4g}?",
    )
    return most / ours if how == "scaled" else 1.0


def _asked(differ: str, question: str) -> str:
    """The answer of whoever sits at the terminal, as --points would give it."""
    if not sys.stdin.isatty():
        raise ValueError(f"{differ} Pass --points scaled or --points as-they-are")
    answer = input(f"{differ} {question} [yes/no/stop] ").strip().lower()
    if answer not in ("yes", "y", "no", "n"):
        raise ValueError("stopped, and nothing is written")
    return "scaled" if answer.startswith("y") else "as-they-are"


def _print(title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        print(f"{title}:")
        print("\n".join(f"  {printable(line)}" for line in lines))
