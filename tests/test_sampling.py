"""`sample_from`, the one way from a uniform number to a token."""

import numpy as np
import pytest

from specdec_lib.sampling import sample_from


@pytest.mark.parametrize(
    "probs, u, token",
    [
        ([0.25, 0.25, 0.5], 0.0, 0),
        ([0.25, 0.25, 0.5], 0.249, 0),
        ([0.25, 0.25, 0.5], 0.25, 1),
        ([0.25, 0.25, 0.5], 0.5, 2),
        ([0.0, 1.0, 0.0], 0.0, 1),
        ([0.0, 0.5, 0.0, 0.5], 0.5, 3),
        ([0.5, 0.5 - 1e-9, 0.0], 1 - 1e-12, 1),
        ([0.2, 0.2], 0.9, 1),
    ],
)
def test_inverse_cdf(probs: list[float], u: float, token: int):
    assert sample_from(np.array(probs), u) == token


def test_midpoints_count_the_distribution_exactly():
    probs = np.array([3, 0, 8, 5]) / 16
    counts = np.bincount([sample_from(probs, (i + 0.5) / 16) for i in range(16)], minlength=4)
    assert counts.tolist() == [3, 0, 8, 5]


def test_no_mass_at_all_is_an_error():
    with pytest.raises(ValueError, match="no positive entry"):
        sample_from(np.zeros(3), 0.5)
