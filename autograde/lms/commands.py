"""What `autograde collect`, `feedback` and `export` do, and what they print."""

import sys
from collections.abc import Iterable
from pathlib import Path

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


def run_collect(archive: Path, lms: str, chapter: str, course: Path) -> int:
    """Exit code 1 if something in the zip was refused."""
    places = (course / "submitted", course / "attempts")
    result = collect(archive, lms, chapter, *places)
    remember(course, lms, chapter, result.names)
    print(f"{len(result.students)} students' notebooks are in {places[0]}")
    _print("late", result.late)
    _print("graded under another file name", result.called_otherwise)
    _print("doubtful: check in the LMS who submitted these", result.doubtful)
    _print("same LMS id in two folders; if it is one student, delete the older", result.one_number)
    _print(f"kept apart, in {places[1]}", result.kept_apart)
    _print("refused", result.refused)
    return 1 if result.refused else 0


def run_feedback(lms: str, chapter: str, out: Path, course: Path) -> int:
    """Exit code 1 if somebody whose notebook was collected has no page."""
    names = remembered(course, lms, chapter)
    without = write_pages(out, course, lms, chapter, names)
    print(f"{out}: {len(names) - len(without)} pages, under the names that {lms.title()} knows")
    _print("collected, and without a page", without)
    return 1 if without else 0


def run_export(
    grades: Path,
    chapter: str,
    out: Path,
    kind: str,
    lms: Path | None,
    column: str | None,
    points: str | None,
) -> int:
    """Exit code 1 if a graded student has no row in the table, or several.

    A row without a mark is printed too, and leaves the exit code at 0.
    """
    marks = _marks(grades, chapter)
    if not marks:
        raise ValueError(f"{grades} has no marks of {chapter}")
    if kind == "csv":
        write_table(plain_table(marks), out)
        print(f"{out}: {len(marks)} students")
        _print_unfinished(marks)
        return 0
    if lms is None:
        raise ValueError(f"--format {kind} needs --lms: the table that it exported")
    # Moodle's table has one column for marks, Canvas's one an assignment.
    column = column or ("Grade" if kind == "moodle" else chapter)
    table = read_table(lms)
    scale = _scale(points, lms, chapter, marks, maximum(table, kind, column))
    merged = merge(table, kind, column, marks, scale)
    write_table(merged.table, out)
    print(f"{out}: {merged.filled} of {len(marks)} marks are in it")
    _print("graded, and not in the table", merged.not_in_table)
    _print("doubtful, as several rows or students fit: fill these in by hand", merged.doubtful)
    _print("in the table, and without a mark", merged.not_graded)
    _print_unfinished(marks)
    return 1 if merged.not_in_table or merged.doubtful else 0


def _print_unfinished(marks: dict[str, Mark]) -> None:
    for status, title in UNFINISHED.items():
        _print(title, [student for student, mark in marks.items() if mark.status == status])


def _marks(path: Path, chapter: str) -> dict[str, Mark]:
    """From a gradebook with manual points and penalties, from a JSON file the automatic points."""
    if path.suffix == ".db":
        return marks_in_gradebook(path, chapter)
    return marks_of(read_grades(path), chapter)


def _scale(
    points: str | None, lms: Path, chapter: str, marks: dict[str, Mark], most: float | None
) -> float:
    """What marks are multiplied by. Asked for if the LMS counts to `most`, and we do not.

    Raises ValueError where nobody can answer, or nobody does.
    """
    ours = max(mark.max_score for mark in marks.values())
    if most in (None, ours) or not ours:
        return 1.0
    how = points or _asked(
        f"{lms} gives at most {most:g} points for {chapter}, the chapter has {ours:g}.",
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
