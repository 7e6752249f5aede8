"""One run of the hidden tests over a submission."""

import pytest
from submitting import CHAPTER

from autograde.grading import engine
from autograde.intake import release_of


def test_no_traceback_is_written_out_for_a_failed_case():
    """pytest would read and parse the sources again for each: most of the time of a grading."""
    written_out = []
    with pytest.MonkeyPatch.context() as patch:  # undone before a failure of this test is written
        patch.setattr(pytest.Function, "repr_failure", lambda *_: written_out.append(1))
        result = engine.grade_anew(release_of(CHAPTER), CHAPTER)
    assert not written_out
    assert {exercise.passed for exercise in result.exercises.values()} == {0}
    assert all(exercise.note for exercise in result.exercises.values())
