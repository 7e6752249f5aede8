"""A rate is as sure as its texts are many, and is shown with no more digits."""

import numpy as np
import pytest

from specdec_lib.measure.core.interval import Rate, rate, shown


def test_the_interval_is_that_of_whole_texts():
    rng = np.random.default_rng(1)
    means = rng.uniform(0.4, 0.8, 60)  # texts differ, the positions of one do not
    found = rate(list(means * 100), [100] * 60)
    error = means.std() / 60**0.5
    assert found.value == pytest.approx(means.mean()) and found.positions == 6000
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    by_position = (found.value * (1 - found.value) / 6000) ** 0.5
    assert found.high - found.low > 3 * by_position


def test_longer_texts_weigh_more():
    assert rate([9.0, 10.0], [10, 90]).value == pytest.approx(0.19)


def test_one_text_has_no_interval_and_no_position_is_an_error():
    assert rate([6.0], [10]) == Rate(0.6, 10)
    with pytest.raises(ValueError, match="no position was judged"):
        rate([0.0], [0])


def test_equal_texts_leave_no_doubt():
    found = rate([5.0, 5.0], [10, 10])
    assert (found.low, found.high) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.61, 0.63, "0.62 ± 0.01"),
        (0.6149, 0.6281, "0.621 ± 0.007"),
        (0.5, 0.73, "0.6 ± 0.1"),
        (0.6212, 0.6214, "0.621 ± 0.000"),
        (0.6213, 0.6213, "0.621 ± 0.000"),
        (None, None, "0.6?"),
    ],
)
def test_no_more_digits_than_the_interval_allows(low, high, words: str):
    assert shown(0.6213, low, high) == words
