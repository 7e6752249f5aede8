"""`autograde export`: write marks into the table that the LMS exported.

One column of the table is filled in, all other cells stay unchanged. Nobody is dropped silently:
students without a row of their own are named, and no row is guessed. A cell of the column that is
neither empty nor a number stays, so that an excused student (EX) stays excused.

Sources: Canvas' lib/gradebook_exporter.rb and gradebook_importer.rb, Moodle's
mod/assign/gradingtable.php, both as of 2026. Canvas writes its headings in English only. Moodle
writes them in the user's language: there the first column, which ends in a number, identifies the
student, and the column after the grade has the maximum.

A spreadsheet evaluates a cell that begins like a formula, and people choose their own names. Such a
cell is written with an apostrophe before it, as OWASP recommends ("CSV Injection"). The LMS finds
rows by numbers, which get no apostrophe.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedAssignment

from autograde.course import UsageError
from autograde.grading.result import read_grades
from autograde.intake.files import printable, write_if_changed

# The columns that identify a student. `autograde collect` ends a folder's name in the number at the
# end of the first one's cell; the name of any other folder may be the second one's cell.
ID_COLUMNS = {"canvas": ("ID", "SIS Login ID"), "moodle": ("Identifier", "Email address")}
_FINAL_NUMBER = re.compile(r"\d+$")
_ANONYMOUS = re.compile(r"(LATE_)?anon_")
# The start of a spreadsheet's formula, in East Asian width too. Within a cell as well: with another
# separator than the table's, a program may begin a new cell there.
_START = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"^(?=\s*{_START}|[\t\r\n])|(?<=[,;\t\r\n\"])(?={_START})")
_NUMBER = re.compile(r"[+-]?[\d.,]*%?")  # or "", or the "-" that Moodle writes for no mark
_POINTS = re.compile(r"[+-]?\d[\d.,]*|\.\d+")
_NO_MARK = {"canvas": {""}, "moodle": {"", "-"}}
_ASSIGNMENT_NUMBER = re.compile(r" \((\d+)\)$")  # Canvas appends it to an assignment's name
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Mark:
    """One student's points in one chapter."""

    score: float
    max_score: float
    status: str


@dataclass(frozen=True)
class Table:
    """A CSV file: its rows, its separator, and whether it begins with a byte order mark."""

    rows: list[list[str]]
    separator: str = ","
    bom: bool = False


@dataclass(frozen=True)
class Merged:
    """The filled table, and the students who are in the marks or in the table only."""

    table: Table
    n_filled: int
    scale: float  # the LMS's maximum divided by the chapter's
    not_in_table: list[str]  # graded, and without a row, or sharing it with somebody else
    not_graded: list[str]  # in the table, without a mark
    not_a_number: list[str]  # graded, and the cell in the table is not a number, so it stays


def marks_of(path: Path, chapter: str) -> dict[str, Mark]:
    """The marks of a chapter, by student, from a gradebook or from `autograde grade --json`.

    Only a gradebook has manual points and penalties. Raises UsageError if the file has no mark.
    """
    marks = (_in_gradebook if path.suffix == ".db" else _in_json)(path, chapter)
    if not marks:
        raise UsageError(f"{path} has no marks of {chapter}: grade it first, or check --chapter")
    return marks


def _in_json(path: Path, chapter: str) -> dict[str, Mark]:
    results = {s: c[chapter] for s, c in read_grades(path).items() if chapter in c}
    return {s: Mark(r["score"], r["max_score"], r["status"]) for s, r in results.items()}


def _in_gradebook(database: Path, chapter: str) -> dict[str, Mark]:
    if not database.is_file():
        raise UsageError(f"there is no gradebook at {database}")
    with Gradebook(f"sqlite:///{database.resolve()}") as gradebook:
        submissions = gradebook.assignment_submissions(chapter)
        return {submission.student.id: _mark(submission) for submission in submissions}


def _mark(submission: SubmittedAssignment) -> Mark:
    score = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
    status = "to be marked" if submission.needs_manual_grade else "graded"
    return Mark(score, submission.max_score, status)


