"""After grading every quiz and every prediction answers, also who was right."""

import ast

import pytest
from classes.chapter_cases import cases_with

from autograde.course import chapter_names
from autograde.hidden.exercise import Case
from autograde.hidden.material import material_of
from specdec_lib.lessons.checking.answers import QUIZ_OPTIONS


def right_value(chapter: str, name: str) -> object:
    """The value that the solution gives a quiz or a prediction."""
    answer = material_of(chapter).answers[name]
    return ast.literal_eval(answer.partition("=")[2].partition("#")[0].strip())


def cases_of(chapter: str, names: list[str]) -> dict[tuple[str, object], Case]:
    """The case of each quiz or prediction with its right answer, with none, with each option."""
    pairs = [
        (name, value)
        for name in names
        for value in {right_value(chapter, name), None, *QUIZ_OPTIONS}
        if name.startswith("quiz_") or value not in QUIZ_OPTIONS
    ]
    cases = cases_with(chapter, *({name: f"{name} = {value!r}"} for name, value in pairs))
    return {pair: case for pair, (case,) in zip(pairs, cases, strict=True)}


@pytest.mark.parametrize("chapter", chapter_names())
def test_the_right_answer_and_each_wrong_option_are_told_why(chapter: str):
    names = [n for n in material_of(chapter).points if n.startswith(("quiz_", "prediction_"))]
    assert len(names) >= 4
    cases = cases_of(chapter, names)
    for name in names:
        value = right_value(chapter, name)
        case, quiz = cases[name, value], name.startswith("quiz_")
        said = f"You chose {value}. " if quiz else "You said "
        assert case.error is None and case.praise.startswith(said), name
        assert len(case.praise) > len(said) + 20, name
        assert cases[name, None].praise == ""  # there is no answer
        told = {cases[name, letter].error for letter in QUIZ_OPTIONS if quiz}
        assert not quiz or (len(told) == len(QUIZ_OPTIONS) and None in told), name
