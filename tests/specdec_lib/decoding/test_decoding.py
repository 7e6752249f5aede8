"""The decoder of batches against decoder.py, row by row and token by token.

The models are lookup tables of dyadic probabilities. Both decoders get the same random numbers.
"""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from decoders.decoding_cases import (
    DRAFT,
    EOS,
    PROMPTS,
    TARGET,
    generate,
    random_prompt,
    uniforms,
)
from decoders.tables import TableModel

from specdec_lib import decoder
from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.sampling import Greedy, Warp


def alone(prompt: list[int], seed: int, temperature: float, eos_id: int | None, k: int = 3):
    """What decoder.py writes after one prompt; k = 0 is plain decoding."""
    warp = Warp(temperature)
    rng = np.random.default_rng(seed)
    return decoder.generate(TARGET, DRAFT, prompt, k, 10, warp, rng, eos_id).tokens


@pytest.mark.parametrize("eos_id", [None, EOS, (EOS, 1)])
@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_every_row_of_a_batch_is_what_the_textbook_decoder_writes(
    k: int, temperature: float, eos_id: int | None
):
    settings = Settings(10, Warp(temperature), eos_id)
    for seed in range(0, 24, 4):
        random_source = uniforms(*range(seed, seed + 4)) if temperature else Greedy()
        if k:
            drafter = ModelDrafter(DRAFT)
            result = speculative_generate(TARGET, drafter, PROMPTS, k, settings, random_source)
        else:
            result = plain_generate(TARGET, PROMPTS, settings, random_source)
        expected = [
            alone(prompt, seed + row, temperature, eos_id, k) for row, prompt in enumerate(PROMPTS)
        ]
        assert result.tokens == expected


def test_prompts_that_are_read_in_several_passes_give_what_they_give_alone():
    prompts = [random_prompt(1, length) for length in (600, 2, 257, 258)]
    together = generate(prompts, uniforms(0, 1, 2, 3), count=10)
    assert together.tokens == [alone(prompt, row, 1.0, None) for row, prompt in enumerate(prompts)]


def test_a_drafter_can_be_used_again():
    drafter = ModelDrafter(DRAFT)
    first, second = (generate(PROMPTS, uniforms(0, 1, 2, 3), drafter=drafter) for _ in range(2))
    shorter = generate([[1]], uniforms(0), drafter=drafter)
    assert first.tokens == second.tokens
    assert shorter.tokens == generate([[1]], uniforms(0)).tokens


def probability(model: TableModel, text: Sequence[int], token: int, warp: Warp) -> float:
    """Of `token` after `text`, from one fresh pass."""
    logits = model.forward(torch.tensor([list(text)]), model.new_cache())
    return float(warp(logits)[0, -1, token])


@pytest.mark.parametrize("eos_id", [None, EOS])
@pytest.mark.parametrize("warp", [Warp(), Warp(0.5, top_k=3, top_p=0.9)], ids=["plain", "warped"])
def test_the_blocks_tell_what_happened(warp: Warp, eos_id: int | None):
    streamed: list[list[int]] = [[], [], [], []]
    result = generate(
        PROMPTS,
        uniforms(0, 1, 2, 3),
        eos_id=eos_id,
        warp=warp,
        on_tokens=lambda row, tokens: streamed[row].extend(tokens),
    )
    assert streamed == result.tokens
    for prompt, tokens, blocks in zip(PROMPTS, result.tokens, result.blocks, strict=True):
        text = list(prompt)
        for block in blocks:
            n = len(block.drafted)
            assert len(block.p) == len(block.q) == n
            for i, token in enumerate(block.drafted):
                before = [*text, *block.drafted[:i]]
                assert block.p[i] == pytest.approx(probability(TARGET, before, token, warp))
                assert block.q[i] == pytest.approx(probability(DRAFT, before, token, warp))
            assert 0 <= block.n_accepted <= n <= 3
            assert block.has_bonus == (block.n_accepted == n and block.n_appended > n)
            assert 1 <= block.n_appended <= block.n_accepted + 1
            text += [*block.drafted[: block.n_accepted], block.next_token][: block.n_appended]
        assert text == [*prompt, *tokens]
        assert sum(block.n_appended for block in blocks) == len(tokens)
        assert all(block.n_appended == block.n_accepted + 1 for block in blocks[:-1])
