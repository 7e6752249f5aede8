"""Drafters that work with what the target computes: exact, and without a pass too many."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from random_models import eagle_weights, medusa_heads
from tape import Tape, distance, law
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lib.decoding.plain import plain_generate
from specdec_lib.decoding.progress import Settings
from specdec_lib.decoding.speculative import speculative_generate
from specdec_lib.drafters.eagle import Eagle
from specdec_lib.drafters.early_exit import EarlyExit
from specdec_lib.drafters.jacobi import Jacobi
from specdec_lib.drafters.medusa import Medusa
from specdec_lib.drafters.protocol import Drafter, OnTarget
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Uniforms, Warp, choices_for

V, N, PROMPT, EXACT = 3, 3, [1, 2, 1], 1e-12


def tiny_llama(folder: Path, seed: int) -> Llama:
    """A Llama of two layers over three tokens."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=V, hidden_size=8, intermediate_size=16, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=64, initializer_range=1.0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return Llama.from_folder(folder, dtype=torch.float64)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Llama:
    """The target of these tests."""
    return tiny_llama(tmp_path_factory.mktemp("tiny"), seed=1)


DRAFTERS: dict[str, Callable[[Llama], Drafter]] = {
    "early exit": lambda target: EarlyExit(target, 1),
    "Jacobi": Jacobi,
    "Jacobi with a pool": lambda target: Jacobi(target, pool=True),
    "Medusa": lambda target: Medusa(target, medusa_heads(target)),
    "EAGLE": lambda target: Eagle(target, eagle_weights(target)),
}
each = pytest.mark.parametrize("name", DRAFTERS)


def plain_law(target: Llama, count: int = N) -> dict:
    """The law of plain decoding."""
    return law(lambda tape: plain_generate(target, [PROMPT], Settings(count), tape).tokens[0])


@each
@pytest.mark.parametrize("k", [1, 2])
def test_the_law_is_the_targets(target: Llama, name: str, k: int):
    drafter = DRAFTERS[name](target)

    def run(tape: Tape):
        return speculative_generate(target, drafter, [PROMPT], k, Settings(N), tape).tokens[0]

    assert distance(law(run), plain_law(target)) < EXACT


@each
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_row_of_a_ragged_batch_gets_what_it_gets_alone(
    target: Llama, name: str, temperature: float
):
    prompts, warp = [[1], [2, 0, 1, 1, 2], [0, 1]], Warp(temperature)

    def made(rows: list[int]) -> list[list[int]]:
        choices = choices_for(warp, [np.random.default_rng(row) for row in rows])
        drafter = DRAFTERS[name](target)
        wanted = [prompts[row] for row in rows]
        return speculative_generate(target, drafter, wanted, 3, Settings(12, warp), choices).tokens

    assert made([0, 1, 2]) == [tokens for row in range(3) for tokens in made([row])]


@each
def test_at_temperature_0_the_text_is_that_of_plain_decoding(target: Llama, name: str):
    settings, greedy = Settings(30, Warp(0)), choices_for(Warp(0), [])
    expected = plain_generate(target, [PROMPT], settings, greedy).tokens
    made = speculative_generate(target, DRAFTERS[name](target), [PROMPT], 3, settings, greedy)
    assert made.tokens == expected
    assert any(block.accepted for block in made.blocks[0])


@each
def test_they_are_told_apart_from_drafters_of_their_own(target: Llama, name: str):
    assert isinstance(DRAFTERS[name](target), OnTarget)


@pytest.mark.parametrize("layers", [0, 2])
def test_an_exit_leaves_out_a_layer_and_takes_one(target: Llama, layers: int):
    with pytest.raises(ValueError, match=f"layers is {layers}; the target has 2"):
        EarlyExit(target, layers)


def test_an_exit_drafts_as_the_cut_model_does(target: Llama):
    tokens, cache = torch.tensor([PROMPT]), target.new_cache()
    target.forward(tokens[:, :-1], cache)
    drafter = EarlyExit(target, 1)
    drafter.start([PROMPT], Warp(), 20)
    drafter.follow(cache)
    choices = Uniforms([np.random.default_rng(0)])
    choices.begin([2])
    proposal = drafter.propose([PROMPT], [2], choices)
    fresh = target.new_cache()
    text = torch.cat((tokens, proposal.tokens), 1)
    expected = target.forward(text, fresh, layers=1).softmax(-1)[:, 2:4]
    torch.testing.assert_close(proposal.q, expected, rtol=0, atol=EXACT)
    assert cache.length.tolist() == [2]
