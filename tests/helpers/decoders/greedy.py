"""Greedy text of transformers' own `generate`, ours beside it, and a draft that agrees often."""

from collections.abc import Iterable

import torch
from transformers import PreTrainedModel

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.hf import EncoderDecoder
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Greedy, Warp


def with_noise(model: PreTrainedModel) -> PreTrainedModel:
    """The model with noise on its weights: it agrees often, and not always."""
    random = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            noise = torch.randn(weight.shape, generator=random, dtype=weight.dtype)
            weight += 0.15 * weight.std(correction=0) * noise
    return model


def greedy_text(model: PreTrainedModel, prompts: list[list[int]], count: int) -> list[list[int]]:
    """The `count` new tokens of `generate`, one prompt after the other."""
    model.generation_config.eos_token_id = None
    options = {"max_new_tokens": count, "do_sample": False, "pad_token_id": 0}
    found = []
    for prompt in prompts:
        ids = torch.tensor([prompt])
        output = model.generate(ids, attention_mask=torch.ones_like(ids), **options)
        start = 1 if model.config.is_encoder_decoder else len(prompt)
        found.append(output[0, start:].tolist())
    return found


def require_identical(
    target: Model,
    draft: Model,
    prompts: list[list[int]],
    expected: list[list[int]],
    ks: Iterable[int],
    apart: int = 1,
) -> list[int]:
    """Compare our text with `expected` for every K in batches of four, and every `apart`-th alone.

    Another K begins with another prompt. Returns how many draft tokens each block accepted.
    """
    settings, drafter, accepted = Settings(len(expected[0]), Warp(0)), ModelDrafter(draft), []
    for k in ks:
        for batch, chosen in ((1, slice(k % apart, None, apart)), (4, slice(None))):
            found, of_k = [], prompts[chosen]
            for first in range(0, len(of_k), batch):
                rows = first_tokens(of_k[first : first + batch], target, draft)
                made = speculative_generate(target, drafter, rows, k, settings, Greedy())
                found += made.tokens
                accepted += [block.n_accepted for row in made.blocks for block in row]
            assert found == expected[chosen] != [], f"K = {k}, batch {batch}"
    return accepted


def first_tokens(prompts: list[list[int]], *models: Model) -> list[list[int]]:
    """What decoding starts from: the prompts, or after an encoder one token each."""
    if not isinstance(models[0], EncoderDecoder):
        return prompts
    for model in models:
        model.set_source(*prompts)
    return [models[0].prompt] * len(prompts)


def card_value(name: str, what: str) -> float:
    """A number of the model's card."""
    rows = (ASSETS / name / "README.md").read_text(encoding="utf-8").splitlines()
    (row,) = [row for row in rows if row.startswith(f"| {what}")]
    return float(row.split("|")[2].split()[0].replace(",", ""))
