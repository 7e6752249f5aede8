"""How far a target moves when its weights are rounded: the distance that a lossy speed-up costs."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from specdec_lib.assets import ASSETS
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.models.checkpoint import LayerWeights, Weights, read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp

MATRICES = ("qkv", "out", "gate_up", "down")  # of a layer
Rounding = Callable[[Tensor], Tensor]


def to_bits(matrix: Tensor, bits: int) -> Tensor:
    """`matrix` (out, in), each row on 2^(bits - 1) - 1 steps either side of 0 up to its largest."""
    steps = 2 ** (bits - 1) - 1
    step = matrix.abs().amax(dim=1, keepdim=True).clamp(min=1e-30) / steps
    return (matrix / step).round() * step


def rounded_target(rounding: Rounding) -> Llama:
    """The built-in target in float32, every matrix of its layers and its output through `rounding`.

    The embedding is looked up, not multiplied, and stays as it is.
    """
    weights = read_weights(ASSETS / "target", "cpu", torch.float32)
    layers = _rounded(weights, rounding)
    return Llama(replace(weights, layers=layers, head=rounding(weights.head)))


def _rounded(weights: Weights, rounding: Rounding) -> Iterator[LayerWeights]:
    for layer in weights.layers:
        yield replace(layer, **{name: rounding(getattr(layer, name)) for name in MATRICES})


def moved(models: dict[str, Llama], texts: int = 8) -> dict[str, float]:
    """The mean total variation of each of `models` to the float32 target, at temperature 1.

    The mean is over the positions of `texts` held-out prompts of 64 tokens.
    """
    exact, chosen = Llama.from_folder(ASSETS / "target"), prompts(texts)
    rows = _rows(exact, chosen)
    return {
        name: float((_rows(model, chosen) - rows).abs().sum(-1).mean() / 2)
        for name, model in models.items()
    }


def _rows(model: Llama, chosen: list[list[int]]) -> Tensor:
    """The distributions (texts, 64, V) of `model` after every token."""
    tokens = torch.tensor(chosen)
    return Warp()(model.forward(tokens, model.new_cache(*tokens.shape)).float())


def rounded_targets(texts: int = 8) -> dict[str, float]:
    """Print, and return, how far rounded weights move the built-in target."""
    models = {
        "bfloat16, weights and arithmetic": Llama.from_folder(
            ASSETS / "target", dtype=torch.bfloat16
        ),
        "8-bit weights": rounded_target(lambda matrix: to_bits(matrix, 8)),
        "4-bit weights": rounded_target(lambda matrix: to_bits(matrix, 4)),
    }
    found = moved(models, texts)
    for name, distance in found.items():
        print(f"{name:34} moves the target's distribution by TV {distance:.4f} on average")
    return found
