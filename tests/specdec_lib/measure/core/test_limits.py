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
    assert limits.matrix_rate(rounds=1) == 2 * limits.WIDTH**3 / 0.5


def test_both_limits_are_measured_here():
    found = limits.machine_limits()
    assert set(found) == {"bandwidth", "peak_flops"} and min(found.values()) > 1e7


def test_a_pass_reads_all_weights_but_the_embedding():
    """With half the bytes where the processor widens the shipped numbers by itself."""
    count, size = limits.weights_read(models.target(None, torch.float32))
    assert 6e6 < count < 8e6 and size in (2, 4)
    assert limits.weights_read(models.target(None, torch.bfloat16)) == (count, 2)
