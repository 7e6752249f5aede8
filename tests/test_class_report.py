"""The class report: what it counts, and that it is one whole, safe page."""

import json
from pathlib import Path

from bs4 import BeautifulSoup

from autograde.cli import main
from autograde.reports.class_report import report
from autograde.reports.gradebook import Override
from autograde.reports.statistics import Found, chapters_of

CHAPTER = "02_rejection_sampling"


def exercise(passed: int, *causes: str) -> dict:
    return {
        "score": float(passed),
        "max_score": 4.0,
        "passed": passed,
        "total": 4,
        "messages": ["a message"] * (4 - passed),
        "causes": list(causes),
    }


def result(first: dict, second: dict) -> dict:
    return {
        "status": "graded",
        "reason": None,
        "score": first["score"] + second["score"],
        "max_score": 8.0,
        "pending": ["why_residual"],
        "exercises": {"acceptance_probability": first, "speculative_accept": second},
    }


def a_class() -> dict:
    blank = result(exercise(0), exercise(0)) | {"status": "failed", "reason": "<b>a link</b>"}
    students = {
        "ada": result(exercise(4), exercise(4)),
        "ben": result(exercise(1, "ratio_swapped"), exercise(2, "no_stop")),
        "<script>cleo": result(exercise(3, "ratio_swapped"), exercise(4)),
        "dan": blank,
    }
    return {student: {CHAPTER: graded} for student, graded in students.items()}


def test_the_numbers_are_those_of_the_class():
    (chapter,) = chapters_of(a_class())
    assert chapter.scores == {"ada": 8.0, "ben": 3.0, "<script>cleo": 7.0}
    assert chapter.failed == {"dan": "<b>a link</b>"} and chapter.max_score == 8.0
    first, second = chapter.exercises
    assert first.students_by_passed == {1: 1, 3: 1, 4: 1} and first.mean == 8 / 12
    assert second.students_by_passed == {2: 1, 4: 2} and second.mean == 10 / 12
    assert chapter.found == [
        Found("acceptance_probability", "ratio_swapped", ("<script>cleo", "ben")),
        Found("speculative_accept", "no_stop", ("ben",)),
    ]


def test_the_page_is_whole_and_nobodys_text_is_markup():
    page = report(a_class(), [Override("ben", CHAPTER, "speculative_accept", 4.0, 2.0)])
    soup = BeautifulSoup(page, "html.parser")
    assert not soup.find_all(["script", "link", "b"]) and "&lt;script&gt;cleo" in page
    pictures = soup.find_all("img")
    assert len(pictures) == 2 and all(p["src"].startswith("data:image/png") for p in pictures)
    assert "6.4 to 7.2 points: 1, 7.2 to 8 points: 1" in pictures[0]["alt"]
    assert "acceptance_probability 67%, speculative_accept 83%" in pictures[1]["alt"]
    text = soup.get_text(" ")
    assert "3 graded, mean 6.0 of 8 points; 1 could not be graded" in text
    assert "Marks by hand that differ" in text


def test_the_same_class_gives_the_same_page():
    assert report(a_class()) == report(a_class())


def test_an_empty_class_is_said_to_be_empty():
    assert "Nobody has handed in anything" in report({})
    failed = {s: r for s, r in a_class().items() if s == "dan"}
    assert "0 graded, mean 0.0 of 8 points; 1 could not be graded" in report(failed)


def test_the_command(tmp_path: Path, capsys):
    grades, page = tmp_path / "grades.json", tmp_path / "report.html"
    grades.write_text(json.dumps({"students": a_class()}))
    words = ["report", str(grades), "--out", str(page), "--course", str(tmp_path)]
    assert main(words) == 0 and "Class report" in page.read_text()
    grades.write_text("[]")
    assert main(words) == 2
    assert "is not what `autograde grade --json` writes" in capsys.readouterr().err
