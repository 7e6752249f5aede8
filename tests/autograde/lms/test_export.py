"""Marks into the tables of Canvas and Moodle, as these write them, and back."""

import csv
import io
import json
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograde.cli import main
from autograde.lms.export import (
    Mark,
    Merged,
    Table,
    marks_of,
    merge,
    plain_table,
    read_table,
    write_table,
)
from autograde.nbgrader.config import own_commands_first

CHAPTER = "02_rejection_sampling"
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,"
    "02_rejection_sampling (555),Final Score\r\n"
    "    Points Possible,,,,,24,(read only)\r\n"
    '"Lovelace, Ada",101,a-1,ada@x.org,"A, first",,88.5\r\n'
    '"O\'Brien, Zo\u00eb ""Z""",102,a-2,zoe@x.org,B,3,\r\n'
    '"Lovelace, Ada",103,a-3,ada2@x.org,B,,\r\n'
    '"Student, Test",,,,A,,\r\n'
)
MOODLE = (
    "Identifier;Full name;Email address;Grade;Maximum Grade;Feedback comments\r\n"
    "Participant 201;Ada Lovelace;ada@x.org;;24,00;\r\n"
    'Participant 202;Zo\u00eb O\'Brien;zoe@x.org;1,50;24,00;"see; here"\r\n'
    "Participant 203;Ada Lovelace;ada2@x.org;;24,00;\r\n"
)


def mark(score: float) -> Mark:
    return Mark(score, 24.0, "graded", {"speculative_accept": score})


def table(folder: Path, text: str) -> Path:
    path = folder / "lms.csv"
    path.write_bytes(text.encode("utf-8"))
    return path


def merged_with(
    folder: Path, marks: dict, text: str = CANVAS, kind: str = "canvas", column: str = CHAPTER
) -> Merged:
    """The table `text` after these points, by student, were put into its column."""
    given = {student: mark(score) for student, score in marks.items()}
    return merge(read_table(table(folder, text)), kind, column, given)


def grades_file(folder: Path, **statuses: str) -> list[str]:
    """The export command of a class in which everybody has 2 points, by student their status."""
    result = {"score": 2.0, "max_score": 24.0, "exercises": {}}
    grades = {name: {CHAPTER: result | {"status": each}} for name, each in statuses.items()}
    (folder / "grades.json").write_text(json.dumps({"students": grades}))
    out = ["--out", str(folder / "out.csv")]
    return ["export", str(folder / "grades.json"), "--chapter", CHAPTER, *out]


def test_canvas_gets_one_column_filled_and_everything_else_back(tmp_path: Path):
    merged = merged_with(tmp_path, {"lovelaceada-101": 21.5, "o-brienzo-102": 7, "zoe": 1})
    write_table(merged.table, tmp_path / "out.csv")
    assert (merged.filled, merged.not_in_table) == (2, ["zoe"])
    assert merged.not_graded == ["Lovelace, Ada"] and merged.doubtful == []
    old, new = (
        list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
        for data in (CANVAS.encode(), (tmp_path / "out.csv").read_bytes())
    )
    changed = [(i, j) for i, row in enumerate(old) for j, c in enumerate(row) if c != new[i][j]]
    assert changed == [(2, 5), (3, 5)] and [new[2][5], new[3][5]] == ["21.5", "7"]


