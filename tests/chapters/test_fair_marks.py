"""Fair marks: another form costs little, and an unusual right answer costs nothing.

Right answers of one chapter work together: each of the variants has full points, and so have any
two. A variant is the solution with one text in place of another, as students write it.
"""

from collections.abc import Callable
from itertools import combinations

import pytest
from attempts import chapter_of, with_slips
from classes.chapter_cases import judge_each
from data_files import table

from autograde.course import chapter_names
from autograde.grading.result import Exercise
from autograde.hidden.material import material_of
from autograde.tools.samples import functions_of

OTHER_FORMS = table("other_forms.toml")


def lost(exercise: Exercise) -> list[str]:
    """The groups that got no points."""
    return [each.name for each in exercise.groups if not each.passed]


def in_other_form(name: str, code: str, form: str) -> str:
    """The answer `code`, whose values come back in another form."""
    wrapper = f"def {name}(*args):\n    return other_form(right_{name}(*args))\n"
    return f"{code}\nimport numpy as np\n{OTHER_FORMS[form]}\nright_{name} = {name}\n\n{wrapper}"


SLOW = [pytest.param(form, marks=pytest.mark.slow) for form in ("arrays", "numbers")]


@pytest.mark.parametrize("form", ["containers", *SLOW])
@pytest.mark.parametrize("chapter", chapter_names())
def test_another_form_costs_one_group_at_most(chapter: str, form: str):
    # A tensor has the one form that its card names.
    names = set(functions_of(chapter)) - {"distillation_loss"}
    right = material_of(chapter).answers
    answers = [{name: in_other_form(name, right[name], form)} for name in names]
    for exercises in judge_each(chapter, *answers):
        for name, exercise in exercises.items():
            assert len(lost(exercise)) <= 1, (name, lost(exercise))


RIGHT = table("unusual_answers.toml")


@pytest.mark.parametrize("name", RIGHT)
def test_an_unusual_right_answer_keeps_full_marks(name: str):
    (exercises,) = judge_each(chapter_of(name), {name: RIGHT[name]})
    assert lost(exercises[name]) == []


VARIANTS = table("variants.toml")


def alone(chapter: str) -> list[dict[str, str]]:
    """Each variant of the chapter, as the only answer that is not the solution's."""
    rows = [(name, slip) for name, slips in VARIANTS[chapter].items() for slip in slips]
    return [{name: with_slips(name, slip)} for name, slip in rows]


def pairs(chapter: str) -> list[dict[str, str]]:
    """Any two variants of different exercises."""
    every = combinations(alone(chapter), 2)
    return [one | other for one, other in every if one.keys() != other.keys()]


@pytest.mark.parametrize("answers_of", [alone, pytest.param(pairs, marks=pytest.mark.slow)])
@pytest.mark.parametrize("chapter", VARIANTS)
def test_right_answers_of_a_chapter_have_full_points_together(chapter: str, answers_of: Callable):
    variants = answers_of(chapter)
    for answers, got in zip(variants, judge_each(chapter, *variants), strict=True):
        for name, exercise in got.items():
            assert exercise.messages == [], (name, answers)
