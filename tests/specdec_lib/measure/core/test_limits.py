"""The two limits of a machine, and passes that are held against them."""

import pytest
import torch

from specdec_lib.measure.core import limits, models


@pytest.fixture
def half_a_second(monkeypatch):
    """Every task takes half a second."""
    monkeypatch.setattr(limits, "timed", lambda task: (task(), 0.5)[1])


def test_a_copy_counts_what_is_read_and_what_is_written(half_a_second):
    assert limits.copy_bandwidth(megabytes=1, rounds=3) == 2 * 2**20 / 0.5


def test_a_product_counts_two_flop_for_each_multiplication(half_a_second):
    rate = limits.matrix_rate(torch.bfloat16, rounds=1)
    assert rate == 2 * limits.NARROWEST**3 / 0.5


def test_both_limits_are_measured_here():
    found = limits.machine_limits({"float32": torch.float32})
    assert set(found) == {"bandwidth", "float32"} and min(found.values()) > 1e7


def test_every_pass_is_measured_in_every_round():
    model = models.target(None, torch.float32)
    seconds = limits.pass_seconds({"target": model}, widths=(1, 8), rounds=2)
    assert {width: len(times) for width, times in seconds["target"].items()} == {1: 2, 8: 2}
    assert 6e6 < limits.weights_read(model) < 8e6
