"""The two limits of a machine: what is counted, and how a product of the right size is found."""

from functools import partial

import pytest
import torch

from specdec_lib.measure.core import limits, timing


@pytest.fixture
def half_a_second(monkeypatch):
    """Every task takes half a second; returns the tasks' results in order."""
    results = []

    def timed(task):
        results.append(task())
        return 0.5

    monkeypatch.setattr(limits, "timed", timed)
    return results


def test_a_copy_counts_what_is_read_and_what_is_written(half_a_second):
    assert limits.copy_bandwidth(megabytes=1, rounds=3) == 2 * 2**20 / 0.5
    assert len(half_a_second) == 4  # the first round is not counted
    assert all(torch.equal(copy, torch.ones(2**18)) for copy in half_a_second)


def test_a_product_counts_two_flop_for_each_multiplication(half_a_second):
    rate = limits.matrix_rate(torch.bfloat16, rounds=1)
    assert rate == 2 * limits.NARROWEST**3 / 0.5
    assert half_a_second[0].dtype == torch.bfloat16
    assert half_a_second[0].shape == (limits.NARROWEST, limits.NARROWEST)


def test_both_limits_are_told_by_name(monkeypatch):
    monkeypatch.setattr(limits, "copy_bandwidth", lambda device: 5.0)
    monkeypatch.setattr(limits, "matrix_rate", lambda dtype, device: float(dtype.itemsize))
    dtypes = {"float32": torch.float32, "bfloat16": torch.bfloat16}
    found = limits.machine_limits(dtypes)
    assert found == {"bandwidth": 5.0, "float32": 4.0, "bfloat16": 2.0}


def test_the_matrices_grow_until_a_product_takes_long_enough(monkeypatch):
    widths = []

    def timed(task):
        widths.append(task().shape[0])
        return widths[-1] * limits.LONG_ENOUGH / 1000

    monkeypatch.setattr(limits, "timed", timed)
    rate = limits.matrix_rate(rounds=1)
    assert widths == [256, 256, 512, 512, 1024, 1024]
    assert rate == 2 * 1024**3 / (1024 * limits.LONG_ENOUGH / 1000)


def test_the_fastest_round_counts(monkeypatch):
    times = iter([0.1, 3.0, 2.0, 4.0])  # the first one, though short, is the warm-up
    monkeypatch.setattr(limits, "timed", lambda task: next(times))
    assert limits.fastest(lambda: None, rounds=3) == 2.0


@pytest.mark.parametrize(("once", "rounds"), [(0.1, 15), (1.0, 6), (2.5, 2), (60.0, 2)])
def test_passes_take_turns_for_as_long_as_there_is_time(monkeypatch, once, rounds):
    order = []

    def pass_tasks(model, widths):
        return {width: partial(order.append, (model, width)) for width in widths}

    monkeypatch.setattr(limits, "pass_tasks", pass_tasks)
    monkeypatch.setattr(timing, "timed", lambda task: (task(), once)[1])
    seconds = limits.pass_seconds({"a": "small", "b": "large"}, widths=(1, 8), seconds=6)
    assert order == [("small", 1), ("small", 8), ("large", 1), ("large", 8)] * (rounds + 1)
    assert {key: list(each) for key, each in seconds.items()} == {"a": [1, 8], "b": [1, 8]}
    assert all(len(times) == rounds for each in seconds.values() for times in each.values())


def test_both_limits_are_measured_here():
    assert limits.copy_bandwidth(megabytes=4, rounds=2) > 1e7
    assert limits.matrix_rate(rounds=1) > 1e7
