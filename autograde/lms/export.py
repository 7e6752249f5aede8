"""`autograde export`: marks put into the table that the LMS exported.

The table comes back with one column filled in, and all else as it was. Nobody is dropped silently:
whoever has no row of their own is named, and no row is guessed.

A spreadsheet computes a cell that begins like a formula, and people choose their own names. Such a
cell is written with an apostrophe before it, as OWASP recommends ("CSV Injection"). The LMS finds
rows by numbers, which no apostrophe comes before.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedAssignment

from autograde.chapter import UsageError
from autograde.files import printable, write_if_changed
from autograde.result import read_grades

# Whose a row is. `autograde collect` ends a folder's name in the number that ends the cell of the
# first column; a folder that somebody else has named may be called like the cell of the second.
WHO = {"canvas": ("ID", "SIS Login ID"), "moodle": ("Identifier", "Email address")}
NUMBER = re.compile(r"\d+$")
# What a spreadsheet takes for a formula, in East Asian width too. Inside of a cell as well: another
# program may begin a new cell there, at a separator that is not the table's.
_BEGINS = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
FORMULA = re.compile(rf"^(?=\s*{_BEGINS}|[\t\r\n])|(?<=[,;\t\r\n\"])(?={_BEGINS})")
PLAIN = re.compile(r"[+-]?[\d.,]*%?")  # numbers, and the - that Moodle writes for none
NUMBER_AFTER = re.compile(r" \(\d+\)$")  # Canvas writes an assignment's number after its name


@dataclass(frozen=True)
class Mark:
    """One student's points in one chapter."""

    score: float
    max_score: float
    status: str


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
    scale: float  # the LMS's maximum by the chapter's
    not_in_table: list[str]  # graded, and without a row, or with one that somebody else has too
    not_graded: list[str]  # in the table, without a mark


def marks_of(path: Path, chapter: str) -> dict[str, Mark]:
    """The marks of a chapter, by student, from a gradebook or from `autograde grade --json`.

    Only a gradebook has manual points and penalties. Raises UsageError if there is no mark in it.
    """
    marks = (_in_gradebook if path.suffix == ".db" else _in_json)(path, chapter)
    if not marks:
        raise UsageError(f"{path} has no marks of {chapter}")
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


def read_table(path: Path) -> Table:
    """A CSV file with commas, semicolons or tabs, in UTF-8. Raises UsageError if it is none."""
    data = path.read_bytes()
    text = data.decode("utf-8-sig")
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    rows = [*filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=separator))]
    return Table(rows, separator, data.startswith(codecs.BOM_UTF8))


def write_table(table: Table, path: Path) -> None:
    """Write it as it was read, whole or not at all, with nothing in it that a program computes."""
    text = io.StringIO(newline="")
    rows = [[_inert(cell) for cell in row] for row in table.rows]
    csv.writer(text, delimiter=table.separator).writerows(rows)
    write_if_changed(path, text.getvalue().encode("utf-8-sig" if table.bom else "utf-8"))


def _inert(cell: str) -> str:
    """A cell with an apostrophe before what a spreadsheet would take for a formula."""
    return cell if PLAIN.fullmatch(cell) else FORMULA.sub("'", cell)


def merge(table: Table, kind: str, column: str, marks: Mapping[str, Mark]) -> Merged:
    """A copy of the LMS's table with the marks in `column`; `kind` is "canvas" or "moodle".

    If the LMS gives another maximum, full marks here are full marks there. Raises UsageError if the
    column is not there or no column tells whose a row is.
    """
    header, *rows = [list(row) for row in table.rows]
    index, people = _column(header, column), _people(header, rows, kind)
    owners = {student: _row_of(student, people) for student in marks}
    claims = Counter(owners.values())
    sure = {s: row for s, row in owners.items() if row is not None and claims[row] == 1}
    scale = _scale(header, rows, index, max(mark.max_score for mark in marks.values()))
    comma = kind == "moodle" and any(re.fullmatch(r"\d+,\d+", c) for row in rows for c in row)
    for student, row in sure.items():
        score = f"{scale * marks[student].score:g}"
        rows[row][index] = score.replace(".", ",") if comma else score
    left = sorted(set(people.values()) - set(sure.values()))
    return Merged(
        replace(table, rows=[header, *rows]),
        len(sure),
        scale,
        [printable(student) for student in marks if student not in sure],
        [rows[row][0] for row in left],
    )


def _column(header: list[str], wanted: str) -> int:
    """The place of the one column that is called `wanted`."""
    found = [i for i, name in enumerate(header) if _plain(name) == _plain(wanted)]
    if len(found) != 1:
        raise UsageError(
            f"{len(found) or 'none'} of the table's columns are called {wanted!r}. Its columns: "
            f"{', '.join(header)}. Name one with --column"
        )
    return found[0]


def _plain(header: str) -> str:
    """A column's name as letters and digits: "02 Rejection sampling (8812)" is the chapter's."""
    return re.sub(r"\W+|_", "", NUMBER_AFTER.sub("", header)).lower()


def _people(header: list[str], rows: list[list[str]], kind: str) -> dict[str, int]:
    """The rows of people by "-101" for the number of the first column, and by the second's cell.

    Raises UsageError if the first is not there; a row that has no number in it is nobody's.
    """
    first, second = WHO[kind]
    if first not in header:
        raise UsageError(f"the table has no column {first}, which tells whose a row is")
    people: dict[str, int] = {}
    for i, row in enumerate(rows):
        cells = dict(zip(header, row, strict=False))
        if number := NUMBER.search(cells.get(first, "")):
            people[f"-{number[0]}"] = i
            people.setdefault(cells.get(second) or f"-{number[0]}", i)
    return people


def _row_of(student: str, people: Mapping[str, int]) -> int | None:
    """A student's row: by the number that ends the folder's name, else by the whole of it."""
    number = re.search(r"-\d+$", student)
    return people.get(number[0]) if number else people.get(student)


def _scale(header: list[str], rows: list[list[str]], index: int, ours: float) -> float:
    """The LMS's maximum by ours; 1 if the table does not tell.

    Canvas writes it in the row "Points Possible", Moodle in the column "Maximum Grade".
    """
    if "Maximum Grade" in header:
        cells = [row[header.index("Maximum Grade")] for row in rows]
    else:
        cells = [row[index] for row in rows if row[0].strip() == "Points Possible"]
    number = re.fullmatch(r"\d+([.,]\d+)?", cells[0]) if cells else None
    return float(number[0].replace(",", ".")) / ours if number else 1.0
