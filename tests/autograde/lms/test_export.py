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
    marks_in_gradebook,
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


def test_canvas_gets_one_column_filled_and_everything_else_back(tmp_path: Path):
    path = table(tmp_path, CANVAS)
    marks = {"lovelaceada-101": mark(21.5), "o-brienzo-102": mark(7), "zoe": mark(1)}
    merged = merge(read_table(path), "canvas", CHAPTER, marks)
    write_table(merged.table, tmp_path / "out.csv")
    assert (merged.filled, merged.not_in_table) == (2, ["zoe"])
    assert merged.not_graded == ["Lovelace, Ada"] and merged.ambiguous == []
    old, new = (
        list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
        for data in (path.read_bytes(), (tmp_path / "out.csv").read_bytes())
    )
    changed = [(i, j) for i, row in enumerate(old) for j, c in enumerate(row) if c != new[i][j]]
    assert changed == [(2, 5), (3, 5)] and [new[2][5], new[3][5]] == ["21.5", "7"]


def test_an_untouched_table_comes_back_byte_for_byte(tmp_path: Path):
    for text in (CANVAS, MOODLE):
        path = table(tmp_path, text)
        write_table(read_table(path), tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_canvas_knows_people_by_login_too_and_one_name_for_two_is_ambiguous(tmp_path: Path):
    marks = {"ada2@x.org": mark(1), "a-2": mark(2), "Lovelace, Ada": mark(3)}
    merged = merge(read_table(table(tmp_path, CANVAS)), "canvas", "(555)", marks)
    assert [row[5] for row in merged.table.rows[2:5]] == ["", "2", "1"]
    assert merged.ambiguous == ["Lovelace, Ada"]


def test_moodle_is_written_with_its_decimal_comma(tmp_path: Path):
    marks = {"Ada-Lovelace-203": mark(21.5), "zoe@x.org": mark(20)}
    merged = merge(read_table(table(tmp_path, MOODLE)), "moodle", "Grade", marks)
    assert [row[3] for row in merged.table.rows[1:]] == ["", "20", "21,5"]
    assert merged.not_graded == ["Participant 201"]


def test_a_row_that_two_students_fit_stays_as_it_was_and_both_are_named(tmp_path: Path):
    marks = {"Ada-King-102": mark(1), "ada@x.org": mark(4), "Ada-Lovelace-102": mark(2)}
    merged = merge(read_table(table(tmp_path, CANVAS)), "canvas", CHAPTER, marks)
    assert [row[5] for row in merged.table.rows[2:5]] == ["4", "3", ""]
    assert merged.filled == 1 and merged.not_in_table == []
    assert merged.ambiguous == ["Ada-King-102", "Ada-Lovelace-102"]
    assert merged.not_graded == ['O\'Brien, Zo\u00eb "Z"', "Lovelace, Ada"]


def test_a_folders_number_is_canvass_id_and_no_other(tmp_path: Path):
    numbers = CANVAS.replace("a-1,", "102,").replace("a-3,", "555,")
    marks = {"zoe-102": mark(1), "x-555": mark(2)}
    merged = merge(read_table(table(tmp_path, numbers)), "canvas", CHAPTER, marks)
    assert [row[5] for row in merged.table.rows[2:5]] == ["", "1", ""]
    assert merged.not_in_table == ["x-555"]
    whole = merge(read_table(table(tmp_path, numbers)), "canvas", CHAPTER, {"102": mark(3)})
    assert (whole.filled, whole.ambiguous) == (0, ["102"])
    sure = merge(read_table(table(tmp_path, numbers)), "canvas", CHAPTER, {"555": mark(3)})
    assert [row[5] for row in sure.table.rows[2:5]] == ["", "3", "3"]


def test_a_folders_number_is_moodles_participant_and_no_other(tmp_path: Path):
    text = MOODLE.replace("Email address", "ID number").replace("ada@x.org", "203")
    text = text.replace("Participant 203", "Teilnehmer/in203")
    merged = merge(read_table(table(tmp_path, text)), "moodle", "Grade", {"Ada-203": mark(1)})
    assert [row[3] for row in merged.table.rows[1:]] == ["", "1,50", "1"]
    of_the_gradebook = "First name,ID number,Grade\nAda,203,\nBen,204,\n"
    merged = merge(
        read_table(table(tmp_path, of_the_gradebook)), "moodle", "Grade", {"Ben-203": mark(1)}
    )
    assert (merged.filled, merged.not_in_table) == (0, ["Ben-203"])


def test_a_name_that_a_row_has_counts_only_where_nothing_better_fits(tmp_path: Path):
    zoe = 'O\'Brien, Zo\u00eb "Z"'
    merged = merge(read_table(table(tmp_path, CANVAS)), "canvas", CHAPTER, {zoe: mark(5)})
    assert merged.table.rows[3][5] == "5"
    both = {zoe: mark(5), "a-2": mark(6)}
    merged = merge(read_table(table(tmp_path, CANVAS)), "canvas", CHAPTER, both)
    assert merged.table.rows[3][5] == "3" and merged.ambiguous == list(both)


def test_a_name_with_odd_bytes_stops_nobodys_marks(tmp_path: Path):
    result = {"score": 2.0, "max_score": 24.0, "status": "graded", "exercises": {}}
    grades = {"ada\udcff": {CHAPTER: result}, "ben": {CHAPTER: result}}
    (tmp_path / "grades.json").write_text(json.dumps({"students": grades}))
    words = ["export", str(tmp_path / "grades.json"), "--chapter", CHAPTER]
    out = tmp_path / "out.csv"
    assert main([*words, "--out", str(out)]) == 0
    assert [line.split(",")[0] for line in out.read_text().split()] == ["student", "ada?", "ben"]
    lms = ["--format", "canvas", "--lms", str(table(tmp_path, CANVAS))]
    assert main([*words, *lms, "--out", str(out)]) == 1


@pytest.mark.parametrize(
    "column, message",
    [("03_lossless", "no column of the table fit"), ("S", r"\d columns of the table fit")],
)
def test_a_column_that_is_not_one_is_an_error_that_lists_them(tmp_path, column, message):
    with pytest.raises(ValueError, match=message):
        merge(read_table(table(tmp_path, CANVAS)), "canvas", column, {})


def test_what_is_no_table_says_so(tmp_path: Path):
    path = tmp_path / "no.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not in UTF-8"):
        read_table(path)
    path.write_text("just a line\n")
    with pytest.raises(ValueError, match="holds no table"):
        read_table(path)


