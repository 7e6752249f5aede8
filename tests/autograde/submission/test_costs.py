"""What one student hands in costs the grader little in every step, whatever it is."""

from pathlib import Path

import pytest
from classes.heavy import HEAVY, MOST_MEGABYTES, MOST_SECONDS, costs_of, measured, waste


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_no_step_costs_more_than_it_may(name: str, tmp_path: Path):
    costs = costs_of(HEAVY[name](), tmp_path)
    assert max(cost.megabytes for cost in costs.values()) < MOST_MEGABYTES, costs
    assert max(cost.seconds for cost in costs.values()) < MOST_SECONDS, costs


@pytest.mark.slow
def test_a_costly_step_is_seen(tmp_path: Path):
    cost = measured(waste, tmp_path)
    assert cost.megabytes > MOST_MEGABYTES and cost.seconds > 1