def test_an_untouched_table_comes_back_byte_for_byte(tmp_path: Path):
    for text in (CANVAS, MOODLE):
        path = table(tmp_path, text)
        write_table(read_table(path), tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_moodle_is_written_with_its_decimal_comma(tmp_path: Path):
    merged = merged_with(
        tmp_path, {"Ada-Lovelace-203": 21.5, "zoe@x.org": 20}, MOODLE, "moodle", "Grade"
    )
    assert [row[3] for row in merged.table.rows[1:]] == ["", "20", "21,5"]
    assert merged.not_graded == ["Participant 201"]


def test_a_row_that_two_students_fit_stays_as_it_was_and_both_are_named(tmp_path: Path):
    merged = merged_with(tmp_path, {"Ada-King-102": 1, "ada@x.org": 4, "Ada-Lovelace-102": 2})
    assert [row[5] for row in merged.table.rows[2:5]] == ["4", "3", ""]
    assert merged.filled == 1 and merged.not_in_table == []
    assert merged.doubtful == ["Ada-King-102", "Ada-Lovelace-102"]
    assert merged.not_graded == ['O\'Brien, Zo\u00eb "Z"', "Lovelace, Ada"]


def test_a_folders_number_is_canvass_id_and_no_other(tmp_path: Path):
    numbers = CANVAS.replace("a-1,", "102,").replace("a-3,", "555,")
    merged = merged_with(tmp_path, {"zoe-102": 1, "x-555": 2}, numbers)
    assert [row[5] for row in merged.table.rows[2:5]] == ["", "1", ""]
    assert merged.not_in_table == ["x-555"]
    whole = merged_with(tmp_path, {"102": 3}, numbers)
    assert (whole.filled, whole.doubtful) == (0, ["102"])
    sure = merged_with(tmp_path, {"555": 3}, numbers)
    assert [row[5] for row in sure.table.rows[2:5]] == ["", "3", "3"]


def test_a_name_that_a_row_has_counts_only_where_nothing_better_fits(tmp_path: Path):
    zoe = 'O\'Brien, Zo\u00eb "Z"'
    assert merged_with(tmp_path, {zoe: 5}).table.rows[3][5] == "5"
    merged = merged_with(tmp_path, {zoe: 5, "a-2": 6})
    assert merged.table.rows[3][5] == "3" and merged.doubtful == [zoe, "a-2"]


def test_the_plain_table_has_everybody(tmp_path: Path):
    rows = plain_table({"b": mark(2), "a": Mark(0.0, 24.0, "failed", {})}).rows
    assert rows[0] == ["student", "status", "score", "max_score", "speculative_accept"]
    assert rows[1:] == [["a", "failed", "0", "24", "0"], ["b", "graded", "2", "24", "2"]]


def test_the_command_names_who_is_missing_and_its_exit_code_says_so(tmp_path: Path, capsys):
    words = grades_file(tmp_path, **{"x-101": "graded", "nobody": "failed"})
    assert main([*words, "--format", "canvas", "--lms", str(table(tmp_path, CANVAS))]) == 1
    printed = capsys.readouterr().out
    assert "1 of 2 marks are in it" in printed and "not in the table:\n  nobody" in printed
    assert "could not be graded, and have 0 here:\n  nobody" in printed
    assert main([*words, "--format", "moodle"]) == 2


def test_the_gradebooks_marks_have_manual_points_and_penalties(tmp_path: Path, capsys):
    database = tmp_path / "gradebook.db"
    own_commands_first()
    with Gradebook(f"sqlite:///{database}") as book:
        book.add_assignment(CHAPTER)
        book.add_notebook(CHAPTER, CHAPTER)
        code = {"max_score": 20, "cell_type": "code"}
        book.add_grade_cell("test_speculative_accept", CHAPTER, CHAPTER, **code)
        book.add_grade_cell("why", CHAPTER, CHAPTER, max_score=4, cell_type="markdown")
        for student, written in {"ada": 3.0, "ben": None}.items():
            book.add_student(student)
            book.add_submission(CHAPTER, student)
            tests = book.find_grade("test_speculative_accept", CHAPTER, CHAPTER, student)
            tests.auto_score, tests.needs_manual_grade = 18.5, False
            book.find_grade("why", CHAPTER, CHAPTER, student).manual_score = written
            book.find_grade("why", CHAPTER, CHAPTER, student).needs_manual_grade = written is None
        book.find_submission_notebook(CHAPTER, CHAPTER, "ada").late_submission_penalty = 2.0
        book.db.commit()
    marks = marks_of(database, CHAPTER)
    assert (marks["ada"].score, marks["ada"].status) == (19.5, "graded")
    assert (marks["ben"].score, marks["ben"].status) == (18.5, "to be marked")
    assert marks["ada"].exercises == {"speculative_accept": 18.5, "why": 3.0}
    words = ["export", str(database), "--chapter", CHAPTER, "--out", str(tmp_path / "o.csv")]
    assert main(words) == 0
    assert main(["export", str(tmp_path / "none.db"), *words[2:]]) == 2


FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-1+cmd",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "\uff1d1+1",
    "=1+1;=2",
]
PLAIN = ["-", "-2.5", "+49301234", "-1,5", "-5%", "a=b", "O'Brien", "'quoted'", "ada@x.org", ""]


