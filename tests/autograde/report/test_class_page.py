"""The class report: what it counts, and that it is one whole, safe page."""

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from classes.class_results import CHAPTER, a_class, exercise, result

from autograde.cli import main
from autograde.report.class_page import class_page
from autograde.report.statistics import MisconceptionCount, counts_of
from autograde.report.table import print_table
from autograde.result import Override, Written


def test_the_numbers_are_those_of_the_class():
    (chapter,) = counts_of(a_class())
    assert chapter.scores == {"ada": 8.0, "ben": 3.0, "<script>cleo": 7.0}
    assert chapter.failed == {"dan": "<b>a link</b>"} and chapter.max_score == 8.0
    first, second = chapter.exercises
    assert first.students_by_passed == {1: 1, 3: 1, 4: 1} and first.mean == 8 / 12
    assert second.students_by_passed == {2: 1, 4: 2} and second.mean == 10 / 12
    gone, known = chapter.misconceptions
    who = ("<script>cleo", "ben")
    assert gone == MisconceptionCount("of before", ("acceptance_probability",), who)
    assert known.exercises == ("speculative_accept",) and known.students == ("ben",)
    assert known.text.startswith("one rejection costs one token")
    assert chapter.slowest == []


def test_one_misconception_in_two_exercises_is_one_row():
    students = {
        "ada": result(exercise(1, "inverted"), exercise(1, "ratio_inverted")),
        "ben": result(exercise(4), exercise(1, "ratio_inverted")),
    }
    (chapter,) = counts_of({student: {CHAPTER: each} for student, each in students.items()})
    (misconception,) = chapter.misconceptions
    assert misconception.text.startswith("the ratio is draft over target. But ")
    assert misconception.exercises == ("acceptance_probability", "speculative_accept")
    assert misconception.students == ("ada", "ben")


def test_who_is_right_by_themselves_is_counted(capsys):
    remarked = exercise(4) | {
        "remarks": ["a: Correct. With your own b, which is wrong, it gives: 1 is not 2."]
    }
    students = {"ada": result(exercise(1), remarked), "ben": result(exercise(4), exercise(4))}
    grades = {student: {CHAPTER: each} for student, each in students.items()}
    (chapter,) = counts_of(grades)
    assert [each.by_itself for each in chapter.exercises] == [0, 1]
    text = BeautifulSoup(class_page(grades), "html.parser").get_text(" ")
    assert "speculative_accept 4 100% 1" in text
    print_table(grades)
    assert "wrong answer that they call: speculative_accept (1)" in capsys.readouterr().out


def test_the_slowest_come_first_and_not_all_of_them():
    seconds = {f"s{i}": {CHAPTER: float(i)} for i in range(30)}
    (chapter,) = counts_of(a_class(), seconds)
    assert [student for student, _ in chapter.slowest] == [f"s{i}" for i in range(29, 19, -1)]


def test_the_page_is_whole_and_nobodys_text_is_markup():
    by_hand = [Override("ben", CHAPTER, "speculative_accept", 4.0, 2.0)]
    page = class_page(a_class(), by_hand, {"<i>dan": {CHAPTER: 2.5}})
    soup = BeautifulSoup(page, "html.parser")
    assert not soup.find_all(["script", "link", "b", "i"]) and "&lt;script&gt;cleo" in page
    pictures = soup.find_all("img")
    assert len(pictures) == 2 and all(p["src"].startswith("data:image/png") for p in pictures)
    assert "6.4 to 7.2 points: 1, 7.2 to 8 points: 1" in pictures[0]["alt"]
    assert "speculative_accept: 2 of 4: 1, 4 of 4: 2" in pictures[1]["alt"]
    text = soup.get_text(" ")
    assert "3 graded, mean 6.0 of 8 points; 1 could not be graded" in text
    assert "Marks by hand that differ" in text and "<i>dan 2.50" in text
    assert "speculative_accept 4 83% 0" in text


def test_written_marks_stand_in_the_report():
    written = [Written(CHAPTER, "why_residual", 2.0, 3, [2.0, 0.5]), Written("x", "y", 1.0, 2, [])]
    text = BeautifulSoup(class_page(a_class(), written=written), "html.parser").get_text(" ")
    assert f"{CHAPTER} why_residual 2 2 of 3 1.25" in text and "x y 1 0 of 2" in text
    assert "Written answers are marked in formgrader" not in text


def test_a_name_with_odd_bytes_stops_nobodys_report():
    odd = "e\udcff\x1b"
    wrong = result(exercise(1, "of before"), exercise(4))
    blank = a_class()["dan"][CHAPTER] | {"reason": "two\nlines \ud800"}
    grades = a_class() | {odd: {CHAPTER: wrong}, "f\udcff": {CHAPTER: blank}}
    page = class_page(grades, [Override(odd, CHAPTER, "x", 4.0, 2.0)], {odd: {CHAPTER: 2.5}})
    assert page.encode("utf-8").count(b"e??") == 3
    text = BeautifulSoup(page, "html.parser").get_text(" ")
    assert "f? two lines ?" in text and "<script>cleo, ben, e??" in text


def test_an_empty_class_is_said_to_be_empty():
    assert "Nobody has handed in anything" in class_page({})
    failed = {s: r for s, r in a_class().items() if s == "dan"}
    assert "0 graded, mean 0.0 of 8 points; 1 could not be graded" in class_page(failed)


def test_the_command(tmp_path: Path, capsys):
    grades, page = tmp_path / "grades.json", tmp_path / "report.html"
    grades.write_text(json.dumps({"students": a_class()}))
    words = ["report", str(grades), "--out", str(page), "--course", str(tmp_path)]
    assert main(words) == 0 and "Class report" in page.read_text()
    assert "does not tell what was slowest" in capsys.readouterr().out
    seconds = {"students": {"ada": {CHAPTER: 7.125}}}
    grades.with_suffix(".seconds.json").write_text(json.dumps(seconds))
    assert main(words) == 0 and "7.12" in page.read_text()
    grades.write_text("[]")
    assert main(words) == 2
    assert "is not what `autograde grade --json` writes" in capsys.readouterr().err


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_is_wider_than_the_window(browser, tmp_path: Path, width: int):
    file = tmp_path / "report.html"
    file.write_text(class_page(a_class(), [], {"a-name-without-an-end" * 9: {CHAPTER: 1.0}}))
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()
