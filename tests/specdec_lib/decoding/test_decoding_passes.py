"""How often the models are called, and with what."""

import math

import pytest
import torch
from decoders.decoding_cases import (
    DRAFT,
    TARGET,
    CountingModel,
    dyadic_model,
    generate,
    random_prompt,
    uniforms,
)

from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("count", [1, 2, 9, 10, 11, 64])
@pytest.mark.parametrize("k", [1, 2, 4, 20])
def test_a_perfect_draft_takes_one_target_pass_for_k_plus_1_tokens(k: int, count: int, dtype):
    model = dyadic_model(1, dtype)
    target = CountingModel(model)
    result = generate([[1]], uniforms(0), k, count, target=target, drafter=ModelDrafter(model))
    assert result.target_passes == len(target.passes) == math.ceil(count / (k + 1))
    assert len(result.tokens[0]) == count


@pytest.mark.parametrize("length", [1, 2, 3, 7, 300])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_target_is_fed_each_position_once_and_again_only_after_a_rejection(k: int, length: int):
    prompt = random_prompt(3, length)
    for seed in range(4):
        target = CountingModel(TARGET)
        result = generate([prompt], uniforms(seed), k, 15, target=target)
        expected = [list(range(i, min(i + 256, length - 1))) for i in range(0, length - 1, 256)]
        held = length - 1
        for block in result.blocks[0]:
            expected.append(list(range(held, held + 1 + len(block.drafted))))
            held += block.n_appended
        assert target.positions == expected
        fed = {
            position: token
            for fed_tokens in target.passes
            for position, token in fed_tokens.items()
        }
        text = [*prompt, *result.tokens[0]]
        assert [fed[position] for position in range(len(text) - 1)] == text[:-1]


@pytest.mark.parametrize("length", [1, 2, 3, 7])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_draft_is_fed_what_it_has_not_read_and_nothing_twice(k: int, length: int):
    prompt = random_prompt(3, length)
    for seed in range(4):
        draft = CountingModel(DRAFT)
        result = generate([prompt], uniforms(seed), k, 15, drafter=ModelDrafter(draft))
        expected = [list(range(length - 1))] if length > 1 else []
        held, unread = length, 1
        for block in result.blocks[0]:
            singles = [[at] for at in range(held, held + len(block.drafted) - 1)]
            expected += [list(range(held - unread, held)), *singles] if block.drafted else []
            unread = 2 if block.has_bonus else 1  # its last draft token was drawn and never fed
            held += block.n_appended
        assert draft.positions == expected
        assert len(draft.passes) - (length > 1) == sum(len(b.drafted) for b in result.blocks[0])
        prompts_own = [at for fed in draft.positions for at in fed if at < length]
        assert sorted(prompts_own) == list(range(length))  # every one exactly once


def test_a_single_token_takes_no_draft():
    target, draft = CountingModel(TARGET), CountingModel(DRAFT)
    result = generate([[1, 2]], uniforms(0), 4, 1, target=target, drafter=ModelDrafter(draft))
    assert result.tokens == plain_generate(TARGET, [[1, 2]], Settings(1), uniforms(0)).tokens
    assert draft.positions == [[0]] and target.positions == [[0], [1]]
    (block,) = result.blocks[0]
    assert (block.next_token, block.n_appended, block.n_accepted) == (result.tokens[0][0], 1, 0)
    assert block.drafted == block.p == block.q == []
