"""The mark as nbgrader reads it, and the refusal to save where there is none."""

import copy

import nbformat
import pytest
from classes.submitting import CHAPTER, cell_of, right
from nbgrader.utils import determine_grade

from autograde.nbgrader.plugin import Grade, SaveMarks
from autograde.report.marks import mark
from autograde.result import Behaviour, Exercise, Result
from autograde.submission import release_of

RESOURCES = {"nbgrader": {"assignment": CHAPTER}}


def exercise(passed: int, total: int, points: float) -> Exercise:
    return Exercise(points, [Behaviour(f"b{i}", i < passed, "why") for i in range(total)])


@pytest.mark.parametrize("points", [2, 0.1, 0.2])  # 0.2 * 3 / 3 is more than 0.2
@pytest.mark.parametrize("passed", range(4))
def test_nbgrader_reads_the_mark_to_the_last_digit(passed: int, points: float):
    wanted = exercise(passed, 3, points)
    cell = copy.deepcopy(cell_of(release_of(CHAPTER), "test_correct_token"))
    cell.metadata.nbgrader.points = points
    cell.outputs = mark(Result({"x": wanted}), "x", {})
    assert determine_grade(cell) == (wanted.score, points)
    assert passed < 3 or wanted.score == points


@pytest.mark.parametrize("score", [float("nan"), -1.0, 2.5])
def test_a_mark_out_of_range_is_never_written(score: float, monkeypatch):
    monkeypatch.setattr(Exercise, "score", score)
    with pytest.raises(ValueError, match="is not within"):
        mark(Result({"x": exercise(1, 2, 2)}), "x", {})


def test_an_unmarked_grade_cell_is_not_saved():
    with pytest.raises(RuntimeError, match="carries no mark"):
        SaveMarks().preprocess(copy.deepcopy(release_of(CHAPTER)), RESOURCES)


def test_graded_notebook_has_a_summary_the_feedback_and_no_hidden_line():
    notebook, _ = Grade().preprocess(copy.deepcopy(right()), RESOURCES)
    assert notebook.cells[0].source.startswith("### Result: 22 of 22 points")
    sources = "\n".join(cell.source for cell in notebook.cells)
    assert "HIDDEN TESTS" not in sources
    assert all(c.outputs for c in notebook.cells if c.metadata.get("nbgrader", {}).get("locked"))
    nbformat.validate(notebook)


def test_a_student_cannot_hide_code_from_the_person_who_marks():
    code = "x = 1\n# BEGIN HIDDEN TESTS\ny = 2\n# END HIDDEN TESTS"
    notebook, _ = Grade().preprocess(copy.deepcopy(right(quiz_02=code)), RESOURCES)
    assert code in [cell.source for cell in notebook.cells]
