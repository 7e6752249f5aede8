"""Drafters that work with what the target computes: batches, greedy text, no pass too many.

That they are exact: test_exactness.py.
"""

import numpy as np
import pytest
import torch
from decoders.exact_drafters import EXACT, PROMPT, Llamas, made_on, require_rows_as_alone

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.early_exit import EarlyExit
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Uniforms, Warp, choices_for


@pytest.fixture
def target(llamas: Llamas) -> Llama:
    return llamas.target


NAMES = ("early exit", "Jacobi", "Jacobi with a pool", "Medusa", "EAGLE")
each = pytest.mark.parametrize("name", NAMES)


@each
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_row_of_a_ragged_batch_gets_what_it_gets_alone(
    target: Llama, name: str, temperature: float
):
    settings, prompts = Settings(12, Warp(temperature)), [[1], [2, 0, 1, 1, 2], [0, 1]]
    require_rows_as_alone(target, lambda: made_on(target, name), prompts, 3, settings)


@each
def test_at_temperature_0_the_text_is_that_of_plain_decoding(target: Llama, name: str):
    settings, greedy = Settings(30, Warp(0)), choices_for(Warp(0), [])
    expected = plain_generate(target, [PROMPT], settings, greedy).tokens
    made = speculative_generate(target, made_on(target, name), [PROMPT], 3, settings, greedy)
    assert made.tokens == expected
    assert any(block.accepted for block in made.blocks[0])


@pytest.mark.parametrize("layers", [0, 2])
def test_an_exit_leaves_out_a_layer_and_takes_one(target: Llama, layers: int):
    with pytest.raises(ValueError, match=f"layers is {layers}; the target has 2"):
        EarlyExit(target, layers)


def test_an_exit_drafts_as_the_cut_model_does(target: Llama):
    tokens, cache = torch.tensor([PROMPT]), target.new_cache()
    target.forward(tokens[:, :-1], cache)
    drafter = EarlyExit(target, 1)
    drafter.start([PROMPT], Warp(), 20, cache)
    choices = Uniforms([np.random.default_rng(0)])
    choices.begin([2], [True])
    proposal = drafter.propose([PROMPT], [2], choices)
    fresh = target.new_cache()
    text = torch.cat((tokens, proposal.tokens), 1)
    expected = target.forward(text, fresh, layers=1).softmax(-1)[:, 2:4]
    torch.testing.assert_close(proposal.q, expected, rtol=0, atol=EXACT)
    assert cache.length.tolist() == [2]