def read_table(path: Path, encoding: str | None = None) -> Table:
    """A CSV file with commas, semicolons or tabs, in UTF-8, UTF-16 or `encoding`.

    Raises UsageError if it is not CSV, or if its rows have more cells than its header.
    """
    data = path.read_bytes()
    text = _text_of(data, path, encoding)
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    try:
        rows = [*filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=separator))]
    except csv.Error as error:
        raise UsageError(f"{path} is not a table as CSV: {error}") from None
    if not rows:
        raise UsageError(f"{path} is empty: export the table from the LMS again")
    too_long = [row for row in rows if any(row[len(rows[0]) :])]
    if too_long:
        line = printable(separator.join(too_long[0]))
        raise UsageError(
            f"{path}: the row {line!r} has {len(too_long[0])} cells, and "
            f"the header has {len(rows[0])}. Export the table from the LMS again; in a table that "
            "was changed, a text with a separator in it needs quotation marks"
        )
    # Spreadsheets leave out empty cells at the end of a row.
    rows = [(row + [""] * len(rows[0]))[: len(rows[0])] for row in rows]
    return Table(rows, separator, data.startswith((codecs.BOM_UTF8, *_UTF_16)))


def _text_of(data: bytes, path: Path, encoding: str | None) -> str:
    """The bytes of the table at `path` as text."""
    guess = "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = data.decode(encoding or guess)
    except LookupError:
        raise UsageError(f"{encoding!r} is not an encoding that Python knows") from None
    except UnicodeError:
        text = "\0"
    if "\0" in text:
        name = encoding or guess.removesuffix("-sig").upper()
        raise UsageError(
            f'{path} is not text in {name}. In Excel save it as "CSV UTF-8", or name its encoding: '
            "--encoding cp1252 for most of Windows"
        )
    return text.removeprefix("\ufeff")


def write_table(table: Table, path: Path) -> None:
    """Write a table as it was read, atomically, and without formulas."""
    text = io.StringIO(newline="")
    rows = [[_without_formula(cell) for cell in row] for row in table.rows]
    csv.writer(text, delimiter=table.separator).writerows(rows)
    write_if_changed(path, text.getvalue().encode("utf-8-sig" if table.bom else "utf-8"))


def _without_formula(cell: str) -> str:
    """A cell with an apostrophe before text that a spreadsheet would read as a formula."""
    return cell if _NUMBER.fullmatch(cell) else _FORMULA.sub("'", cell)


def merge(table: Table, lms: str, column: str, marks: Mapping[str, Mark]) -> Merged:
    """A copy of the LMS's table with the marks in `column`; `lms` is "canvas" or "moodle".

    If the LMS has another maximum, marks are scaled to it. Raises UsageError if the column does not
    exist, its maximum is not a positive number, or no column identifies the students.
    """
    header, *rows = [list(row) for row in table.rows]
    index = _column(header, column, lms)
    row_by_id = _rows_by_id(header, rows, lms)
    row_of = _unique_rows(marks, row_by_id)
    cells = {student: rows[row][index] for student, row in row_of.items()}
    unchanged = {student: cell for student, cell in cells.items() if not _is_mark(cell, lms)}
    scale = _scale(header, rows, index, lms, max(mark.max_score for mark in marks.values()))
    comma = lms == "moodle" and any(re.fullmatch(r"\d+,\d+", c) for row in rows for c in row)
    for student in row_of.keys() - unchanged.keys():
        score = f"{scale * marks[student].score:g}"
        rows[row_of[student]][index] = score.replace(".", ",") if comma else score
    without_mark = sorted(set(row_by_id.values()) - set(row_of.values()))
    return Merged(
        table=replace(table, rows=[header, *rows]),
        n_filled=len(row_of) - len(unchanged),
        scale=scale,
        not_in_table=[printable(student) for student in marks if student not in row_of],
        not_graded=[rows[row][0] for row in without_mark],
        not_a_number=[f"{printable(student)}: {cell}" for student, cell in unchanged.items()],
    )


def _unique_rows(students: Iterable[str], row_by_id: Mapping[str, int]) -> dict[str, int]:
    """The row of every student who has one and shares it with nobody."""
    rows = {student: _row_of(student, row_by_id) for student in students}
    counts = Counter(rows.values())
    return {s: row for s, row in rows.items() if row is not None and counts[row] == 1}


