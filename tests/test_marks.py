"""One run of the hidden tests over a submission."""

import pytest
from submitting import CHAPTER

from autograde.grading import engine
from autograde.intake import release_of


def test_no_traceback_is_written_out_for_a_failed_case(monkeypatch: pytest.MonkeyPatch):
    """pytest would read and parse the sources again for each: most of the time of a grading."""

    def written_out(*_: object) -> None:
        raise AssertionError("a traceback was formatted")

    monkeypatch.setattr(pytest.Function, "repr_failure", written_out)
    result = engine._grade_now(release_of(CHAPTER), CHAPTER)
    assert {exercise.passed for exercise in result.exercises.values()} == {0}
    assert all(exercise.note for exercise in result.exercises.values())