def cells_as_programs_see_them(path: Path, separators: str) -> list[str]:
    """All cells of the file, for programs that part them at each of these separators."""
    text = path.read_bytes().decode("utf-8-sig")
    parted = [csv.reader(io.StringIO(text, newline=""), delimiter=s) for s in separators]
    return [cell for rows in parted for row in rows for cell in row]


def computed(cell: str) -> bool:
    """Whether a spreadsheet would take the cell for a formula, and it is no number."""
    begins = cell.strip()[:1] in tuple("=+-@\uff1d") or cell[:1] in tuple("\t\r\n")
    return bool(cell.strip()) and begins and cell not in PLAIN


@pytest.mark.parametrize("name", [*FORMULAS, "x,=1+1", "x;@A1", "x\t+A1", 'x";"=1'])
def test_nothing_in_a_written_table_is_a_formula(tmp_path: Path, name: str):
    write_table(plain_table({name: mark(2)}), tmp_path / "plain.csv")
    rows = read_table(table(tmp_path, CANVAS)).rows
    rows[2][0] = rows[3][4] = name
    write_table(Table(rows, bom=True), tmp_path / "lms.csv")
    for path in (tmp_path / "plain.csv", tmp_path / "lms.csv"):
        assert not [c for c in cells_as_programs_see_them(path, ",;\t") if computed(c)]


def test_a_cell_that_is_no_formula_is_written_as_it_is(tmp_path: Path):
    write_table(Table([PLAIN, PLAIN]), tmp_path / "out.csv")
    assert read_table(tmp_path / "out.csv").rows == [PLAIN, PLAIN]


REAL = (  # as Canvas' lib/gradebook_exporter.rb writes it, with an assignment that posts by hand
    "Student,ID,SIS Login ID,Section,02 Rejection sampling (8812),Assignments Current Score\r\n"
    ",,,,Manual Posting,\r\n"
    "    Points Possible,,,,100.00,(read only)\r\n"
    '"Lovelace, Ada",101,ada@x.org,A,,88.5\r\n'
    '"Student, Test",199,,A,,\r\n'
)


def test_the_chapters_column_is_found_as_people_call_it_in_canvas(tmp_path: Path):
    merged = merged_with(tmp_path, {"lovelaceada-101": 12}, REAL)
    assert [row[4] for row in merged.table.rows[1:]] == ["Manual Posting", "100.00", "12", ""]
    assert merged.not_graded == []


@pytest.mark.parametrize("points, written", [("scaled", "8.33"), ("as-they-are", "2")])
def test_marks_are_scaled_only_if_asked(tmp_path: Path, points: str, written: str):
    words = grades_file(tmp_path, **{"lovelaceada-101": "graded"})
    words += ["--format", "canvas", "--lms", str(table(tmp_path, REAL)), "--points", points]
    assert main(words) == 0
    rows = read_table(tmp_path / "out.csv").rows
    assert rows[3][4] == written and rows[2][4] == "100.00"


def test_another_maximum_writes_nothing_until_it_is_said_what_it_means(tmp_path: Path, capsys):
    words = grades_file(tmp_path, **{"lovelaceada-101": "graded"})
    words += ["--format", "canvas", "--lms", str(table(tmp_path, REAL))]
    assert main(words) == 2 and not (tmp_path / "out.csv").exists()
    said = capsys.readouterr().err
    assert "at most 100 points" in said and "24" in said and "--points scaled" in said
