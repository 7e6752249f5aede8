"""The class report: what it says of a class, and that it is one whole, safe page."""

import json
from pathlib import Path

from bs4 import BeautifulSoup
from data_files import class_grades

from autograde.cli import main
from autograde.report.class_page import class_page


def rows(page: str) -> list[list[str]]:
    """The rows of all the page's tables."""
    table_rows = BeautifulSoup(page, "html.parser").select("tbody tr")
    return [[cell.get_text() for cell in row.find_all("td")] for row in table_rows]


def test_points_mistakes_and_who_could_not_be_graded_are_those_of_the_class():
    page = class_page(class_grades())
    assert "3 graded, mean 6 of 8 points; 1 could not be graded" in page
    first, second, before, known, failed = rows(page)
    assert first == ["acceptance_probability", "4", "2.67", "1 with 1, 1 with 3, 1 with 4"]
    assert second == ["speculative_accept", "4", "3.33", "1 with 2, 2 with 4"]
    assert before == ["of before", "2", "<script>cleo, ben"]
    assert known[0].startswith("one rejection costs one token")
    assert known[1:] == ["1", "ben"] and failed == ["dan", "<b>a link</b>"]


def test_nobodys_text_is_markup_and_no_odd_name_stops_the_page(tmp_path: Path):
    wrong = {name: row | {"limited": True} for name, row in class_grades()["<script>cleo"].items()}
    grades, page = tmp_path / "grades.json", tmp_path / "report.html"
    grades.write_text(json.dumps({"students": class_grades() | {"e\udcff\x1b": wrong}}))
    words = ["report", str(grades), "--out", str(page), "--course", str(tmp_path)]
    assert main(words) == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("e?") >= 2 and "&lt;script&gt;cleo" in text
    assert not BeautifulSoup(text, "html.parser").find_all(["script", "link", "b", "i"])
