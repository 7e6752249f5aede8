"""Marks into the tables of Canvas and Moodle, as these write them, and back."""

import csv
import io
import json
from pathlib import Path

import pytest
from data_files import table
from nbgrader.api import Gradebook

from autograde.cli import main
from autograde.course import UsageError
from autograde.lms.export import Mark, Merged, Table, marks_of, merge, read_table, write_table
from autograde.nbgrader.config import own_commands_first

CHAPTER = "02_rejection_sampling"
LMS = table("lms.toml")
TABLES = {name: text.replace("\n", "\r\n") for name, text in LMS["tables"].items()}
CANVAS, MOODLE, CANVAS_TWO = (TABLES[name] for name in ("canvas", "moodle", "two_columns"))
CANVAS_ONE = CANVAS_TWO.replace("02 Rejection sampling (777)", "Other")


def merged_with(
    folder: Path, marks: dict, text: str = CANVAS, kind: str = "canvas", column: str = CHAPTER
) -> Merged:
    """The table `text` after these points, by student, were put into its column."""
    (folder / "lms.csv").write_bytes(text.encode())
    given = {student: Mark(score, 24.0, "graded") for student, score in marks.items()}
    return merge(read_table(folder / "lms.csv"), kind, column, given)


def written(folder: Path, merged: Merged) -> str:
    write_table(merged.table, folder / "out.csv")
    return (folder / "out.csv").read_bytes().decode()


def test_canvas_gets_one_column_filled_and_everything_else_back(tmp_path: Path):
    merged = merged_with(tmp_path, {"lovelaceada-101": 21.5, "zoe@x.org": 7, "zoe": 1})
    assert (merged.n_filled, merged.scale, merged.not_in_table) == (2, 1.0, ["zoe"])
    assert merged.not_graded == ["Lovelace, Ada"]
    filled = CANVAS.replace('first",,', 'first",21.5,').replace("B,3,", "B,7,")
    assert written(tmp_path, merged) == filled


def test_moodle_is_written_with_its_decimal_comma(tmp_path: Path):
    marks = {"Ada-Lovelace-203": 21.5, "zoe@x.org": 20}
    merged = merged_with(tmp_path, marks, MOODLE, "moodle", "Grade")
    filled = MOODLE.replace("1,50", "20").replace("ada2@x.org;", "ada2@x.org;21,5")
    assert written(tmp_path, merged) == filled
    assert merged.not_graded == ["Participant 201"]


def test_a_row_that_two_students_fit_stays_as_it_was_and_both_are_named(tmp_path: Path):
    merged = merged_with(tmp_path, {"Ada-King-102": 1, "ada@x.org": 4, "Ada-Lovelace-102": 2})
    assert [row[5] for row in merged.table.rows[3:]] == ["4", "3", ""]
    assert merged.not_in_table == ["Ada-King-102", "Ada-Lovelace-102"]


def test_a_folders_number_is_the_lms_own_and_no_other(tmp_path: Path):
    merged = merged_with(tmp_path, {"zoe-102": 1, "x-3": 2, "102": 3, "Lovelace, Ada": 4})
    assert [row[5] for row in merged.table.rows[3:]] == ["", "1", ""]
    assert merged.not_in_table == ["x-3", "102", "Lovelace, Ada"]


def test_the_command_names_who_is_missing_and_its_exit_code_says_so(tmp_path: Path, capsys):
    students = {"x-101": "failed", "nobody": "failed"}
    code, _ = exported(tmp_path, CANVAS.encode(), "canvas", students=students)
    assert code == 1
    printed = capsys.readouterr().out
    assert "1 of 2 marks are in it" in printed and "in the table:\n  nobody" in printed
    assert "could not be graded, and have 0 here:\n  x-101\n  nobody" in printed


def test_the_gradebooks_marks_have_manual_points_and_penalties(tmp_path: Path):
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
    with pytest.raises(ValueError, match="there is no gradebook"):
        marks_of(tmp_path / "none.db", CHAPTER)


BOTH = {"ada-101": "graded", "zoe-102": "graded"}


def exported(
    folder: Path, data: bytes, kind: str, *options: str, students: dict[str, str] = BOTH
) -> tuple[int, str]:
    """The exit code of `autograde export` with half marks of `students`, and the table it wrote."""
    mark = {"score": 12.0, "max_score": 24.0}
    grades = {name: {CHAPTER: mark | {"status": status}} for name, status in students.items()}
    (folder / "grades.json").write_text(json.dumps({"students": grades}))
    (folder / "lms.csv").write_bytes(data)
    out = folder / "out.csv"
    words = ["export", str(folder / "grades.json"), "--chapter", CHAPTER, "--format", kind]
    code = main([*words, "--lms", str(folder / "lms.csv"), "--out", str(out), *options])
    return code, out.read_text(encoding="utf-8-sig") if out.exists() else ""


@pytest.mark.parametrize("cell", LMS["cells"]["no_numbers"])
def test_what_is_not_a_number_stays_and_the_student_is_named(tmp_path: Path, capsys, cell: str):
    data = CANVAS_ONE.replace("zoe@x,S,1", f"zoe@x,S,{cell}").encode()
    code, out = exported(tmp_path, data, "canvas")
    assert code == 1 and "ada@x,S,12," in out and f"zoe@x,S,{cell}," in out
    printed = capsys.readouterr().out
    assert "1 of 2 marks are in it" in printed and f"zoe-102: {cell}" in printed


