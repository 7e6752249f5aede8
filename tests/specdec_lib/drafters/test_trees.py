"""Trees of draft tokens: the cache after them, what their blocks tell, room for them.

That they are exact, sampled and greedy, for every way to draw candidates: test_exactness.py.
"""

import numpy as np
import pytest
import torch
from decoders.exact_drafters import EXACT, PROMPT

from specdec_lib.decoding.generate import start_generation, tree_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.decoding.tree import decode_tree, verify_tree
from specdec_lib.drafters.tree import ModelTreeDrafter
from specdec_lib.sampling import Uniforms


def test_the_cache_after_every_tree_is_as_if_fresh(llamas):
    target, draft = llamas
    seen: list[int] = []
    settings = Settings(16, on_tokens=lambda row, tokens: seen.extend(tokens))
    drafter, random_source = ModelTreeDrafter(draft, (2, 2)), Uniforms([np.random.default_rng(3)])
    state = start_generation(target, drafter, [PROMPT], settings, 64)
    while any(state.active):
        decode_tree(state, drafter, 2, random_source, verify_tree)
    text, cache = state.sequences[0], state.cache
    fresh = target.new_cache()
    target.forward(torch.tensor([text]), fresh)
    held = len(text) - 1
    assert cache.length.tolist() == [held] and seen == state.new_tokens[0]
    for found, expected in ((cache.keys, fresh.keys), (cache.values, fresh.values)):
        torch.testing.assert_close(found[:, :, :held], expected[:, :, :held], rtol=0, atol=EXACT)


@pytest.mark.parametrize("own", [True, False], ids=["the target's own", "another model's"])
@pytest.mark.parametrize("eos_id", [None, 0])
def test_the_blocks_of_a_tree_hold_what_stands_in_the_text(llamas, own: bool, eos_id: int | None):
    target, draft = llamas
    drafter = ModelTreeDrafter(target if own else draft, (2, 2))
    settings, random_source = Settings(24, eos_id=eos_id), Uniforms([np.random.default_rng(1)])
    made = tree_generate(target, drafter, PROMPT, 2, settings, random_source)
    (text,), (blocks,) = made.tokens, made.blocks
    kept = [[*block.accepted_tokens, block.next_token][: block.n_appended] for block in blocks]
    assert [token for tokens in kept for token in tokens] == text
    left = 24
    for block in blocks:
        whole = block.n_accepted == min(2, left - 1)
        assert block.has_bonus == (whole and block.n_appended > block.n_accepted)
        assert whole or not own or block is blocks[-1]  # the target's own drafts are accepted
        assert len(block.p) == len(block.q) == len(block.drafted)
        left -= block.n_appended
    assert eos_id == 0 or {block.has_bonus for block in blocks} == (
        {True} if own else {True, False}
    )


def test_a_tree_needs_room_after_the_text(llamas):
    target, draft = llamas
    with pytest.raises(ValueError, match="a tree of 3 tokens need 65 positions, and the target.s"):
        tree_generate(target, ModelTreeDrafter(draft, (3,)), [1], 1, Settings(61), Uniforms([]))
    with pytest.raises(ValueError, match="depth is 0; a tree has at least 1 level"):
        tree_generate(target, ModelTreeDrafter(draft, (3,)), [1], 0, Settings(3), Uniforms([]))
