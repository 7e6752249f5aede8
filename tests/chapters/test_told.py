"""After grading every quiz and every prediction answers, also who was right."""

import ast

import pytest
from classes.chapter_cases import cases_with

from autograde.course import chapter_names
from autograde.hidden.exercise import Case
from autograde.hidden.material import material_of
from specdec_lib.lessons.checking.answers import QUIZ_OPTIONS


def case_of(chapter: str, name: str, value: object) -> Case:
    """How the test of a quiz or a prediction goes with this answer."""
    (case,) = cases_with(chapter, {name: f"{name} = {value!r}"})
    return case


def right_value(chapter: str, name: str) -> object:
    """The value that the solution gives a quiz or a prediction."""
    answer = material_of(chapter).answers[name]
    return ast.literal_eval(answer.partition("=")[2].partition("#")[0].strip())


@pytest.mark.parametrize("chapter", chapter_names())
def test_the_right_answer_and_each_wrong_option_are_told_why(chapter: str):
    names = [n for n in material_of(chapter).points if n.startswith(("quiz_", "prediction_"))]
    assert len(names) >= 4
    for name in names:
        value = right_value(chapter, name)
        case = case_of(chapter, name, value)
        said = f"You chose {value}. " if isinstance(value, str) else "You said "
        assert case.error is None and case.praise.startswith(said), name
        assert len(case.praise) > len(said) + 20, name
        assert case_of(chapter, name, None).praise == ""  # there is no answer
        if isinstance(value, str):
            told = {case_of(chapter, name, letter).error for letter in QUIZ_OPTIONS}
            assert len(told) == len(QUIZ_OPTIONS) and None in told, name