@pytest.mark.parametrize("maximum", LMS["cells"]["no_maximum"])
def test_a_maximum_that_is_no_number_above_0_is_refused(tmp_path: Path, capsys, maximum: str):
    data = CANVAS_ONE.replace(",24.00", f',"{maximum}"').encode()
    assert exported(tmp_path, data, "canvas") == (2, "")
    assert maximum in (said := capsys.readouterr().err) and "lms.csv" in said


def test_moodles_maximum_is_read_from_every_row(tmp_path: Path):
    rows = MOODLE.replace(";;24,00;", ";;;", 1).replace("24,00", "48,00")
    assert merged_with(tmp_path, {"zoe-202": 6}, rows, "moodle", "Grade").scale == 2
    with pytest.raises(UsageError, match="24,00 or 48,00"):
        rows = MOODLE.replace("24,00", "48,00", 1)
        merged_with(tmp_path, {"zoe-202": 6}, rows, "moodle", "Grade")


@pytest.mark.parametrize("header, person", LMS["languages"].items())
def test_moodles_table_in_any_language_needs_one_option_at_most(
    tmp_path: Path, capsys, header: str, person: str
):
    rows = [f'{person}{n},{n},n@x,-,-,"48,00"' for n in (101, 102)]
    data = "\ufeff" + "\r\n".join([header, *rows])
    marks = header.split(",")[4]
    if marks != "Grade":
        assert exported(tmp_path, data.encode(), "moodle") == (2, "")
        assert marks in (said := capsys.readouterr().err) and "--column" in said
    code, out = exported(tmp_path, data.encode(), "moodle", "--column", marks)
    assert code == 0 and out.count(',24,"48,00"') == 2


def test_of_two_columns_of_one_name_the_number_decides(tmp_path: Path, capsys):
    data = CANVAS_TWO.encode()
    assert exported(tmp_path, data, "canvas") == (2, "")
    assert "(777)" in (said := capsys.readouterr().err) and "the number in brackets" in said
    for column in ("02 Rejection sampling (777)", "777", "(777)"):
        code, out = exported(tmp_path, data, "canvas", "--column", column)
        assert code == 0 and "S,1,6" in out


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "cp1250"]
)
def test_a_table_in_excels_encodings_is_read_or_its_remedy_told(tmp_path, capsys, encoding: str):
    data = CANVAS_ONE.replace(",", "\t").replace('"Lovelace\t', '"Lovelace,').encode(encoding)
    if encoding.startswith("utf"):
        code, out = exported(tmp_path, data, "canvas")
    else:
        assert exported(tmp_path, data, "canvas") == (2, "")
        said = capsys.readouterr().err
        assert "lms.csv" in said and "CSV UTF-8" in said and "--encoding cp1252" in said
        code, out = exported(tmp_path, data, "canvas", "--encoding", encoding)
    assert code == 0 and "Zo\u00eb" in out and out.count("S\t12\t") == 2


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "is empty"),
        ("\r\n\r\n", "is empty"),
        (CANVAS_ONE.split("\r\n")[0], "no row of the table is a person's"),
        ("\r\n".join(CANVAS_ONE.split("\r\n")[:2]), "no row of the table is a person's"),
        (CANVAS_ONE.replace('"', ""), "has 7 cells"),
        (CANVAS_ONE.replace(",ID,", ",Number,"), "no column ID"),
        ("S\0t\0", "is not text in UTF-8"),
    ],
)
def test_a_table_that_cannot_be_used_gets_a_line_with_the_file(
    tmp_path: Path, capsys, text: str, says: str
):
    assert exported(tmp_path, text.encode(), "canvas") == (2, "")
    assert says in (said := capsys.readouterr().err) and "lms.csv" in said


def test_a_short_row_is_filled_up(tmp_path: Path):
    code, out = exported(tmp_path, CANVAS_ONE.replace("zoe@x,S,1,2", "zoe@x").encode(), "canvas")
    assert code == 0 and "zoe@x,,12,\r\n" in out.replace("\n", "\r\n").replace("\r\r", "\r")


def test_an_anonymous_persons_mark_goes_to_nobody(tmp_path: Path):
    """Whatever number an earlier collection has put behind the code."""
    marks = {"anon_X7bQ9-102": 5, "anon_X7bQ9": 5, "LATE_anon_Zz9aa-101": 5, "anon_12345": 5}
    merged = merged_with(tmp_path, marks)
    assert merged.n_filled == 0 and merged.not_in_table == [*marks]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_nothing_in_a_written_table_is_a_formula(tmp_path: Path, separator: str):
    """Also for a program that parts the cells at another separator than ours."""
    path = tmp_path / "out.csv"
    write_table(Table([["x", formula, "x"] for formula in LMS["cells"]["formulas"]]), path)
    text = io.StringIO(path.read_bytes().decode(), newline="")
    cells = [cell for row in csv.reader(text, delimiter=separator) for cell in row]
    begins = ("=", "+", "-", "@", "\uff1d")
    computed = [c for c in cells if c.strip().startswith(begins) or c[:1] in tuple("\t\r\n")]
    assert len(cells) > 10 and computed == []
    write_table(Table([LMS["cells"]["plain"]]), path)
    assert read_table(path).rows == [LMS["cells"]["plain"]]
