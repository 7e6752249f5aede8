"""One run of the hidden tests over a submission."""

import json

import pytest
from classes.submitting import CHAPTER, right

from autograde import grade as engine
from autograde.grading import marks
from autograde.submission import release_of


def test_no_traceback_is_written_out_for_a_failed_case():
    """pytest would read and parse the sources again for each: most of the time of a grading."""
    written_out = []
    with pytest.MonkeyPatch.context() as patch:  # undone before a failure of this test is written
        patch.setattr(pytest.Function, "repr_failure", lambda *_: written_out.append(1))
        result = engine.grade_now(release_of(CHAPTER), CHAPTER)
    assert not written_out
    assert {exercise.passed for exercise in result.exercises.values()} == {0}
    assert all(exercise.note for exercise in result.exercises.values())


HUGE = {
    "quiz_02": 'quiz_02 = "x" * 900_000',
    "correct_token": "def correct_token(*_):\n    return {'x' * 400_000: 1, 'y' * 400_000: 2}",
    "speculative_accept": "def speculative_accept(*_):\n    return [['x' * 99] * 40] * 40",
}


def test_a_students_value_of_any_size_makes_a_short_report():
    """nbgrader writes the messages into the notebook and twice into each page."""
    result = engine.grade_now(right(**HUGE), CHAPTER)
    assert all(result.exercises[name].score < 4 for name in HUGE)
    assert "'xxxxx" in str(result.exercises["correct_token"].messages)
    assert len(json.dumps(result.to_json())) < 150_000


def test_no_message_is_longer_than_the_last_fence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(marks, "MOST_TOLD", 20)
    result = engine.grade_now(right(quiz_02='quiz_02 = "e"'), CHAPTER)
    (message,) = result.exercises["quiz_02"].messages
    assert message.endswith("quiz_02 is 'e'; writ ... (cut here, after 20 of 46 characters)")
