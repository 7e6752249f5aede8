"""Trees of draft tokens: greedy text, the cache after them, room for them.

That they are exact, for every way to draw candidates: test_exactness.py.
"""

import numpy as np
import pytest
import torch
from decoders.exact_drafters import EXACT, PROMPT
from decoders.random_models import eagle_weights
from torch.utils._python_dispatch import TorchDispatchMode

from specdec_lib.decoding.generate import plain_generate, start_run, tree_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.decoding.tree import decode_tree
from specdec_lib.drafters.eagle import EagleTree
from specdec_lib.drafters.tree import PICKS, Candidates, full_tree
from specdec_lib.sampling import Uniforms, Warp, choices_for


@pytest.mark.parametrize("how", PICKS)
def test_at_temperature_0_the_text_is_that_of_plain_decoding(llamas, how: str):
    target, draft = llamas
    settings, greedy = Settings(24, Warp(0)), choices_for(Warp(0), [])
    expected = plain_generate(target, [PROMPT], settings, greedy).tokens
    made = tree_generate(target, Candidates(draft, (2, 2, 1), how), PROMPT, 3, settings, greedy)
    assert made.tokens == expected and made.target_passes < 24


def test_the_cache_after_every_tree_is_as_if_fresh(llamas):
    target, draft = llamas
    seen: list[int] = []
    settings = Settings(16, on_tokens=lambda row, tokens: seen.extend(tokens))
    drafter, choices = Candidates(draft, (2, 2)), Uniforms([np.random.default_rng(3)])
    run = start_run(target, drafter, [PROMPT], settings, 64)
    made = run.loop(lambda: [decode_tree(run, drafter, 2, choices)])
    text, cache = [*PROMPT, *made.tokens[0]], run.cache
    fresh = target.new_cache()
    target.forward(torch.tensor([text]), fresh)
    held = len(text) - 1
    assert cache.length.tolist() == [held] and seen == made.tokens[0]
    for found, expected in ((cache.keys, fresh.keys), (cache.values, fresh.values)):
        torch.testing.assert_close(found[:, :, :held], expected[:, :, :held], rtol=0, atol=EXACT)


@pytest.mark.parametrize("widths", [(2, 1, 1), (2, 2), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("name", ["model", "EAGLE"])
def test_a_pass_of_the_draft_for_each_level_reads_that_level(llamas, monkeypatch, name, widths):
    drafter, read = Candidates(llamas.draft, widths, "independent"), (llamas.draft, "forward")
    if name == "EAGLE":
        weights = eagle_weights(llamas.target)
        drafter = EagleTree(llamas.target, weights, widths, "independent")
        read = drafter, "next_states"
    settings, choices = Settings(20), Uniforms([np.random.default_rng(2)])
    run = start_run(llamas.target, drafter, [PROMPT], settings, 64)
    passes, levels, forward = [], [], getattr(*read)

    def counted(first: torch.Tensor, *rest, **how) -> torch.Tensor:
        passes.append(first.shape[1])
        return forward(first, *rest, **how)

    monkeypatch.setattr(*read, counted)
    for _ in range(4):
        decode_tree(run, drafter, len(widths), choices)
        levels.append(passes[:])
        passes.clear()
    sizes = np.cumprod(widths)[:-1].tolist()  # the last level is not read
    assert [block[1:] for block in levels] == [sizes] * 4
    assert all(block[0] <= 1 + len(widths) for block in levels[1:])  # what the last block added


class Largest(TorchDispatchMode):
    """Notes how many numbers the largest result of a step has."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


@pytest.mark.parametrize("how", PICKS)
def test_picking_candidates_makes_no_more_than_their_distributions(how: str):
    logits, choices = torch.arange(300.0) / 100, Uniforms([np.random.default_rng(1)])
    choices.begin([3], [True])
    with Largest() as largest:
        picked = PICKS[how](logits, Warp(), 3, choices, 0)
    assert len(picked) == 3 and 300 <= largest.numbers <= 3 * 300
    assert all(q.shape == (300,) and float(q.sum()) == pytest.approx(1) for _, q in picked)


@pytest.mark.parametrize("own", [True, False], ids=["the target's own", "another model's"])
@pytest.mark.parametrize("eos_id", [None, 0])
def test_the_blocks_of_a_tree_hold_what_stands_in_the_text(llamas, own: bool, eos_id: int | None):
    target, draft = llamas
    drafter = Candidates(target if own else draft, (2, 2))
    settings, choices = Settings(24, eos_id=eos_id), Uniforms([np.random.default_rng(1)])
    made = tree_generate(target, drafter, PROMPT, 2, settings, choices)
    (text,), (blocks,) = made.tokens, made.blocks
    kept = [[*block.path, block.token][: block.kept] for block in blocks]
    assert [token for tokens in kept for token in tokens] == text
    left = 24
    for block in blocks:
        whole = block.accepted == min(2, left - 1)
        assert block.bonus == (whole and block.kept > block.accepted)
        assert whole or not own or block is blocks[-1]  # the target's own drafts are accepted
        assert len(block.p) == len(block.q) == len(block.drafted)
        left -= block.kept
    assert eos_id == 0 or {block.bonus for block in blocks} == ({True} if own else {True, False})


def test_a_full_tree_is_counted_and_an_unknown_way_refused(llamas):
    assert full_tree((2, 3)) == 8 and full_tree(()) == 0
    with pytest.raises(ValueError, match="how is 'best'; choose one of independent, without"):
        Candidates(llamas[1], (2,), "best")


def test_a_tree_needs_room_after_the_text(llamas):
    target, draft = llamas
    with pytest.raises(ValueError, match="a tree of 3 tokens need 65 positions, and the model has"):
        tree_generate(target, Candidates(draft, (3,)), [1], 1, Settings(61), Uniforms([]))
