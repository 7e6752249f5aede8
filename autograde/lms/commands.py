"""What `autograde collect`, `feedback` and `export` do, and what they print.

Canvas finds whose a feedback page is by the two numbers that its own name for a submission begins
with (or by the letters after `anon`), and Moodle by the folder's name, so `collect` keeps these
names. Sources: Canvas' app/models/abstract_assignment.rb, infer_comment_context_from_filename;
Moodle's mod/assign/feedback/file/importziplib.php, is_valid_filename_for_import.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograde.files import printable, write_if_changed, write_json, zip_of
from autograde.lms.collect import REFUSED, collect, name_before_file
from autograde.lms.export import (
    Mark,
    marks_of,
    maximum,
    merge,
    plain_table,
    read_table,
    write_table,
)

UNFINISHED = {
    "failed": "could not be graded, and have 0 here",
    "to be marked": "a written answer is still to be marked in formgrader, and counts 0",
}


def run_collect(archive: Path, lms: str, chapter: str, course: Path) -> int:
    """Exit code 1 if something in the zip was refused."""
    places = (course / "submitted", course / "attempts")
    result = collect(archive, lms, chapter, *places)
    kept = _collected(course, chapter)
    names = kept.get(lms, {}) | result.names  # an earlier zip's others stay
    write_json(_names_file(course, chapter), kept | {lms: names})
    print(f"{len(result.names)} students' notebooks are in {places[0]}, others in {places[1]}")
    for title, lines in result.said.items():
        _print(title, lines)
    return 1 if result.said[REFUSED] else 0


def _names_file(course: Path, chapter: str) -> Path:
    """The names in the LMS's zips of what is graded, by LMS and student."""
    return course / "collected" / f"{chapter}.json"


def _collected(course: Path, chapter: str) -> dict[str, dict[str, str]]:
    path = _names_file(course, chapter)
    return json.loads(path.read_text()) if path.is_file() else {}


def run_feedback(lms: str, chapter: str, out: Path, course: Path) -> int:
    """Exit code 1 if somebody whose notebook was collected has no page.

    Raises ValueError, and writes nothing, if nothing was collected or nobody has a page.
    """
    names = _collected(course, chapter).get(lms)
    if not names:
        raise ValueError(
            f"nothing of {lms} was collected for {chapter}: `autograde collect ZIP --format {lms} "
            f"--chapter {chapter}` keeps the names. The same zip again changes nothing else"
        )
    pages = {s: course / "feedback" / s / chapter / f"{chapter}.html" for s in sorted(names)}
    files = {
        f"{name_before_file(names[student], lms)}{chapter}.html": page.read_bytes()
        for student, page in pages.items()
        if page.is_file()
    }
    if not files:
        command = f"nbgrader generate_feedback {chapter}"
        raise ValueError(f"{course / 'feedback'} has no page of {chapter}: `{command}` writes them")
    write_if_changed(out, zip_of(files))
    print(f"{out}: {len(files)} pages, under the names that {lms.title()} knows")
    without = [student for student, page in pages.items() if not page.is_file()]
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
    marks, left = marks_of(grades, chapter), 0
    if kind == "csv":
        write_table(plain_table(marks), out)
        print(f"{out}: {len(marks)} students")
    else:
        left = _fill_in(marks, chapter, out, kind, lms, column, points)
    for status, title in UNFINISHED.items():
        _print(title, [student for student, mark in marks.items() if mark.status == status])
    return 1 if left else 0


def _fill_in(
    marks: Mapping[str, Mark],
    chapter: str,
    out: Path,
    kind: str,
    lms: Path | None,
    column: str | None,
    points: str | None,
) -> int:
    """Write the LMS's table with the marks in it; returns how many of them are not."""
    if lms is None:
        raise ValueError(f"--format {kind} needs --lms: the table that it exported")
    # Moodle's table has one column for marks, Canvas's one an assignment.
    column = column or ("Grade" if kind == "moodle" else chapter)
    table = read_table(lms)
    ours = max(mark.max_score for mark in marks.values())
    most = maximum(table, kind, column) or ours
    if most != ours and points is None:
        differ = f"{lms} gives at most {most:g} points for {chapter}, the chapter has {ours:g}"
        raise ValueError(f"{differ}. Pass --points scaled or --points as-they-are")
    merged = merge(table, kind, column, marks, most / ours if points == "scaled" else 1.0)
    write_table(merged.table, out)
    print(f"{out}: {merged.filled} of {len(marks)} marks are in it")
    _print("graded, and not in the table", merged.not_in_table)
    _print("doubtful, as several rows or students fit: fill these in by hand", merged.doubtful)
    _print("in the table, and without a mark", merged.not_graded)
    return len(merged.not_in_table) + len(merged.doubtful)


def _print(title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        print(f"{title}:")
        print("\n".join(f"  {printable(line)}" for line in lines))
