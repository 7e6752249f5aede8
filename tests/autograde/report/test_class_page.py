"""The class report: what it says of a class, and that it is one whole, safe page."""

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from classes.class_results import CHAPTER, a_class, exercise, result

from autograde.cli import main
from autograde.report.class_page import class_page
from autograde.result import Override

INVERTED = "the ratio is draft over target."


def shown(*given: object) -> BeautifulSoup:
    return BeautifulSoup(class_page(*given), "html.parser")


def rows(page: BeautifulSoup) -> list[list[str]]:
    """The rows of all the page's tables."""
    return [[cell.get_text() for cell in row.find_all("td")] for row in page.select("tbody tr")]


def test_points_mistakes_and_who_could_not_be_graded_are_those_of_the_class():
    page = shown(a_class())
    assert "3 graded, mean 6.0 of 8 points; 1 could not be graded" in page.get_text()
    first, second, before, known, failed = rows(page)
    assert first == ["acceptance_probability", "4", "2.67", "1 with 1, 1 with 3, 1 with 4"]
    assert second == ["speculative_accept", "4", "3.33", "1 with 2, 2 with 4"]
    assert before == ["of before", "2", "acceptance_probability", "<script>cleo, ben"]
    assert known[0].startswith("one rejection costs one token")
    assert known[1:] == ["1", "speculative_accept", "ben"] and failed == ["dan", "<b>a link</b>"]


def test_one_mistake_in_two_exercises_is_one_row():
    students = {
        "ada": result(exercise(1, INVERTED), exercise(1, INVERTED)),
        "ben": result(exercise(4), exercise(1, INVERTED)),
    }
    *_, row = rows(shown({student: {CHAPTER: each} for student, each in students.items()}))
    assert row[0].startswith("the ratio is draft over target. But ")
    assert row[1:] == ["2", "acceptance_probability, speculative_accept", "ada, ben"]


def test_nobodys_text_is_markup_and_no_odd_name_stops_the_page():
    odd = "e\udcff\x1b"
    wrong = result(exercise(1, "of before"), exercise(4)) | {"limited": True}
    blank = a_class()["dan"][CHAPTER] | {"reason": "two\nlines \ud800"}
    grades = a_class() | {odd: {CHAPTER: wrong}, "f\udcff": {CHAPTER: blank}}
    page = class_page(grades, [Override(odd, CHAPTER, "x", 4.0, 2.0)])
    assert page.encode("utf-8").count(b"e??") == 3
    soup = BeautifulSoup(page, "html.parser")
    assert not soup.find_all(["script", "link", "b", "i"]) and "&lt;script&gt;cleo" in page
    assert ["f?", "two lines ?"] in rows(soup)
    assert ["e??", CHAPTER, "x", "2", "4"] in rows(soup)


def test_an_empty_class_is_said_to_be_empty():
    assert "Nobody has handed in anything" in class_page({})
    failed = {s: r for s, r in a_class().items() if s == "dan"}
    assert "0 graded, mean 0.0 of 8 points; 1 could not be graded" in class_page(failed)


def test_the_command(tmp_path: Path, capsys):
    grades, page = tmp_path / "grades.json", tmp_path / "report.html"
    grades.write_text(json.dumps({"students": a_class()}))
    words = ["report", str(grades), "--course", str(tmp_path)]
    assert main(words) == 0 and "Class report" in page.read_text()
    grades.write_text("[]")
    assert main(words) == 2
    assert "is not what `autograde grade --json` writes" in capsys.readouterr().err


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_is_wider_than_the_window(browser, tmp_path: Path, width: int):
    file = tmp_path / "report.html"
    long = {"a-name-without-an-end" * 9: a_class()["dan"]}
    file.write_text(class_page(a_class() | long))
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()
