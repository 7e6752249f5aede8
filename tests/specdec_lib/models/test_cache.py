"""The lengths of a cache: growing, truncating, and what is refused."""

import pytest
import torch

from specdec_lib.models.cache import Lengths


def held(cache: Lengths) -> list[int]:
    return cache.length.tolist()


def test_cache_refuses_more_than_it_has_room_for():
    cache = Lengths(2, 4, "cpu")
    assert cache.advance(3).tolist() == [[0, 1, 2], [0, 1, 2]]
    cache.truncate([3, 1])
    with pytest.raises(ValueError, match=r"room for 4 positions, not 3 \+ 2"):
        cache.advance(2)
    assert held(cache) == [3, 1]
    assert cache.advance(1).tolist() == [[3], [1]]


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (-1, "row 0 holds 3 positions and cannot be cut to -1"),
        ([3, 2], "row 1 holds 1 positions and cannot be cut to 2"),
        (2, "row 1 holds 1 positions and cannot be cut to 2"),
        (torch.tensor([0, -1]), "row 1 holds 1 positions and cannot be cut to -1"),
        ([1], "1 lengths for a cache of 2 rows"),
        (torch.tensor([1, 1, 1]), "3 lengths for a cache of 2 rows"),
    ],
)
def test_row_cannot_be_cut_to_what_it_does_not_hold(length, message: str):
    cache = Lengths(2, None, "cpu")
    cache.advance(3)
    cache.truncate([3, 1])
    with pytest.raises(ValueError, match=message):
        cache.truncate(length)
    assert held(cache) == [3, 1]


@pytest.mark.parametrize("length", [1, [1, 1], torch.tensor([1, 1])], ids=["int", "list", "tensor"])
def test_cache_is_cut_to_one_length_or_one_for_each_row(length):
    cache = Lengths(2, None, "cpu")
    cache.advance(3)
    cache.truncate(length)
    assert held(cache) == [1, 1] and cache.longest == 1