def test_the_plain_table_has_everybody(tmp_path: Path):
    rows = plain_table({"b": mark(2), "a": Mark(0.0, 24.0, "failed", {})}).rows
    assert rows[0] == ["student", "status", "score", "max_score", "speculative_accept"]
    assert rows[1:] == [["a", "failed", "0", "24", "0"], ["b", "graded", "2", "24", "2"]]


def test_the_command_names_who_is_missing_and_its_exit_code_says_so(tmp_path: Path, capsys):
    result = {"score": 2.0, "max_score": 24.0, "status": "graded", "exercises": {}}
    grades = {"x-101": {CHAPTER: result}, "nobody": {CHAPTER: result | {"status": "failed"}}}
    (tmp_path / "grades.json").write_text(json.dumps({"students": grades}))
    words = ["export", str(tmp_path / "grades.json"), "--chapter", CHAPTER]
    out = ["--out", str(tmp_path / "out.csv")]
    assert main([*words, *out]) == 0
    lms = ["--format", "canvas", "--lms", str(table(tmp_path, CANVAS))]
    assert main([*words, *lms, *out]) == 1
    printed = capsys.readouterr().out
    assert "1 of 2 marks are in it" in printed and "not in the table:\n  nobody" in printed
    assert "could not be graded, and stand with 0:\n  nobody" in printed
    assert main([*words, "--format", "moodle", *out]) == 2
    assert set(marks_of(grades, CHAPTER)) == {"x-101", "nobody"}


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
    marks = marks_in_gradebook(database, CHAPTER)
    assert (marks["ada"].score, marks["ada"].status) == (19.5, "graded")
    assert (marks["ben"].score, marks["ben"].status) == (18.5, "to be marked")
    assert marks["ada"].exercises == {"speculative_accept": 18.5, "why": 3.0}
    words = ["export", str(database), "--chapter", CHAPTER, "--out", str(tmp_path / "o.csv")]
    assert main(words) == 0
    assert main(["export", str(tmp_path / "none.db"), *words[2:]]) == 2
