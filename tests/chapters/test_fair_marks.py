"""Fair marks: another form costs little, and an unusual right answer costs nothing."""

import pytest
from attempts import chapter_of
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
