"""The commands `autograde collect`, `feedback` and `export`, with their output.

Canvas finds the student of a feedback page by the two numbers at the start of its own name for a
submission, and Moodle by the folder's name, so `collect` records these names. Sources: Canvas'
app/models/abstract_assignment.rb, infer_comment_context_from_filename; Moodle's
mod/assign/feedback/file/importziplib.php, is_valid_filename_for_import.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from autograde.course import UsageError
from autograde.intake.files import printable, write_if_changed, write_json, zip_of
from autograde.lms.collect import collect_submissions
from autograde.lms.export import marks_of, merge, read_table, write_table

UNFINISHED = {
    "failed": "could not be graded, and have 0 here",
    "to be marked": "a written answer is still to be marked in formgrader, and counts 0",
}


def run_collect(archive: Path, lms: str, chapter: str, course: Path) -> int:
    """Extract a zip of submissions. Returns the exit code: 1 if a file was refused."""
    submitted = course / "submitted"
    result = collect_submissions(archive, lms, chapter, submitted)
    recorded = _read_prefixes(course, chapter)
    prefixes = recorded.get(lms, {}) | result.prefixes  # students of earlier zips stay
    write_json(_prefixes_file(course, chapter), recorded | {lms: prefixes})
    print(f"{len(result.prefixes)} students' notebooks are in {submitted}")
    _print("late", result.late)
    _print("refused", result.refused)
    return 1 if result.refused else 0


def _prefixes_file(course: Path, chapter: str) -> Path:
    """The file with the prefixes of file names in the LMS's zips, by LMS and student."""
    return course / "collected" / f"{chapter}.json"


def _read_prefixes(course: Path, chapter: str) -> dict[str, dict[str, str]]:
    path = _prefixes_file(course, chapter)
    return json.loads(path.read_text()) if path.is_file() else {}


def run_feedback(lms: str, chapter: str, out: Path, course: Path) -> int:
    """Write the zip of feedback pages. Returns the exit code: 1 if a collected student has no page.

    Raises UsageError, and writes nothing, if nothing was collected.
    """
    prefixes = _read_prefixes(course, chapter).get(lms)
    if not prefixes:
        command = f"autograde collect ZIP --format {lms} --chapter {chapter}"
        raise UsageError(f"nothing of {lms} was collected for {chapter}: `{command}` does it")
    pages = {s: course / "feedback" / s / chapter / f"{chapter}.html" for s in sorted(prefixes)}
    existing = {student: page for student, page in pages.items() if page.is_file()}
    files = {f"{prefixes[s]}{chapter}.html": page.read_bytes() for s, page in existing.items()}
    write_if_changed(out, zip_of(files))
    print(f"{out}: {len(files)} pages, under the names that {lms.title()} knows")
    missing = sorted(pages.keys() - existing.keys())
    _print(f"without a page (`nbgrader generate_feedback {chapter}` writes them)", missing)
    return 1 if missing else 0


def run_export(
    grades: Path,
    chapter: str,
    out: Path,
    lms: str,
    table: Path,
    column: str | None,
    encoding: str | None = None,
) -> int:
    """Write the LMS's table with the marks. Returns the exit code: 1 if a mark is not in it.

    A row without a mark is printed too, and leaves the exit code at 0. Raises UsageError if the
    LMS's table cannot be used.
    """
    marks = marks_of(grades, chapter)
    # Moodle's table has one column for marks, Canvas's one per assignment.
    column = column or ("Grade" if lms == "moodle" else chapter)
    lms_table = read_table(table, encoding)
    try:
        merged = merge(lms_table, lms, column, marks)
    except UsageError as error:
        raise UsageError(f"{table}: {error}") from None
    write_table(merged.table, out)
    print(f"{out}: {merged.n_filled} of {len(marks)} marks are in it")
    if merged.scale != 1:
        scale = f"{merged.scale:g}"
        print(f"the LMS's maximum differs from the chapter's: marks are multiplied by {scale}")
    _print("graded, and without a row of their own in the table", merged.not_in_table)
    _print("something other than a number is in the table, and stays", merged.not_a_number)
    _print("in the table, and without a mark", merged.not_graded)
    for status, title in UNFINISHED.items():
        _print(title, [student for student, mark in marks.items() if mark.status == status])
    return 1 if merged.not_in_table or merged.not_a_number else 0


def _print(title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        print(f"{title}:")
        print("\n".join(f"  {printable(line)}" for line in lines))
