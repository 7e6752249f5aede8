"""After grading every quiz and every prediction answers, also who was right."""

import ast

import pytest

from autograde.chapter import chapter_names
from autograde.grade import hidden_tests_of
from autograde.runner import Case, Trial
from autograde.tools.samples import solutions_of

ASKED = [
    trial
    for chapter in chapter_names()
    for trial in hidden_tests_of(chapter).trials
    if trial.exercise.startswith(("quiz_", "prediction_"))
]


class Answers:
    """A student whose notebook holds these values and nothing else."""

    def __init__(self, **values: object) -> None:
        self.value = values.get
        self.session = self


def went(trial: Trial, **values: object) -> Case:
    return trial.run(Answers(**values))


def right_value(name: str) -> object:
    """The value that the solution gives a quiz or a prediction."""
    (chapter,) = (each for each in chapter_names() if each.startswith(name.split("_")[1]))
    return ast.literal_eval(solutions_of(chapter)[name].partition("=")[2].partition("#")[0].strip())


@pytest.mark.parametrize("trial", ASKED, ids=lambda trial: trial.exercise)
def test_the_right_answer_is_told_why(trial: Trial):
    value = right_value(trial.exercise)
    case = went(trial, **{trial.exercise: value})
    said = f"You chose {value}. " if isinstance(value, str) else "You said "
    assert case.error is None and case.told.startswith(said) and len(case.told) > len(said) + 20


def test_a_typical_wrong_guess_is_told_its_thought():
    (trial,) = (each for each in ASKED if each.exercise == "prediction_02")
    told = went(trial, prediction_02=0.25).told
    assert told.startswith(
        "You said 0.25. It is 0. 0.25 is the share of the places that are empty."
    )


def test_no_answer_is_told_nothing():
    assert [went(trial).told for trial in ASKED] == [""] * len(ASKED)
