"""A disturbed run is told from a quiet one by its times alone; the times here are made up."""

import pytest

from specdec_lib.measure.core.disturbance import SHARE, SOONER, disturbance

BASE = {1: 10.0, 4: 11.0, 8: 14.0, "draft": 2.0}


def run_of(*factors: float, base=BASE) -> dict:
    """Times of every task: its base, times the factor of each round."""
    return {key: [seconds * factor for factor in factors] for key, seconds in base.items()}


@pytest.mark.parametrize(
    "run",
    [
        run_of(*[1.0] * 15),
        run_of(1.0, 1.02, 0.99, 1.01, 1.0, 1.03),
        run_of(*(1 + 0.1 * i / 9 for i in range(10))),  # slows down by a tenth
        run_of(1.0, 1.0, 9.0, 1.0, 1.0, 1.0),  # a round in which something else ran
        run_of(1.0, 1.0) | {"draft": [2.0, 9.0]},  # one task in it
        run_of(1.0, 1.0, 5.0, 1.0, 1.0),  # the middle round is in no half
        run_of(3.0),  # a single round has no halves
        {},
    ],
    ids=["same", "noise", "drift", "outlier", "one task", "middle", "one round", "nothing"],
)
def test_a_quiet_run_is_trusted(run):
    assert disturbance(run) is None


def test_halves_that_differ_are_told_with_their_share():
    why = "the two halves of the rounds differ by 30%, and 15% is the most"
    assert disturbance(run_of(1, 1, 1, 1.3, 1.3, 1.3)) == why
    assert disturbance(run_of(1.3, 1.3, 1.3, 1, 1, 1)) == why
    assert disturbance(run_of(1.0, 1.3)) == why
    assert disturbance(run_of(*[1.0] * 4), run_of(1, 1, 2, 2), run_of(1, 1, 2, 2)) is not None
    assert disturbance(run_of(*(1 + i for i in range(6)))) is not None  # it grows ever slower


def test_the_share_is_the_border():
    assert disturbance(run_of(1.0, 1 + SHARE - 0.001)) is None
    assert disturbance(run_of(1.0, 1 + SHARE + 0.001)) is not None


def test_tasks_that_were_hit_in_turn_do_not_cancel_out():
    run = {1: [10, 15], 4: [15, 11], 8: [14, 21], "draft": [3, 2]}
    assert "differ by" in disturbance(run)


def test_a_wider_pass_that_is_much_sooner_is_told_with_both_times():
    # As a busy machine gave them: 2 tokens 1.67 times one, 4 tokens 2.79, 8 tokens 1.43, 16 1.04.
    times = {1: 0.0100, 2: 0.0167, 4: 0.0279, 8: 0.0143, 16: 0.0104}
    run = run_of(1.0, 1.0, base=times)
    why = "a pass over 16 tokens took 10.4 ms, and one over 4 took 27.9 ms"
    assert disturbance(run) == disturbance(run_of(1, 1), run) == why
    assert disturbance(dict(reversed(run.items()))) == why


def test_a_wider_pass_may_be_a_little_sooner_and_other_tasks_have_no_width():
    assert disturbance({1: [1.0, 1.0], 2: [SOONER + 0.01] * 2}) is None
    assert disturbance({1: [1.0, 1.0], 2: [SOONER - 0.01] * 2}) is not None
    assert disturbance({"1": [1.0, 1.0], "2": [0.1, 0.1]}) is None
    assert disturbance({1: [1.0, 1.0]}, {2: [0.1, 0.1]}) is None  # two models
