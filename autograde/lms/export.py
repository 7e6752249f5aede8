"""`autograde export`: marks as a plain table, or merged into the table that the LMS exported.

The LMS's table comes back with one column filled in. The other cells, the order of rows and
columns, the separator and the encoding stay as they were, so that the LMS can import it again.
Nobody is dropped silently: whoever is in the marks or in the table only is named, and a row in
doubt stays as it was.

A spreadsheet computes a cell that begins like a formula, and people choose their own names. Such a
cell is written with an apostrophe before it, as OWASP recommends ("CSV Injection"). The LMS finds
rows by numbers, which no apostrophe comes before.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from unicodedata import normalize

from nbgrader.api import Gradebook, SubmittedAssignment

from autograde.files import printable, write_if_changed
from autograde.result import read_grades

# The columns in which each LMS writes whose a row is. `autograde collect` ends a folder's name in
# the number that stands in the first of them: Canvas's ID, or that of Moodle's "Participant 201",
# which Moodle writes in the language of the person who exports.
WHO = {
    "canvas": ("ID", "SIS User ID", "SIS Login ID", "Student"),
    "moodle": ("Identifier", "ID number", "Email address", "Username", "Full name"),
}
NUMBER = re.compile(r"-(\d+)$")
NUMBER_IN_TABLE = re.compile(r"^\D*(\d+)$")
# What a spreadsheet takes for a formula, in East Asian width too. Inside of a cell as well: another
# program may begin a new cell there, at a separator that is not the table's.
_BEGINS = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
FORMULA = re.compile(rf"^(?=\s*{_BEGINS}|[\t\r\n])|(?<=[,;\t\r\n\"])(?={_BEGINS})")
PLAIN = re.compile(r"[+-]?[\d.,]*%?")  # numbers, and the - that Moodle writes for none
NO_STUDENT = ("points possible", "student, test")  # how rows of Canvas's own begin
NUMBER_AFTER = re.compile(r" \(\d+\)$")  # Canvas writes an assignment's number after its name


@dataclass(frozen=True)
class Mark:
    """One student's points in one chapter, and those of the exercises."""

    score: float
    max_score: float
    status: str
    exercises: Mapping[str, float]


@dataclass(frozen=True)
class Table:
    """A CSV file: its rows, and how it was written."""

    rows: list[list[str]]
    separator: str = ","
    bom: bool = False


@dataclass(frozen=True)
class Merged:
    """The filled table, and who is on one side only."""

    table: Table
    filled: int
    not_in_table: list[str]  # graded, and in no row of the LMS's table
    not_graded: list[str]  # in the table, without a mark
    doubtful: list[str]  # graded, fitting several rows, or one that somebody else fits too


def marks_of(path: Path, chapter: str) -> dict[str, Mark]:
    """The marks of a chapter, by student, from a gradebook or from `autograde grade --json`.

    A gradebook has manual points and penalties too. Raises ValueError if there is no such file, or
    no mark in it.
    """
    marks = (_in_gradebook if path.suffix == ".db" else _in_json)(path, chapter)
    if not marks:
        raise ValueError(f"{path} has no marks of {chapter}")
    return marks


def _in_json(path: Path, chapter: str) -> dict[str, Mark]:
    results = {s: c[chapter] for s, c in read_grades(path).items() if chapter in c}
    return {
        student: Mark(
            result["score"],
            result["max_score"],
            result["status"],
            {name: exercise["score"] for name, exercise in result["exercises"].items()},
        )
        for student, result in results.items()
    }


def _in_gradebook(database: Path, chapter: str) -> dict[str, Mark]:
    if not database.is_file():
        raise ValueError(f"there is no gradebook at {database}")
    with Gradebook(f"sqlite:///{database.resolve()}") as gradebook:
        submissions = gradebook.assignment_submissions(chapter)
        return {submission.student.id: _mark(submission) for submission in submissions}


def _mark(submission: SubmittedAssignment) -> Mark:
    grades = (grade for notebook in submission.notebooks for grade in notebook.grades)
    return Mark(
        max(0.0, submission.score - (submission.late_submission_penalty or 0.0)),
        submission.max_score,
        "to be marked" if submission.needs_manual_grade else "graded",
        {grade.name.removeprefix("test_"): grade.score for grade in grades},
    )


def plain_table(marks: Mapping[str, Mark]) -> Table:
    """Student, status, score, maximum and a column for each exercise."""
    exercises = list(dict.fromkeys(name for mark in marks.values() for name in mark.exercises))
    rows = [["student", "status", "score", "max_score", *exercises]]
    for student, mark in sorted(marks.items()):
        points = [mark.score, mark.max_score, *(mark.exercises.get(e, 0) for e in exercises)]
        rows.append([printable(student), mark.status, *(f"{number:g}" for number in points)])
    return Table(rows)


