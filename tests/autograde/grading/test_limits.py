"""A limit costs its author alone, and is said wherever the result is."""

import json
from dataclasses import asdict, replace
from functools import cache

import nbformat
import pytest
from classes.submitting import CHAPTER, right

from autograde import grade as engine
from autograde.bugs import answers_of
from autograde.report.class_page import class_page
from autograde.report.feedback import summary_markdown
from autograde.report.table import print_table
from autograde.result import Result
from autograde.sandbox import bounded
from autograde.submission import release_of
from autograde.tools.samples import filled

ENDLESS = "def correct_token(p, q, token, r, u):\n    while True: pass"


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that are soon reached."""
    limits = engine.limits_of(CHAPTER)
    short = replace(limits, call_seconds=0.5, cell_seconds=1.0, extra_cell_seconds=1.0)
    monkeypatch.setattr(engine, "limits_of", cache(lambda chapter: short))


def with_cell(source: str, **answers: str) -> nbformat.NotebookNode:
    notebook = right(**answers)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(source, id="extra-0"))
    return notebook


def test_a_call_without_an_end_costs_its_own_points_and_no_others():
    result = engine.grade(right(correct_token=ENDLESS), CHAPTER)
    assert result.limited and result.exercises["correct_token"].score == 0
    others = [e for name, e in result.exercises.items() if name != "correct_token"]
    assert all(e.score == e.max_score for e in others)
    first, *rest = result.exercises["correct_token"].messages
    assert "correct_token(p=" in first and "longer than 0.5 s" in first
    assert all("correct_token(p=" in each for each in rest)  # named, whether it hung or not


def test_a_cell_of_ones_own_without_an_end_costs_nothing():
    result = engine.grade(with_cell("while True: pass"), CHAPTER)
    assert result.score == result.max_score and result.limited


ASKS = """def jacobi_decode(target_greedy, prompt, guess):
    big = [10**9] * 90_000
    for _ in range(2000):
        try:
            target_greedy(big)
        except Exception:
            break
    return list(guess), 1"""


def test_what_fills_the_grader_costs_its_author_alone(monkeypatch: pytest.MonkeyPatch):
    """The memory that it took before was 1.2 GB; here less is allowed, to be quick."""
    monkeypatch.setattr(bounded, "MEMORY", 100 * 2**20)
    chapter = "07_connections"
    notebook = filled(release_of(chapter), answers_of(chapter) | {"jacobi_decode": ASKS})
    before = bounded._data()
    result = engine.grade_now(notebook, chapter)
    assert result.exercises["jacobi_decode"].score == 0
    assert result.exercises["walk_tree"].score == result.exercises["walk_tree"].max_score
    assert bounded._data() - before < 300 * 2**20


def test_page_table_and_json_say_that_a_limit_decided(capsys: pytest.CaptureFixture):
    exercises = engine.exercises_of(release_of(CHAPTER))
    free, limited = Result(exercises), Result(exercises, limited=True)
    grades = {"ada": {CHAPTER: limited.to_json()}, "ben": {CHAPTER: free.to_json()}}
    assert json.loads(json.dumps(grades))["ada"][CHAPTER]["limited"] is True
    assert "limited" not in grades["ben"][CHAPTER]
    assert "time limit decided" in summary_markdown(limited)
    assert "time limit" not in summary_markdown(free)
    page = class_page(grades)
    assert "grading again tries again: ada." in " ".join(page.split())
    print_table(grades)
    assert "ada: a time limit decided" in capsys.readouterr().out
    assert Result.from_dict(asdict(limited)).limited
