"""After every block the caches hold what a fresh pass over the text would put there."""

from pathlib import Path

import numpy as np
import pytest
import torch
from decoders.greedy import worse
from decoders.random_models import VOCAB, llama

from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Progress, Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.cache import KVCache
from specdec_lib.models.llama import Llama
from specdec_lib.models.prefill import read_up_to
from specdec_lib.sampling import Uniforms, Warp

JUNK = 1e30  # a score of it would drown every other


@pytest.fixture
def models(tmp_path: Path) -> tuple[Llama, Llama]:
    """A target, and a draft that agrees with it often."""
    llama().save_pretrained(tmp_path / "target")
    worse(llama()).save_pretrained(tmp_path / "draft")
    folders = (tmp_path / "target", tmp_path / "draft")
    return tuple(Llama.from_folder(folder, dtype=torch.float64) for folder in folders)


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
def test_after_every_block_the_caches_are_as_if_fresh(models, prompts: list[list[int]]):
    target, draft = models
    progress = Progress(prompts, Settings(30, Warp(0.8)))
    cache, drafter = target.new_cache(len(prompts)), ModelDrafter(draft)
    read_up_to(target, cache, prompts, leave=1)
    drafter.start(prompts, progress.settings.warp, 128)
    choices = Uniforms([np.random.default_rng(row) for row in range(len(prompts))])
    while progress.running:
        decode_block(target, cache, drafter, progress, 3, choices)
        lengths = [length - 1 for length in progress.lengths]
        assert cache.length.tolist() == lengths
        assert_fresh(target, cache, progress.sequences, lengths)
        spoil(cache, lengths)
        known = [
            min(length - 1, held)  # behind a fully accepted block its last draft token is unread
            for length, held in zip(progress.lengths, drafter.cache.length.tolist(), strict=True)
        ]
        assert_fresh(draft, drafter.cache, progress.sequences, known)
        spoil(drafter.cache, known)
    assert all(0 <= token < VOCAB for row in progress.written for token in row)
