"""A distillation short enough for a lesson: one draft, one loss, one text, on a CPU."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lib.assets import ASSETS
from specdec_lib.models.protocol import Model
from specdec_lib.training.recipes import SEED, Recipe

_BATCH, _WINDOW = 4, 128  # windows a step, and the tokens of each

# From the logits of target and draft (B, T, V) to a number to make small.
DistillationLoss = Callable[[Tensor, Tensor], Tensor]


def trainable(name: str | Path = "target", layers: int | None = None) -> LlamaForCausalLM:
    """A built-in model, or the one in a folder, in transformers, where gradients flow.

    With `layers`, it has only so many of its first layers.
    """
    config = LlamaConfig.from_pretrained(ASSETS / name, dtype="float32")
    config.num_hidden_layers = layers or config.num_hidden_layers
    model = LlamaForCausalLM(config)
    weights = load_file(ASSETS / name / "model.safetensors")
    model.load_state_dict(weights, strict=False)  # without the layers that were cut off
    return model


def distil(
    loss: DistillationLoss,
    draft: LlamaForCausalLM,
    target: Model,
    text: Sequence[int],
    steps: int,
    rate: float = 1e-3,
) -> Iterator[int]:
    """Train `draft` in place on windows of `text`; yields the number of steps done, after each.

    The windows are seeded. The rate of AdamW rises in the first steps and falls at the end.
    """
    recipe = Recipe(steps, _BATCH, warmup=5)
    ids, rng = np.asarray(text), np.random.default_rng(SEED)
    optimizer = torch.optim.AdamW(draft.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.0)
    schedule = LambdaLR(optimizer, recipe.rate)
    for step in range(steps):
        starts = rng.integers(0, len(ids) - _WINDOW, _BATCH)
        tokens = torch.from_numpy(np.stack([ids[start : start + _WINDOW] for start in starts]))
        target_logits = target.forward(tokens, target.new_cache(_BATCH, _WINDOW))
        value = loss(target_logits, draft(input_ids=tokens, use_cache=False).logits)
        value.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        yield step + 1
