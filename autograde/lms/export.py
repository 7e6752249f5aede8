"""`autograde export`: marks as a plain table, or merged into the table that the LMS exported.

The LMS's table comes back with one column filled in. The other cells, the order of rows and
columns, the separator and the encoding stay as they were, so that the LMS can import it again.
Nobody is dropped silently: whoever is in the marks or in the table only is named.

A spreadsheet computes a cell that begins like a formula, and people choose their own names. Such a
cell is written with an apostrophe before it, as OWASP recommends ("CSV Injection"), and is read
without. The LMS finds rows by numbers, which no apostrophe comes before.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from nbgrader.api import Gradebook, SubmittedAssignment

from autograde.files import printable, write_if_changed
from autograde.result import Grades, ResultJson

NUMBER = re.compile(r"-(\d+)$")  # of a folder that `autograde collect` has made
# Moodle writes "Participant" before it, in the language of the person who exports.
NUMBER_IN_TABLE = re.compile(r"^\D*(\d+)$")
# The columns in which each LMS writes whose a row is. The number in a folder's name stands in the
# first of them only: Canvas writes its own ID into the names in its zip, Moodle the number of
# "Participant 201". The last column holds names, which several people may have.
WHO = {
    "canvas": ("ID", "SIS User ID", "SIS Login ID", "Student"),
    "moodle": ("Identifier", "ID number", "Email address", "Username", "Full name"),
}
# What a spreadsheet takes for a formula, in East Asian width too. Inside of a cell as well: another
# program may begin a new cell there, at a separator that is not the table's.
_BEGINS = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FIRST, _INSIDE = rf"(?=\s*{_BEGINS}|[\t\r\n])", rf"(?={_BEGINS})"
FORMULA = re.compile(rf"^{_FIRST}|(?<=[,;\t\r\n\"]){_INSIDE}")
INERT = re.compile(rf"^'{_FIRST}|(?<=[,;\t\r\n\"])'{_INSIDE}")
PLAIN = re.compile(r"[+-]?[\d.,]*%?")  # numbers, and the - that Moodle writes for none
NOT_A_STUDENT = ("points possible", "student, test")
NUMBER_AFTER = re.compile(r" \(\d+\)$")  # Canvas writes an assignment's number after its name


@dataclass(frozen=True)
class Mark:
    """One student's points in one chapter, and those of the exercises."""

    score: float
    max_score: float
    status: str
    exercises: Mapping[str, float]


@dataclass
class Table:
    """A CSV file: its rows, and how it was written."""

    rows: list[list[str]]
    separator: str
    bom: bool


@dataclass(frozen=True)
class Merged:
    """The filled table, and who is on one side only."""

    table: Table
    filled: int
    not_in_table: list[str]  # graded, and in no row of the LMS's table
    not_graded: list[str]  # in the table, without a mark
    ambiguous: list[str]  # graded, fitting several rows, or one that somebody else fits too


def marks_of(grades: Grades, chapter: str) -> dict[str, Mark]:
    """The marks of a chapter, by student, from what `autograde grade --json` writes."""
    results = {student: c[chapter] for student, c in grades.items() if chapter in c}
    return {student: _mark(result) for student, result in results.items()}


def _mark(result: ResultJson) -> Mark:
    points = {name: exercise["score"] for name, exercise in result["exercises"].items()}
    return Mark(result["score"], result["max_score"], result["status"], points)


def marks_in_gradebook(database: Path, chapter: str) -> dict[str, Mark]:
    """The marks of a chapter in nbgrader's gradebook: tests, manual points, less late penalties.

    Raises ValueError if there is no such file.
    """
    if not database.is_file():
        raise ValueError(f"there is no gradebook at {database}")
    with Gradebook(f"sqlite:///{database.resolve()}") as gradebook:
        return {
            submission.student.id: Mark(
                max(0.0, submission.score - (submission.late_submission_penalty or 0.0)),
                submission.max_score,
                "to be marked" if submission.needs_manual_grade else "graded",
                _points(submission),
            )
            for submission in gradebook.assignment_submissions(chapter)
        }


