"""One mistake costs once: what calls a wrong answer is graded with right ones above it."""

import nbformat
import pytest
from classes.submitting import CHAPTER, right

from autograde import grade as engine
from autograde.bugs import bugs_of
from autograde.chapter import chapter_names
from autograde.result import Result
from autograde.tools.proof import grade_with
from autograde.tools.samples import functions_of

SPEED = "04_choosing_the_draft"
LINEAR = "def expected_tokens(alpha, k):\n    return alpha * k + 1"


def lost(result: Result) -> dict[str, float]:
    """Points lost, by exercise."""
    every = {name: e.max_score - e.score for name, e in result.exercises.items()}
    return {name: points for name, points in every.items() if points}


def test_one_wrong_line_costs_its_own_points_and_a_remark_says_what_it_does_below():
    result = grade_with(SPEED, expected_tokens=LINEAR)
    assert lost(result) == {"expected_tokens": 2.0}
    remarks = result.exercises["best_k"].remarks
    assert "With your own expected_tokens, which is wrong, it gives: best_k(" in remarks[0]
    assert result.exercises["best_k"].to_json()["causes"] == []


@pytest.mark.parametrize(
    "name, wrong",
    [
        ("best_k", "def best_k(alpha, c, k_max):\n    return k_max"),
        ("prompt_lookup", "def prompt_lookup(tokens, k, max_ngram=3):\n    return tokens[:k]"),
    ],
    ids=["calls it", "calls nothing"],
)
def test_a_mistake_of_its_own_costs_the_same_below_a_wrong_answer(name: str, wrong: str):
    both = grade_with(SPEED, **{"expected_tokens": LINEAR, name: wrong}).exercises[name]
    alone = grade_with(SPEED, **{name: wrong}).exercises[name]
    failed = [b for b in alone.groups if not b.passed]
    assert failed and [b for b in both.groups if not b.passed] == failed


@pytest.mark.parametrize(
    "end",
    [":\n    raise NotImplementedError()", ":\n    import os; os._exit(0)", "\n    return 0"],
    ids=["unwritten", "ends the process", "no Python"],
)
def test_an_answer_that_is_missing_or_ends_the_process_costs_its_own_points_only(end: str):
    answer = f"def acceptance_probability(p, q, token){end}"
    assert lost(grade_with(CHAPTER, acceptance_probability=answer)) == {
        "acceptance_probability": 3.0
    }


HELPER = "def _keeps(p, q, t, r):\n    return r <= acceptance_probability(p, q, t) and p[t] > 0\n"
CORRECTS = """
def correct_token(p, q, token, r, u):
    if _keeps(p, q, token, r):
        return token, True
    return sample_from(residual_distribution(p, q), u), False
"""


@pytest.mark.parametrize("own, lead", [("", HELPER), (HELPER, "")], ids=["answer", "own cell"])
def test_a_helper_that_calls_the_wrong_function_may_stand_anywhere(own: str, lead: str):
    wrong = "def acceptance_probability(p, q, token):\n    return 0.9"
    notebook = right(acceptance_probability=wrong, correct_token=lead + CORRECTS)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(own, id="extra-0"))
    assert set(lost(engine.grade(notebook, CHAPTER))) == {"acceptance_probability"}


FUNCTIONS = [(chapter, name) for chapter in chapter_names() for name in functions_of(chapter)]


@pytest.mark.slow
@pytest.mark.parametrize("chapter, name", FUNCTIONS)
def test_one_wrong_function_loses_nothing_elsewhere(chapter: str, name: str):
    """Two known bugs of each, all else right."""
    for bug in [bug for bug in bugs_of(chapter) if bug.exercise == name][:2]:
        assert set(lost(grade_with(chapter, **{name: bug.code}))) <= {name}, bug.think


THIEF = """
import builtins
def expected_tokens(alpha, k):
    return getattr(builtins, "kept", {}).get((alpha, k), -1.0)
"""
# The code of an answer to this exercise, or to one below it, that is not the student's own.
LOOKS_FOR_ITSELF = """
import builtins
def walltime_speedup(alpha, c, k, verify_cost=1.0):
    builtins.kept = {(alpha, k): expected_tokens(alpha, k)}
    for name in ("walltime_speedup", "best_k"):
        if "<cell" not in globals()[name].__code__.co_filename:
            return expected_tokens(alpha, k) / (c * k + verify_cost)
    return -1.0
"""


def test_an_answer_is_never_put_above_what_it_answers():
    answers = {"expected_tokens": THIEF, "walltime_speedup": LOOKS_FOR_ITSELF}
    result = grade_with(SPEED, **answers)
    assert [result.exercises[name].score for name in answers] == [0.0, 0.0]
