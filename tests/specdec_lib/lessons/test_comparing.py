"""Whether a value is as good as the expected one, and whether two values are one."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from specdec_lib.lessons import checking
from specdec_lib.lessons.checking import is_close, same
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


WIDE_ROW = torch.tensor([0.1, 0.2], dtype=torch.bfloat16)


@pytest.mark.parametrize(
    "one, other, close, one_value",
    [
        (1.0, 1, True, False),
        (True, 1, True, False),
        ([1.0], [1], True, False),
        ({"a": 1}, {"a": 1.0}, True, False),
        (0.1 + 0.2, 0.3, True, True),
        (1e-10, 0.0, True, True),
        (float("nan"), np.float64("nan"), True, True),
        ((1, [2.0]), [1, [2.0]], True, True),
        (np.ones(2), torch.ones(2), True, True),
        (np.float32(0.1), np.float32(0.1) + np.float32(1e-8), True, True),
        (WIDE_ROW, WIDE_ROW.float(), True, True),
        (np.float16(0.5005), np.float16(0.5), False, False),
        (np.ones(2), np.ones((1, 2)), False, False),
        ([1, 1], 1, False, False),
        ([[1], 2], [[1], 2], True, True),
        ({"a": 1}, {"b": 1}, False, False),
        ("a", "a", True, True),
        (None, 0, False, False),
    ],
)
def test_two_values_are_one(one: object, other: object, close: bool, one_value: bool):
    assert (is_close(one, other), same(one, other)) == (close, one_value)
    assert (is_close(other, one), same(other, one)) == (close, one_value)


def test_a_copy_of_the_kit_needs_numpy_alone(tmp_path: Path):
    """A new course gets the folder, and has neither this library nor torch."""
    shutil.copytree(Path(checking.__file__).parent, tmp_path / "kit")
    program = (
        "import sys, kit, kit.blame\n"
        "def double(x):\n    return [][0]\n"
        "try:\n    kit.check_examples(double, (1, 2))\n"
        "except kit.Different as wrong:\n    print(wrong)\n"
        "print(kit.blame.PACKAGES, *{'torch', 'specdec_lib'} & set(sys.modules))"
    )
    python = [sys.executable, "-c", program]
    out = subprocess.run(python, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert out.startswith("double(x=1) raised IndexError: list index out of range")
    assert out.endswith(f"['{tmp_path / 'kit'}']\n")