def _points(submission: SubmittedAssignment) -> dict[str, float]:
    grades = (grade for notebook in submission.notebooks for grade in notebook.grades)
    return {grade.name.removeprefix("test_"): grade.score for grade in grades}


def plain_table(marks: Mapping[str, Mark]) -> Table:
    """Student, status, score, maximum and a column for each exercise."""
    exercises = list(dict.fromkeys(name for mark in marks.values() for name in mark.exercises))
    rows = [["student", "status", "score", "max_score", *exercises]]
    for student, mark in sorted(marks.items()):
        points = [f"{mark.exercises.get(name, 0):g}" for name in exercises]
        name, score, most = printable(student), f"{mark.score:g}", f"{mark.max_score:g}"
        rows.append([name, mark.status, score, most, *points])
    return Table(rows, ",", bom=False)


def read_table(path: Path) -> Table:
    """A CSV file with commas, semicolons or tabs, in UTF-8. Raises ValueError if it is none."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8; export it from the LMS again, as CSV") from None
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    read = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    rows = [[_as_read(cell) for cell in row] for row in read]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ValueError(f"{path} holds no table: a header and a row for each student are expected")
    return Table(rows, separator, data.startswith(b"\xef\xbb\xbf"))


def write_table(table: Table, path: Path) -> None:
    """Write it as it was read, whole or not at all, with nothing in it that a program computes."""
    text = io.StringIO(newline="")
    rows = [[_as_written(cell) for cell in row] for row in table.rows]
    csv.writer(text, delimiter=table.separator).writerows(rows)
    write_if_changed(path, text.getvalue().encode("utf-8-sig" if table.bom else "utf-8"))


def _as_written(cell: str) -> str:
    """A cell with an apostrophe before what a spreadsheet would take for a formula."""
    return cell if PLAIN.fullmatch(cell) else FORMULA.sub("'", cell)


def _as_read(cell: str) -> str:
    """A cell without the apostrophes that `_as_written` gives it."""
    plain = INERT.sub("", cell)
    return plain if _as_written(plain) == cell else cell


def maximum(table: Table, kind: str, column: str) -> float | None:
    """The most points that the LMS gives in `column`; None if the table does not tell.

    Canvas writes it in the row "Points Possible", Moodle in the column "Maximum Grade".
    """
    header, people = table.rows[0], table.rows[1:]
    if kind == "canvas":
        index = _column(header, column)
        cells = [_cell(row, index) for row in people if _cell(row, 0).lower() == NOT_A_STUDENT[0]]
    else:
        index = header.index("Maximum Grade") if "Maximum Grade" in header else None
        cells = [_cell(row, index) for row in people]
    numbers = [cell.replace(",", ".") for cell in cells if re.fullmatch(r"\d+([.,]\d+)?", cell)]
    return float(numbers[0]) if numbers else None


def merge(
    table: Table, kind: str, column: str, marks: Mapping[str, Mark], scale: float = 1.0
) -> Merged:
    """A copy of the LMS's table with the marks in `column`; `kind` is "canvas" or "moodle".

    `column` is the header's text, or a part that only one header has. Every mark is multiplied by
    `scale` and, unless it is 1, rounded to two decimals. A row that several students fit is left as
    it is, and so are the rows of a student who fits several. Raises ValueError if the column is not
    there or the table has no column that tells whose a row is.
    """
    index = _column(table.rows[0], column)
    fits, claims = _fits(table, kind, marks)
    sure = {s: fit[0] for s, fit in fits.items() if [claims[row] for row in fit] == [1]}
    rows = [list(row) for row in table.rows]
    comma = kind == "moodle" and _has_decimal_commas(table)
    for student, row in sure.items():
        points = marks[student].score
        score = f"{points if scale == 1.0 else round(scale * points, 2):g}"
        rows[row].extend([""] * (index + 1 - len(rows[row])))
        rows[row][index] = score.replace(".", ",") if comma else score
    left = set(range(1, len(rows))) - set(sure.values())
    return Merged(
        Table(rows, table.separator, table.bom),
        len(sure),
        [printable(student) for student, fit in fits.items() if not fit],
        [rows[row][0] for row in sorted(left) if rows[row] and _student(rows[row])],
        [printable(student) for student, fit in fits.items() if fit and student not in sure],
    )


def _column(header: list[str], wanted: str) -> int:
    exact = [i for i, name in enumerate(header) if name == wanted]
    exact = exact or [i for i, name in enumerate(header) if _plain(name) == _plain(wanted)]
    fits = exact or [i for i, name in enumerate(header) if wanted.lower() in name.lower()]
    if len(fits) != 1:
        how = "no column" if not fits else f"{len(fits)} columns"
        raise ValueError(
            f"{how} of the table fit {wanted!r}. Its columns: {', '.join(header)}. "
            "Name one with --column"
        )
    return fits[0]


def _plain(header: str) -> str:
    """A column's name as letters and digits: "02 Rejection sampling (8812)" is the chapter's."""
    return re.sub(r"\W+|_", "", NUMBER_AFTER.sub("", header)).lower()


def _fits(
    table: Table, kind: str, students: Iterable[str]
) -> tuple[dict[str, list[int]], Counter[int]]:
    """The rows that each student fits, and how many students claim each row.

    A name of several rows claims none of them. Raises ValueError if no column tells whose a row is.
    """
    header = table.rows[0]
    columns = {name: header.index(name) for name in WHO[kind] if name in header}
    if not columns:
        raise ValueError(f"the table has none of the columns {', '.join(WHO[kind])}")
    number, name = columns.get(WHO[kind][0]), columns.pop(WHO[kind][-1], None)
    people = [(i, row) for i, row in enumerate(table.rows) if i and row and _student(row)]
    by_number = _rows_by(people, lambda row: NUMBER_IN_TABLE.findall(_cell(row, number)))
    by_text = _rows_by(people, lambda row: [_cell(row, column) for column in columns.values()])
    by_name = _rows_by(people, lambda row: [_cell(row, name)])
    fits: dict[str, list[int]] = {}
    claims: Counter[int] = Counter()
    for student in students:
        whole, own_number = normalize("NFC", student), "".join(NUMBER.findall(student))
        sure = sorted({*by_number.get(own_number, ()), *by_text.get(whole, ())})
        fits[student] = sure or by_name.get(whole, [])
        claims.update(fits[student] if sure or len(fits[student]) == 1 else ())
    return fits, claims


def _rows_by(
    people: Iterable[tuple[int, list[str]]], keys: Callable[[list[str]], Iterable[str]]
) -> dict[str, list[int]]:
    """The rows' places, in order, under each of their `keys`."""
    rows: dict[str, list[int]] = {}
    for i, row in people:
        for key in set(keys(row)) - {""}:
            rows.setdefault(key, []).append(i)
    return rows


def _cell(row: list[str], column: int | None) -> str:
    """The text of a row's cell, the same however its accents are written."""
    known = column is not None and column < len(row)
    return normalize("NFC", row[column].strip()) if known else ""


def _student(row: list[str]) -> bool:
    """Whether a row is a person's.

    It is not if it holds Canvas's maximal points, its test student (whose names may have a column
    each), or "Manual Posting" in an assignment's column, before which that row is empty.
    """
    first, both = row[0].strip().lower(), ", ".join(cell.strip().lower() for cell in row[:2])
    return first not in NOT_A_STUDENT and both not in (", ", "", NOT_A_STUDENT[1])


def _has_decimal_commas(table: Table) -> bool:
    """Whether the table's numbers are written with commas: its maximal points tell, or the `;`."""
    cells = [cell for row in table.rows[1:] for cell in row]
    return any(re.fullmatch(r"\d+,\d+", cell) for cell in cells) or table.separator == ";"