def read_table(path: Path) -> Table:
    """A CSV file with commas, semicolons or tabs, in UTF-8. Raises ValueError if it is none."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8; export it from the LMS again, as CSV") from None
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ValueError(f"{path} holds no table: a header and a row for each student are expected")
    return Table(rows, separator, data.startswith(b"\xef\xbb\xbf"))


def write_table(table: Table, path: Path) -> None:
    """Write it as it was read, whole or not at all, with nothing in it that a program computes."""
    text = io.StringIO(newline="")
    rows = [[_inert(cell) for cell in row] for row in table.rows]
    csv.writer(text, delimiter=table.separator).writerows(rows)
    write_if_changed(path, text.getvalue().encode("utf-8-sig" if table.bom else "utf-8"))


def _inert(cell: str) -> str:
    """A cell with an apostrophe before what a spreadsheet would take for a formula."""
    return cell if PLAIN.fullmatch(cell) else FORMULA.sub("'", cell)


def maximum(table: Table, kind: str, column: str) -> float | None:
    """The most points that the LMS gives in `column`; None if the table does not tell.

    Canvas writes it in the row "Points Possible", Moodle in the column "Maximum Grade".
    """
    header, people = table.rows[0], table.rows[1:]
    if kind == "canvas":
        people = [row for row in people if _cell(row, 0).lower() == "points possible"]
    elif "Maximum Grade" not in header:
        return None
    index = _column(header, column if kind == "canvas" else "Maximum Grade")
    cells = (_cell(row, index).replace(",", ".") for row in people)
    return next((float(cell) for cell in cells if re.fullmatch(r"\d+(\.\d+)?", cell)), None)


def merge(
    table: Table, kind: str, column: str, marks: Mapping[str, Mark], scale: float = 1.0
) -> Merged:
    """A copy of the LMS's table with the marks in `column`; `kind` is "canvas" or "moodle".

    `column` is the header's text, or a part that only one header has. Every mark is multiplied by
    `scale` and, unless it is 1, rounded to two decimals. Raises ValueError if the column is not
    there or the table has no column that tells whose a row is.
    """
    index, of_whom = _column(table.rows[0], column), _rows_by_key(table, kind)
    fits = {student: _fits(student, of_whom) for student in marks}
    single = {student: fit[0] for student, fit in fits.items() if len(fit) == 1}
    claims = Counter(single.values())
    sure = {student: row for student, row in single.items() if claims[row] == 1}
    rows = [list(row) for row in table.rows]
    comma = kind == "moodle" and _has_decimal_commas(table)
    for student, row in sure.items():
        points = marks[student].score
        score = f"{points if scale == 1.0 else round(scale * points, 2):g}"
        rows[row].extend([""] * (index + 1 - len(rows[row])))
        rows[row][index] = score.replace(".", ",") if comma else score
    filled = set(sure.values())
    return Merged(
        replace(table, rows=rows),
        len(sure),
        [printable(student) for student, fit in fits.items() if not fit],
        [row[0] for i, row in enumerate(rows) if i and i not in filled and _is_student(row)],
        [printable(student) for student, fit in fits.items() if fit and student not in sure],
    )


def _column(header: list[str], wanted: str) -> int:
    """The place of the one column that is called `wanted`, or else that holds it."""
    exact = [i for i, name in enumerate(header) if _plain(name) == _plain(wanted)]
    fits = exact or [i for i, name in enumerate(header) if wanted.lower() in name.lower()]
    if len(fits) != 1:
        raise ValueError(
            f"{len(fits) or 'none'} of the table's columns fit {wanted!r}. Its columns: "
            f"{', '.join(header)}. Name one with --column"
        )
    return fits[0]


def _plain(header: str) -> str:
    """A column's name as letters and digits: "02 Rejection sampling (8812)" is the chapter's."""
    return re.sub(r"\W+|_", "", NUMBER_AFTER.sub("", header)).lower()


def _rows_by_key(table: Table, kind: str) -> dict[str, list[int]]:
    """The places of the rows by what stands in them, and by "-101" for a row's number.

    Raises ValueError if no column tells whose a row is.
    """
    header = table.rows[0]
    columns = [header.index(name) if name in header else None for name in WHO[kind]]
    if not any(column is not None for column in columns):
        raise ValueError(f"the table has none of the columns {', '.join(WHO[kind])}")
    rows: dict[str, list[int]] = {}
    for i, row in enumerate(table.rows):
        texts = [_cell(row, column) for column in columns]
        numbers = [f"-{number}" for number in NUMBER_IN_TABLE.findall(texts[0])]
        for key in {*texts, *numbers} - {""} if i and _is_student(row) else ():
            rows.setdefault(key, []).append(i)
    return rows


def _fits(student: str, rows: Mapping[str, list[int]]) -> list[int]:
    """The rows that may be a student's: by the number of the folder, else by its whole name."""
    number = NUMBER.search(student)
    return (number and rows.get(number[0])) or rows.get(normalize("NFC", student), [])


def _cell(row: list[str], column: int | None) -> str:
    """The text of a row's cell, the same however its accents are written."""
    known = column is not None and column < len(row)
    return normalize("NFC", row[column].strip()) if known else ""


def _is_student(row: list[str]) -> bool:
    """Whether a row is a person's: it begins with a name, which may have two cells."""
    names = ", ".join(filter(None, (_cell(row, 0), _cell(row, 1)))).lower()
    return bool(names) and not names.startswith(NO_STUDENT)


def _has_decimal_commas(table: Table) -> bool:
    """Whether the table's numbers are written with commas: its maximal points tell, or the `;`."""
    cells = (cell for row in table.rows[1:] for cell in row)
    return table.separator == ";" or any(re.fullmatch(r"\d+,\d+", cell) for cell in cells)
