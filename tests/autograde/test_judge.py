"""From cases to behaviours: no case is dropped without a word."""

import pytest

from autograde.judge import judge
from autograde.result import Exercise
from autograde.runner import Case
from autograde.wrong import Misconceptions


def test_a_case_of_no_exercise_is_an_error_that_names_it():
    """Its exercise had all its points, whatever the case had found."""
    cases = [Case("mean", "sums", (), None), Case("mean_typo", "edges", (), "wrong")]
    with pytest.raises(ValueError, match="name mean_typo, which no grade cell is for.*for: mean$"):
        judge(cases, Misconceptions(), {"mean": Exercise(4.0)})
