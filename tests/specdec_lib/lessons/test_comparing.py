"""Whether a value is as good as the expected one."""

import numpy as np
import pytest
import torch

from specdec_lib.lessons.checking.comparing import difference


@pytest.mark.parametrize(
    "got, expected, remark",
    [
        (np.float64(1), 1.0, None),
        (np.int64(2), 2, None),
        (np.bool_(True), True, None),
        (True, 1, "not a bool"),
        (1, True, "True or False"),
        (1.5, 1.0, ""),
        (float("nan"), 1.0, ""),
        ("1", 1.0, "not a str"),
        (None, [1], "not None"),
        (np.array(0.5), 0.5, None),
        ([1, 2], (1, 2), "should be a tuple"),
        ([1, np.int64(2)], [1, 2], None),
        ([1], [1, 2], ""),
        ([1.0], [1], "a whole number"),
        (np.ones(2) + 1e-10, np.ones(2), None),
        (np.array([np.nan, 1]), np.ones(2), ""),
        (np.array([True, False]), np.array([True, True]), ""),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), ""),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]), None),
        (np.ones(2), torch.ones(2), "should be a Tensor, not an array"),
        ([1.0, 1.0], np.ones(2), "NumPy array"),
        (np.ones(3), np.ones(2), "shape"),
        (np.array(["a", "b"]), np.ones(2), "dtype"),
    ],
)
def test_difference(got: object, expected: object, remark: str | None):
    found = difference(got, expected)
    assert found == remark if not remark else remark in found


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ((1, 2), [1, 2]),
        (np.array([1, 2]), [1, 2]),
        (torch.tensor([1.0, 2.0]), [1, 2]),
        ([3, 1], (3, True)),
        (np.array([3.0]), 3),
        (torch.tensor(0.5), 0.5),
        ([0.1, 1 / 3], np.array([0.1, 1 / 3])),
        (np.float32([0.1, 1 / 3]), np.array([0.1, 1 / 3])),
        (float(np.float32(1 / 3)), 1 / 3),
        ([[1, 2], [3, 4]], np.array([[1.0, 2.0], [3.0, 4.0]])),
        (torch.tensor([1, 2]).int(), torch.tensor([1, 2])),
        ([1, 2], torch.tensor([1, 2])),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (([1], [[0.5]]), ([1], np.array([[0.5]]))),
    ],
)
def test_without_their_form_values_are_as_good_and_with_it_they_are_told(got, expected):
    assert difference(got, expected, form=False) is None
    assert difference(got, expected) is not None or isinstance(got, np.ndarray) and got.size == 1


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        *(([1, 2, 3], [1, 2]), ([1.5, 2], [1, 2]), (None, [1]), ("ab", ["a", "b"]), (0.34, 1 / 3)),
        *((2, True), ([[1], [2, 3]], np.ones((2, 2))), ([1, 2], torch.ones(3)), (np.inf, 1)),
        *((np.nan, 1), (10**6 + 1, 10**6), ({"b": 1}, {"a": 1}), (5, [5])),
    ],
    ids=repr,
)
def test_without_their_form_other_values_are_as_wrong(got, expected):
    assert difference(got, expected, form=False) is not None