def _is_mark(cell: str, lms: str) -> bool:
    """Whether a mark may replace the cell: it is empty or a number."""
    return cell.strip() in _NO_MARK[lms] or _POINTS.fullmatch(cell.strip()) is not None


def _column(header: list[str], column: str, lms: str) -> int:
    """The index of the only column with the name or the number `column`."""
    similar = [i for i, name in enumerate(header) if _normalise(name) == _normalise(column)]
    exact = [i for i, name in enumerate(header) if name.strip() == column.strip()]
    numbers = [_ASSIGNMENT_NUMBER.search(name) for name in header]
    numbered = [i for i, match in enumerate(numbers) if match and match[1] == column.strip(" ()")]
    for candidates in (exact, numbered, similar):
        if len(candidates) == 1:
            return candidates[0]
    hint = "Name one with --column"
    if lms == "moodle":
        hint += "; Moodle writes its headings in the language that you use it in"
    elif len(similar) > 1:
        hint += " and the number in brackets"
    raise UsageError(
        f"{len(similar) or 'none'} of the table's columns are called {column!r}. Its columns: "
        f"{', '.join(header)}. {hint}"
    )


def _normalise(header: str) -> str:
    """A column's name as letters and digits: "02 Rejection sampling (8812)" is the chapter's."""
    return re.sub(r"\W+|_", "", _ASSIGNMENT_NUMBER.sub("", header)).lower()


def _rows_by_id(header: list[str], rows: list[list[str]], lms: str) -> dict[str, int]:
    """The students' rows by the first column's number, as in "-101", and by the second's cell.

    A row without a number is no student's. Raises UsageError if no row has one.
    """
    first, second = ID_COLUMNS[lms]
    if lms == "moodle" and first not in header:
        first = header[0]
    if first not in header:
        raise UsageError(f"the table has no column {first}, which tells whose a row is")
    row_by_id: dict[str, int] = {}
    for i, row in enumerate(rows):
        cells = dict(zip(header, row, strict=True))
        if number := _FINAL_NUMBER.search(cells[first].strip()):
            row_by_id[f"-{number[0]}"] = i
            row_by_id.setdefault(cells.get(second) or f"-{number[0]}", i)
    if not row_by_id:
        raise UsageError(
            f"no row of the table is a person's: none has a number at the end of column {first}. "
            "Export the table from the LMS again"
        )
    return row_by_id


def _row_of(student: str, row_by_id: Mapping[str, int]) -> int | None:
    """A student's row, by the number at the end of the folder's name, else by the whole name.

    The number after an anonymous code may be that of an upload, so it identifies nobody.
    """
    number = None if _ANONYMOUS.match(student) else re.search(r"-\d+$", student)
    return row_by_id.get(number[0]) if number else row_by_id.get(student)


def _scale(header: list[str], rows: list, index: int, lms: str, max_score: float) -> float:
    """The LMS's maximum divided by `max_score`, or 1 if the table has no maximum.

    Raises UsageError if the maximum is not one positive number.
    """
    maxima = {cell.strip() for cell in _maximum_cells(header, rows, index, lms)} - {""}
    if not maxima:
        return 1.0
    numbers = [re.fullmatch(r"\d+([.,]\d+)?", cell) for cell in maxima]
    maximum = float(numbers[0][0].replace(",", ".")) if len(maxima) == 1 and numbers[0] else 0.0
    if maximum == 0:
        values = " or ".join(sorted(maxima))
        raise UsageError(
            f"the maximum of column {header[index]!r} is {values} in the table: "
            "marks need one number above 0. Set the points of the assignment in the LMS, and "
            "export the table again"
        )
    return maximum / max_score


def _maximum_cells(header: list[str], rows: list[list[str]], index: int, lms: str) -> list[str]:
    """The cells with the maximum: Canvas has one, Moodle one per row."""
    if lms == "canvas":
        return [row[index] for row in rows if row[0].strip() == "Points Possible"]
    names = [name.strip().lower() for name in header]
    if "maximum grade" in names:
        return [row[names.index("maximum grade")] for row in rows]
    next_column = [row[index + 1] for row in rows] if index + 1 < len(header) else []
    is_numeric = all(_POINTS.fullmatch(cell.strip() or "0") for cell in next_column)
    return next_column if is_numeric else []
