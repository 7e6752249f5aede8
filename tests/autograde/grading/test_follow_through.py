"""One mistake costs once: what calls a wrong answer is graded with right ones above it."""

import nbformat
import pytest
from classes.submitting import CHAPTER, POINTS, right
from data_files import table

from autograde.course import chapter_names
from autograde.grading import grade
from autograde.grading.result import Result
from autograde.hidden.causes import bugs_of
from autograde.hidden.material import material_of
from autograde.tools.gates import grade_with
from autograde.tools.samples import functions_of

ANSWERS = table("together.toml")
NINE, HELPER = ANSWERS["nine"], ANSWERS["helper"]
SLOW = pytest.mark.slow


def lost(result: Result) -> dict[str, float]:
    """Points lost, by exercise."""
    every = {name: e.max_score - e.score for name, e in result.exercises.items()}
    return {name: points for name, points in every.items() if points}


def test_one_wrong_line_costs_its_own_points_and_a_remark_says_what_it_does_below():
    result = grade_with(CHAPTER, acceptance_probability=NINE)
    assert set(lost(result)) == {"acceptance_probability"}
    below = result.exercises["speculative_step"]
    assert "acceptance_probability, which is wrong, it gives: speculative_step(" in below.remarks[0]
    assert below.to_json()["causes"] == []


@pytest.mark.parametrize(
    "name", ["speculative_accept", pytest.param("residual_distribution", marks=SLOW)]
)
def test_a_mistake_of_its_own_costs_the_same_below_a_wrong_answer(name: str):
    wrong = ANSWERS["wrong"][name]
    both = grade_with(CHAPTER, acceptance_probability=NINE, **{name: wrong}).exercises[name]
    alone = grade_with(CHAPTER, **{name: wrong}).exercises[name]
    failed = [b for b in alone.groups if not b.passed]
    assert failed and [b for b in both.groups if not b.passed] == failed


ENDS = {"unwritten": ":\n    raise NotImplementedError()", "no Python": "\n    return 0"}


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(":\n    import os; os._exit(0)", id="ends the process"),
        *(pytest.param(end, id=name, marks=SLOW) for name, end in ENDS.items()),
    ],
)
def test_an_answer_that_is_missing_or_ends_the_process_costs_its_own_points_only(end: str):
    answer = f"def acceptance_probability(p, q, token){end}"
    result = grade_with(CHAPTER, acceptance_probability=answer)
    assert lost(result) == {"acceptance_probability": POINTS["acceptance_probability"]}


@pytest.mark.parametrize("own, lead", [("", HELPER), pytest.param(HELPER, "", marks=SLOW)])
def test_a_helper_that_calls_the_wrong_function_may_stand_anywhere(own: str, lead: str):
    notebook = right(acceptance_probability=NINE, speculative_accept=lead + ANSWERS["accepts"])
    notebook.cells.insert(0, nbformat.v4.new_code_cell(own, id="extra-0"))
    assert set(lost(grade.grade(notebook, CHAPTER))) == {"acceptance_probability"}


# The functions that other answers of their chapter call.
FUNCTIONS = [
    (chapter, name)
    for chapter in chapter_names()
    for name in functions_of(chapter)
    if any(
        f"{name}(" in code.replace(f"def {name}(", "")
        for code in material_of(chapter).answers.values()
    )
]


@SLOW
@pytest.mark.parametrize("chapter, name", FUNCTIONS)
def test_one_wrong_function_loses_nothing_elsewhere(chapter: str, name: str):
    """The first known bug of each, all else right."""
    bug = next(bug for bug in bugs_of(chapter) if bug.exercise == name)
    assert set(lost(grade_with(chapter, **{name: bug.code}))) <= {name}, bug.think


STEP = material_of(CHAPTER).answers["speculative_step"]


@pytest.mark.parametrize(
    "accept, step, fails",
    [
        ("vectorised", STEP, "speculative_sample"),
        ("strict", STEP.replace("p[:k]", "p", 1), "speculative_step"),
    ],
    ids=["no row of q", "a row more of p"],
)
def test_right_answers_that_do_not_fit_together_lose_nothing(accept: str, step: str, fails: str):
    result = grade_with(CHAPTER, speculative_accept=ANSWERS[accept], speculative_step=step)
    assert lost(result) == {}
    together = result.exercises[fails]
    assert "do not fit together: " in together.remarks[0] and together.see_first is None


def test_an_answer_is_never_put_above_what_it_answers():
    answers = ANSWERS["never above"]
    result = grade_with(CHAPTER, **answers)
    assert [result.exercises[name].score for name in answers] == [0.0, 0.0]
