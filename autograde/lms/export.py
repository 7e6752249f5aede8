"""`autograde export`: marks put into the table that the LMS exported.

The table comes back with one column filled in, and all else as it was. Nobody is dropped silently:
whoever has no row of their own is named, and no row is guessed. What is neither empty nor a number
in that column stays, since an excused student (EX) would be excused no more.

Sources: Canvas' lib/gradebook_exporter.rb and gradebook_importer.rb, Moodle's
mod/assign/gradingtable.php, each as of 2026. Canvas writes its headings in English only. Moodle
writes them in the reader's language: whose a row is stands in its first column, which ends in a
number, and the maximum stands behind the grade.

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

from autograde.course import UsageError
from autograde.grading.result import read_grades
from autograde.intake.files import printable, write_if_changed

# Whose a row is. `autograde collect` ends a folder's name in the number that ends the cell of the
# first of these columns; a folder that somebody else has named may be called like the second's.
WHO = {"canvas": ("ID", "SIS Login ID"), "moodle": ("Identifier", "Email address")}
NUMBER = re.compile(r"\d+$")
ANONYMOUS = re.compile(r"(LATE_)?anon_")
# What a spreadsheet takes for a formula, in East Asian width too. Inside of a cell as well: another
# program may begin a new cell there, at a separator that is not the table's.
_BEGINS = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
FORMULA = re.compile(rf"^(?=\s*{_BEGINS}|[\t\r\n])|(?<=[,;\t\r\n\"])(?={_BEGINS})")
PLAIN = re.compile(r"[+-]?[\d.,]*%?")  # numbers, and the - that Moodle writes for none
POINTS = re.compile(r"[+-]?\d[\d.,]*|\.\d+")
NO_MARK = {"canvas": {""}, "moodle": {"", "-"}}  # what these write for no mark
NUMBER_AFTER = re.compile(r" \((\d+)\)$")  # Canvas writes an assignment's number after its name


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
    not_a_number: list[str]  # graded, and what stands in the table is not a number, so it stays


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


def read_table(path: Path, encoding: str | None = None) -> Table:
    """A CSV file with commas, semicolons or tabs, in UTF-8, UTF-16 or `encoding`.

    Raises UsageError if it is none, or if its rows have more cells than its header.
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
    wide = [row for row in rows if any(row[len(rows[0]) :])]
    if wide:
        raise UsageError(
            f"{path}: the row {printable(separator.join(wide[0]))!r} has {len(wide[0])} cells, and "
            f"the header has {len(rows[0])}. Export the table from the LMS again; in a table that "
            "was changed, a text with a separator in it needs quotation marks"
        )
    # Spreadsheets leave out empty cells at the end of a row.
    rows = [(row + [""] * len(rows[0]))[: len(rows[0])] for row in rows]
    return Table(rows, separator, data.startswith((codecs.BOM_UTF8, *UTF_16)))


UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _text_of(data: bytes, path: Path, encoding: str | None) -> str:
    """The bytes of the table at `path` as text."""
    guess = "utf-16" if data.startswith(UTF_16) else "utf-8-sig"
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
    column is not there, its maximum is none, or no column tells whose a row is.
    """
    header, *rows = [list(row) for row in table.rows]
    index, people = _column(header, column, kind), _people(header, rows, kind)
    owners = {student: _row_of(student, people) for student in marks}
    claims = Counter(owners.values())
    sure = {s: row for s, row in owners.items() if row is not None and claims[row] == 1}
    other = {s: rows[row][index] for s, row in sure.items() if not _is_mark(rows[row][index], kind)}
    scale = _scale(header, rows, index, kind, max(mark.max_score for mark in marks.values()))
    comma = kind == "moodle" and any(re.fullmatch(r"\d+,\d+", c) for row in rows for c in row)
    for student in sure.keys() - other.keys():
        score = f"{scale * marks[student].score:g}"
        rows[sure[student]][index] = score.replace(".", ",") if comma else score
    left = sorted(set(people.values()) - set(sure.values()))
    return Merged(
        replace(table, rows=[header, *rows]),
        len(sure) - len(other),
        scale,
        [printable(student) for student in marks if student not in sure],
        [rows[row][0] for row in left],
        [f"{printable(student)}: {cell}" for student, cell in other.items()],
    )


def _is_mark(cell: str, kind: str) -> bool:
    """Whether a mark may take the place of what the cell says."""
    return cell.strip() in NO_MARK[kind] or POINTS.fullmatch(cell.strip()) is not None


def _column(header: list[str], wanted: str, kind: str) -> int:
    """The place of the one column that is called `wanted`, or has it as its number."""
    same = [i for i, name in enumerate(header) if _plain(name) == _plain(wanted)]
    exact = [i for i, name in enumerate(header) if name.strip() == wanted.strip()]
    numbers = [NUMBER_AFTER.search(name) for name in header]
    numbered = [i for i, found in enumerate(numbers) if found and found[1] == wanted.strip(" ()")]
    for places in (exact, numbered, same):
        if len(places) == 1:
            return places[0]
    hint = "Name one with --column"
    if kind == "moodle":
        hint += "; Moodle writes its headings in the language that you use it in"
    elif len(same) > 1:
        hint += " and the number in brackets"
    raise UsageError(
        f"{len(same) or 'none'} of the table's columns are called {wanted!r}. Its columns: "
        f"{', '.join(header)}. {hint}"
    )


def _plain(header: str) -> str:
    """A column's name as letters and digits: "02 Rejection sampling (8812)" is the chapter's."""
    return re.sub(r"\W+|_", "", NUMBER_AFTER.sub("", header)).lower()


def _people(header: list[str], rows: list[list[str]], kind: str) -> dict[str, int]:
    """The rows of people by "-101" for the number of one column, and by the other's cell.

    A row that has no number is nobody's. Raises UsageError if no row has one.
    """
    first, second = WHO[kind]
    if kind == "moodle" and first not in header:
        first = header[0]
    if first not in header:
        raise UsageError(f"the table has no column {first}, which tells whose a row is")
    people: dict[str, int] = {}
    for i, row in enumerate(rows):
        cells = dict(zip(header, row, strict=True))
        if number := NUMBER.search(cells[first].strip()):
            people[f"-{number[0]}"] = i
            people.setdefault(cells.get(second) or f"-{number[0]}", i)
    if not people:
        raise UsageError(
            f"no row of the table is a person's: none has a number at the end of column {first}. "
            "Export the table from the LMS again"
        )
    return people


def _row_of(student: str, people: Mapping[str, int]) -> int | None:
    """A student's row: by the number that ends the folder's name, else by the whole of it.

    Behind an anonymous code the number of an upload may stand, which is no person's.
    """
    number = None if ANONYMOUS.match(student) else re.search(r"-\d+$", student)
    return people.get(number[0]) if number else people.get(student)


def _scale(header: list[str], rows: list[list[str]], index: int, kind: str, ours: float) -> float:
    """The LMS's maximum by ours; 1 if the table does not tell. Raises UsageError if it is none."""
    told = {cell.strip() for cell in _maxima(header, rows, index, kind)} - {""}
    if not told:
        return 1.0
    numbers = [re.fullmatch(r"\d+([.,]\d+)?", cell) for cell in told]
    maximum = float(numbers[0][0].replace(",", ".")) if len(told) == 1 and numbers[0] else 0.0
    if maximum == 0:
        raise UsageError(
            f"the maximum of column {header[index]!r} is {' or '.join(sorted(told))} in the table: "
            "marks need one number above 0. Set the points of the assignment in the LMS, and "
            "export the table again"
        )
    return maximum / ours


def _maxima(header: list[str], rows: list[list[str]], index: int, kind: str) -> list[str]:
    """The cells that tell the maximum: Canvas has one, Moodle one in each row."""
    if kind == "canvas":
        return [row[index] for row in rows if row[0].strip() == "Points Possible"]
    names = [name.strip().lower() for name in header]
    if "maximum grade" in names:
        return [row[names.index("maximum grade")] for row in rows]
    behind = [row[index + 1] for row in rows] if index + 1 < len(header) else []
    return behind if all(POINTS.fullmatch(cell.strip() or "0") for cell in behind) else []
