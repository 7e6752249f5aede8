"""After grading every quiz and every prediction answers, also who was right."""

import ast
from types import SimpleNamespace

import pytest

from autograde.course import chapter_names
from autograde.grading.grade import hidden_tests_of
from autograde.hidden.known_bugs import answers_of
from autograde.hidden.runner import Case, Trial
from specdec_lib.lessons.checking.answers import OPTIONS


def asked(chapter: str) -> list[Trial]:
    """The tests of a chapter's quizzes and predictions."""
    names = ("quiz_", "prediction_")
    return [trial for trial in hidden_tests_of(chapter).trials if trial.exercise.startswith(names)]


def went(trial: Trial, value: object) -> Case:
    """How it goes for a student whose notebook holds this answer and nothing else."""
    return trial.run(
        SimpleNamespace(value={trial.exercise: value}.get, session=SimpleNamespace()), None
    )


def right_value(chapter: str, name: str) -> object:
    """The value that the solution gives a quiz or a prediction."""
    return ast.literal_eval(answers_of(chapter)[name].partition("=")[2].partition("#")[0].strip())


@pytest.mark.parametrize("chapter", chapter_names())
def test_the_right_answer_and_each_wrong_option_are_told_why(chapter: str):
    assert len(asked(chapter)) >= 4
    for trial in asked(chapter):
        value = right_value(chapter, trial.exercise)
        case = went(trial, value)
        said = f"You chose {value}. " if isinstance(value, str) else "You said "
        assert case.error is None and case.told.startswith(said), trial.exercise
        assert len(case.told) > len(said) + 20, trial.exercise
        assert went(trial, None).told == ""  # there is no answer
        if isinstance(value, str):
            told = {went(trial, letter).error for letter in OPTIONS}
            assert len(told) == len(OPTIONS) and None in told, trial.exercise
