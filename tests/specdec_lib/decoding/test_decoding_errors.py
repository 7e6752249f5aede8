"""What the decoder refuses, and what it says to do about it."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from decoders.decoding_cases import COUNTING, DRAFT, TARGET, dyadic, generate, uniforms

from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.table import TableModel
from specdec_lib.sampling import Greedy, Warp, choices_for


class Short(TableModel):
    max_length = 8


class Elsewhere(ModelDrafter):
    def __init__(self, model: TableModel) -> None:
        super().__init__(model)
        self.device = torch.device("meta")


@pytest.mark.parametrize("k", [0, -1])
def test_a_block_drafts_at_least_one_token(k: int):
    with pytest.raises(ValueError, match=rf"k is {k}; a block drafts at least 1 token.*plain"):
        generate([[1]], uniforms(0), k)


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        ([], "no prompt; give a list of lists of token ids"),
        ([[1], []], "prompt 1 is empty; give at least one token"),
        ([[1], [0, 4]], "prompt 1 has token 4, and the model knows 0 to 3: encode it with"),
        ([[0, -1]], "prompt 0 has token -1, and the model knows 0 to 3: encode it with"),
    ],
)
def test_prompts_that_cannot_be_used_are_refused(prompts: list[list[int]], message: str):
    with pytest.raises(ValueError, match=message):
        generate(prompts, uniforms(*range(len(prompts))))
    with pytest.raises(ValueError, match=message):
        plain_generate(TARGET, prompts, Settings(3), uniforms(*range(len(prompts))))


def test_a_drafter_with_other_tokens_is_refused():
    with pytest.raises(ValueError, match="target has 4 tokens and the drafter 8.*one tokenizer"):
        generate([[1]], uniforms(0), drafter=ModelDrafter(COUNTING))


def test_a_drafter_elsewhere_is_refused():
    with pytest.raises(ValueError, match="target is on cpu and the drafter on meta: load both"):
        generate([[1]], uniforms(0), drafter=Elsewhere(DRAFT))


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("temperature", [1.0, 0.0], ids=["sampled", "greedy"])
def test_logits_that_are_not_finite_are_refused(value: float, temperature: float):
    warp = Warp(temperature)
    choices = choices_for(warp, [np.random.default_rng(0)])
    broken = dyadic(1)
    broken.logits = broken.logits.clone()
    broken.logits[..., 1] = value
    message = "target gave logits that are not finite: look at its weights.*bfloat16"
    with pytest.raises(ValueError, match=message):
        generate([[1, 2]], choices, target=broken, warp=warp)
    with pytest.raises(ValueError, match=message):
        plain_generate(broken, [[1, 2]], Settings(3, warp), choices)


def test_a_drafter_that_is_not_finite_is_refused():
    broken = dyadic(1)
    broken.logits = broken.logits.clone()
    broken.logits[..., 1] = math.nan
    with pytest.raises(ValueError, match="drafter gave logits that are not finite"):
        generate([[1, 2]], uniforms(0), drafter=ModelDrafter(broken))


def test_greedy_choices_at_another_temperature_are_refused():
    with pytest.raises(ValueError, match="choices are Greedy and the temperature is 0.7"):
        generate([[1, 2]], Greedy(), warp=Warp(0.7))


def test_a_row_without_a_generator_is_refused():
    with pytest.raises(ValueError, match="2 rows need as many generators, not 1"):
        generate([[1, 2], [1]], uniforms(0))


def test_a_drafter_with_a_shorter_context_is_refused():
    drafter = ModelDrafter(Short(DRAFT.logits.exp()))
    with pytest.raises(ValueError, match="need 9 positions, and the drafter.s max_length is 8"):
        generate([[1] * 5], uniforms(0), 3, 4, drafter=drafter)


def test_numpy_counts_and_no_fractions_are_a_k():
    made, expected = (generate([[1]], uniforms(0), k).tokens for k in (np.int64(3), 3))
    assert made == expected
    with pytest.raises(TypeError):
        generate([[1]], uniforms(0), 2.5)


def test_more_than_the_model_has_room_for_is_refused():
    short = Short(TARGET.logits.exp())
    assert len(generate([[1] * 5], uniforms(0), 3, 3, target=short).tokens[0]) == 3
    message = (
        "5 tokens of prompt, 4 new ones need 9 positions, and the model.s max_length is 8: shorten"
    )
    with pytest.raises(ValueError, match=message):
        generate([[1] * 5], uniforms(0), 3, 4, target=short)
    with pytest.raises(ValueError, match=message):
        plain_generate(short, [[1] * 5], Settings(4), uniforms(0))


def test_a_batch_needs_room_for_the_drafts_of_other_rows():
    short = Short(TARGET.logits.exp())
    assert len(generate([[1] * 3, [1]], uniforms(0, 1), 2, 3, target=short).tokens[0]) == 3
    with pytest.raises(ValueError, match="need 9 positions, and the model.s max_length is 8"):
        generate([[1] * 3, [1]], uniforms(0, 1), 3, 3, target=short)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (lambda: Settings(-1), "max_new_tokens is -1; it must be 0 or more"),
        (lambda: Warp(-0.5), "temperature is -0.5; it must be 0 .greedy. or at least"),
        (lambda: Warp(1e-40), "temperature is 1e-40"),
        (lambda: Warp(math.nan), "temperature is nan; it must be 0 .greedy. or at least"),
        (lambda: Warp(top_k=0), "top_k is 0; it must be 1 or more, or None"),
        (lambda: Warp(top_p=0), "top_p is 0; it must be above 0 and at most 1"),
        (lambda: Warp(top_p=1.5), "top_p is 1.5; it must be above 0 and at most 1"),
        (lambda: Warp(top_p=math.nan), "top_p is nan; it must be above 0 and at most 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: Callable, message: str):
    with pytest.raises(ValueError, match=message):
        settings()
