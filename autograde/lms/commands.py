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
    Merged,
    marks_in_gradebook,
    marks_of,
    maximum,
    merge,
    plain_table,
    read_table,
    write_table,
)
from autograde.lms.give_back import pages_of, remember, remembered, write_pages
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
    pages = pages_of(course, options.chapter, names)
    if not pages:
        raise ValueError(
            f"{course / 'feedback'} has no page of {options.chapter} for those who were collected. "
            f"`nbgrader generate_feedback {options.chapter}` writes the pages"
        )
    out = options.out or course / f"feedback-{options.chapter}.zip"
    write_pages(out, options.format, options.chapter, pages)
    print(f"{out}: {len(pages)} pages, under the names that {options.format.title()} knows")
    without = [student for student in names if student not in {s for s, _, _ in pages}]
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
    if options.format == "csv":
        write_table(plain_table(marks), options.out)
        print(f"{options.out}: {len(marks)} students")
        _print_unfinished(marks)
        return 0
    if options.lms is None:
        raise ValueError(f"--format {options.format} needs --lms: the table that it exported")
    table, column = read_table(options.lms), _column(options)
    scale = _scale(options, maximum(table, options.format, column), marks)
    merged = merge(table, options.format, column, marks, scale)
    write_table(merged.table, options.out)
    return _report(merged, marks, options.out)


def _report(merged: Merged, marks: dict[str, Mark], out: Path) -> int:
    """Print what became of everybody; returns the exit code."""
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


def _scale(options: argparse.Namespace, most: float | None, marks: dict[str, Mark]) -> float:
    """What marks are multiplied by. Asked for if the LMS counts to another maximum than we do.

    Raises ValueError where nobody can answer, or nobody does.
    """
    ours = max(mark.max_score for mark in marks.values())
    if most in (None, ours) or not ours or options.points == "as-they-are":
        return 1.0
    if options.points is None:
        differ = (
            f"{options.lms} gives at most {most:g} points for {options.chapter}, the chapter has "
            f"{ours:g}."
        )
        if not sys.stdin.isatty():
            raise ValueError(f"{differ} Pass --points scaled or --points as-they-are")
        answer = input(f"{differ} Multiply every mark by {most / ours:.4g}? [yes/no/stop] ")
        if answer.strip().lower() not in ("yes", "y", "no", "n"):
            raise ValueError("stopped, and nothing is written")
        if answer.strip().lower().startswith("n"):
            return 1.0
    return most / ours


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
