"""Lengths, tokens, keys and values: what a cache holds and forgets."""

import pytest
import torch

from specdec_lib.models.cache import KVCache, Lengths, TokenCache


def held(cache: Lengths) -> list[int]:
    return cache.length.tolist()


def test_a_cache_refuses_more_than_it_has_room_for():
    cache = Lengths(2, 4, "cpu")
    assert cache.advance(3).tolist() == [[0, 1, 2], [0, 1, 2]]
    cache.truncate([3, 1])
    with pytest.raises(ValueError, match=r"room for 4 positions, and 3 \+ 2 are asked.*shorten"):
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
def test_a_cache_cannot_be_cut_to_what_it_does_not_hold(length, message: str):
    cache = Lengths(2, None, "cpu")
    cache.advance(3)
    cache.truncate([3, 1])
    with pytest.raises(ValueError, match=message):
        cache.truncate(length)
    assert held(cache) == [3, 1]


@pytest.mark.parametrize("length", [1, [1, 1], torch.tensor([1, 1])], ids=["int", "list", "tensor"])
def test_a_cache_is_cut_to_one_length_or_to_one_for_each_row(length):
    cache = Lengths(2, None, "cpu")
    cache.advance(3)
    cache.truncate(length)
    assert held(cache) == [1, 1] and cache.longest == 1


def test_what_lies_beyond_a_rows_length_is_written_over():
    cache = TokenCache(2)
    cache.append(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    cache.truncate([3, 1])
    assert cache.append(torch.tensor([[7, 8], [9, 1]])).tolist() == [[3, 4], [1, 2]]
    assert cache.tokens[0].tolist() == [1, 2, 3, 7, 8]
    assert cache.tokens[1, : held(cache)[1]].tolist() == [4, 9, 1]


def test_keys_and_values_are_written_after_each_rows_own_last():
    cache = KVCache(2, 2, 6, heads=1, width=1, device="cpu", dtype=torch.float64)
    for start, cut in ((0, [3, 1]), (10, None)):
        count = 3 if cut else 2
        new = torch.arange(start, start + 2 * count, dtype=torch.float64).reshape(2, count, 1, 1)
        positions = cache.advance(count)
        for layer in range(2):
            keys, values = cache.held(layer).store(positions, new + layer, -new - layer)
        if cut:
            cache.truncate(cut)
    assert keys.shape == (2, 1, 5, 1)
    assert keys[0, 0, :, 0].tolist() == [1, 2, 3, 11, 12]
    assert keys[1, 0, :3, 0].tolist() == [4, 13, 14]
    assert torch.equal(values, -keys)


def test_a_row_sees_its_own_positions_and_no_later_or_stale_ones():
    cache = KVCache(1, 2, 6, heads=1, width=1, device="cpu", dtype=torch.float64)
    assert cache.mask(cache.advance(1)) is None  # all rows alike, one token: nothing to hide
    cache.advance(2)
    cache.truncate([3, 1])
    mask = cache.mask(cache.advance(2))
    assert mask.shape == (2, 1, 2, 5)
    seen = (mask == 0).long()[:, 0].tolist()
    assert seen[0] == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert seen[1] == [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]]
    cache.truncate([4, 2])
    ragged = cache.mask(cache.advance(1))
    assert (ragged == 0).long()[:, 0, 0].tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
