"""The room of a cache, and its content: after every block that of a fresh pass."""

import numpy as np
import pytest
import torch
from decoders.random_models import VOCAB

from specdec_lib.decoding.generate import start_generation
from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.cache import KVCache, RaggedCache
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Uniforms, Warp


def held(cache: RaggedCache) -> list[int]:
    return cache.length.tolist()


def test_cache_refuses_more_than_it_has_room_for():
    cache = RaggedCache(2, 4, "cpu")
    assert cache.advance(3).tolist() == [[0, 1, 2], [0, 1, 2]]
    cache.truncate([3, 1])
    with pytest.raises(ValueError, match=r"room for 4 positions, not 3 \+ 2"):
        cache.advance(2)
    assert held(cache) == [3, 1]
    assert cache.advance(1).tolist() == [[3], [1]]


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (np.int64(2), [2, 2]), (np.array(2), [2, 2]), (torch.tensor(2), [2, 2]),
        (np.array([1, 2]), [1, 2]), ([np.int32(1), 2], [1, 2]), (torch.tensor([1, 2]), [1, 2]),
    ],
)  # fmt: skip
def test_a_length_may_be_a_number_of_numpy_or_torch(length, expected: list[int]):
    cache = RaggedCache(2, 4, "cpu")
    cache.advance(3)
    cache.truncate(length)
    assert held(cache) == cache.length_on_cpu == expected


JUNK = 1e30  # a score of it would drown every other


def spoil(cache: KVCache, lengths: list[int]) -> None:
    """Overwrite every position of a row from its length on."""
    for row, length in enumerate(lengths):
        cache.keys[:, row, length:] = JUNK
        cache.values[:, row, length:] = -JUNK


def assert_fresh(model: Llama, cache: KVCache, sequences: list[list[int]], lengths: list[int]):
    """Compare the first positions of every row with those of one pass over its tokens."""
    for row, length in enumerate(lengths):
        fresh = model.new_cache()
        model.forward(torch.tensor([sequences[row]]), fresh)
        for found, expected in ((cache.keys, fresh.keys), (cache.values, fresh.values)):
            torch.testing.assert_close(
                found[:, row, :length], expected[:, 0, :length], rtol=0, atol=1e-12
            )


@pytest.mark.parametrize("prompts", [[[5, 9, 2]], [[7], [1, 2, 3, 4, 5, 6], [8, 8]]])
def test_caches_after_every_block_equal_a_fresh_pass(models, prompts: list[list[int]]):
    target, draft = models
    drafter = ModelDrafter(draft)
    state = start_generation(target, drafter, prompts, Settings(30, Warp(0.8)), 128)
    cache = state.cache
    random_source = Uniforms([np.random.default_rng(row) for row in range(len(prompts))])
    while any(state.active):
        decode_block(state, drafter, 3, random_source)
        lengths = [len(text) - 1 for text in state.sequences]
        assert cache.length.tolist() == lengths
        assert_fresh(target, cache, state.sequences, lengths)
        spoil(cache, lengths)
        known = [
            min(length, held)  # after a block that was accepted whole its last token is unread
            for length, held in zip(lengths, drafter.cache.length.tolist(), strict=True)
        ]
        assert_fresh(draft, drafter.cache, state.sequences, known)
        spoil(drafter.cache, known)
    assert all(0 <= token < VOCAB for row in state.new_tokens for token in row)
