"""The two limits of a machine, and what a pass reads."""

import torch

from specdec_lib.measure import limits, models


def test_both_limits_are_measured_here():
    found = limits.machine_limits()
    assert set(found) == {"bandwidth", "peak_flops"} and min(found.values()) > 1e7


def test_a_pass_reads_all_weights_but_the_embedding():
    """With half the bytes where the processor widens the shipped numbers by itself."""
    count, size = limits.weights_read(models.load_target(None, torch.float32))
    assert 6e6 < count < 8e6 and size in (2, 4)
    assert limits.weights_read(models.load_target(None, torch.bfloat16)) == (count, 2)
