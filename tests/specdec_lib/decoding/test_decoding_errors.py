"""What the decoder refuses before it begins, and logits that are not finite."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from decoders.decoding_cases import COUNTING, DRAFT, TARGET, dyadic_model, generate, uniforms
from decoders.tables import TableModel

from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.sampling import Greedy, Warp, random_source_for


class Short(TableModel):
    max_length = 8


class Elsewhere(ModelDrafter):
    def __init__(self, model: TableModel) -> None:
        super().__init__(model)
        self.device = torch.device("meta")


def other(drafter: Callable) -> Callable:
    """A generation with another drafter."""
    return lambda: generate([[1] * 5], uniforms(0), 3, 4, drafter=drafter())


REFUSED: dict[str, tuple[Callable, str]] = {
    "no draft token": (lambda: generate([[1]], uniforms(0), 0), "k is 0"),
    "other tokens": (other(lambda: ModelDrafter(COUNTING)), "4 tokens and the drafter 8"),
    "elsewhere": (other(lambda: Elsewhere(DRAFT)), "target is on cpu and the drafter on meta"),
    "a short drafter": (
        other(lambda: ModelDrafter(Short(DRAFT.logits.exp()))),
        "9 positions, and the drafter's max_length is 8",
    ),
    "greedy choices, sampled": (lambda: generate([[1]], Greedy(), warp=Warp(0.7)), "is Greedy"),
    "infinite temperature": (lambda: Warp(math.inf), "finite and at least 0.0001"),
    "negative temperature": (lambda: Warp(-0.5), "temperature is -0.5"),
    "top_k 0": (lambda: Warp(top_k=0), "top_k is 0"),
    "top_p 0": (lambda: Warp(top_p=0), "top_p is 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused(name: str):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        ([], "no prompt"),
        ([[1], []], "prompt 1 is empty"),
        ([[1], [0, 4]], "prompt 1 has token 4, and the model knows 0 to 3"),
        ([[0, -1]], "prompt 0 has token -1"),
    ],
)
def test_prompts_that_cannot_be_used_are_refused(prompts: list[list[int]], message: str):
    random_source = uniforms(*range(len(prompts)))
    with pytest.raises(ValueError, match=message):
        generate(prompts, random_source)
    with pytest.raises(ValueError, match=message):
        plain_generate(TARGET, prompts, Settings(3), random_source)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("temperature", [1.0, 0.0], ids=["sampled", "greedy"])
def test_logits_that_are_not_finite_are_refused(value: float, temperature: float):
    warp = Warp(temperature)
    random_source = random_source_for(warp, [np.random.default_rng(0)])
    broken = dyadic_model(1)
    broken.logits = broken.logits.clone()
    broken.logits[..., 1] = value
    with pytest.raises(ValueError, match="target gave logits that are not finite"):
        generate([[1, 2]], random_source, target=broken, warp=warp)
    with pytest.raises(ValueError, match="target gave logits that are not finite"):
        plain_generate(broken, [[1, 2]], Settings(3, warp), random_source)
    if math.isnan(value) and temperature:
        with pytest.raises(ValueError, match="drafter gave logits that are not finite"):
            generate([[1, 2]], random_source, drafter=ModelDrafter(broken))


def test_a_text_fits_to_the_last_position_and_in_a_batch_its_drafts_too():
    short = Short(TARGET.logits.exp())
    assert len(generate([[1] * 5], uniforms(0), 3, 3, target=short).tokens[0]) == 3
    assert len(generate([[1] * 3, [1]], uniforms(0, 1), 2, 3, target=short).tokens[0]) == 3
    with pytest.raises(ValueError, match="need 9 positions, and the model's max_length is 8"):
        plain_generate(short, [[1] * 5], Settings(4), uniforms(0))
    with pytest.raises(ValueError, match="need 9 positions, and the model's max_length is 8"):
        generate([[1] * 3, [1]], uniforms(0, 1), 3, 3, target=short)
