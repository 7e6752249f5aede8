"""A limit costs its author alone, and is said wherever the result is."""

from dataclasses import asdict, replace

import nbformat
import pytest
from classes.submitting import CHAPTER, right

from autograde.grading import grade
from autograde.grading.result import Result
from autograde.hidden.material import material_of
from autograde.intake import bounds
from autograde.intake.submission import release_of
from autograde.report.class_page import class_page
from autograde.report.feedback import summary_markdown
from autograde.report.table import print_table
from autograde.tools.samples import fill_answers

ENDLESS = "def speculative_step(*_):\n    import time; time.sleep(9e9)"


@pytest.fixture(scope="module")
def limited() -> Result:
    """What hits two limits: an own cell, and a call."""
    material = material_of(CHAPTER)
    short = {"call_seconds": 0.5, "cell_seconds": 1.0, "extra_cell_seconds": 1.0}
    hurried = replace(material, limits=replace(material.limits, **short))
    notebook = right(speculative_step=ENDLESS)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("while True: pass", id="extra-0"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade, "material_of", lambda chapter: hurried)
        return grade.grade_now(notebook, CHAPTER)


def test_what_has_no_end_costs_its_own_points_and_no_others(limited: Result):
    lost = {name for name, e in limited.exercises.items() if e.score < e.max_score}
    assert lost == {"speculative_step"} and limited.exercises["speculative_step"].score == 0
    assert "longer than 0.5 s" in limited.exercises["speculative_step"].messages[0]


def test_page_table_and_json_say_that_a_limit_decided(limited: Result, capsys):
    free = Result(limited.exercises)
    grades = {"ada": {CHAPTER: limited.to_json()}, "ben": {CHAPTER: free.to_json()}}
    assert grades["ada"][CHAPTER]["limited"] and "limited" not in grades["ben"][CHAPTER]
    assert "time limit decided" in summary_markdown(limited)
    assert "time limit" not in summary_markdown(free)
    assert "grade again to repeat the run: ada." in " ".join(class_page(grades).split())
    print_table(grades)
    assert "ada: a time limit decided" in capsys.readouterr().out
    print_table({"x\x1b": grades["ada"], "x\x1c": grades["ben"]})  # both are printed as x?
    assert sum("│ x? " in line for line in capsys.readouterr().out.splitlines()) == 2
    assert Result.from_dict(asdict(limited)) == limited


ASKS = """def time_pass(forward, n_tokens, clock, warmup=2, repeats=5):
    big = [10**9] * 90_000
    for _ in range(2000):
        try:
            forward(big)
        except Exception:
            break
    return 1.0"""


@pytest.mark.slow
def test_what_fills_the_grader_costs_its_author_alone(monkeypatch: pytest.MonkeyPatch):
    """The memory that it took before was 1.2 GB; here less is allowed, to be quick."""
    monkeypatch.setattr(bounds, "EXTRA_MEMORY_BYTES", 40 * 2**20)
    chapter = "00_bottleneck"
    notebook = fill_answers(release_of(chapter), material_of(chapter).answers | {"time_pass": ASKS})
    before = bounds._data_bytes()
    result = grade.grade_now(notebook, chapter)
    assert result.exercises["time_pass"].score == 0
    assert result.exercises["pass_time"].score == result.exercises["pass_time"].max_score
    assert bounds._data_bytes() - before < 300 * 2**20
