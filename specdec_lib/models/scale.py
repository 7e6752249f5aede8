"""A costlier target with the same distribution, to study costs without a download.

Function-preserving growth (Chen, Goodfellow and Shlens, 2016, "Net2Net"): every vector is repeated
r times, every matrix becomes r by r copies of itself divided by r, so that each wide product is the
narrow one repeated r times. The layers that are added have output projections of zero, so they add
nothing. Drafts are accepted as often as before; a pass costs what a model of the new size costs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.assets import ASSETS
from specdec_lib.models.checkpoint import LayerWeights, Shape, Weights, read_weights


class Growth(NamedTuple):
    """How many times wider the model becomes, and how many layers it then has."""

    width: int
    layers: int


# By name, each with the parameters of the grown built-in target (7.9M).
TARGET_COSTS = {
    "40m": Growth(width=2, layers=5),  # 38.5M
    "234m": Growth(width=4, layers=8),  # 233M
    "1b": Growth(width=6, layers=16),  # 1.03B
    "7b": Growth(width=11, layers=32),  # 6.87B
}


def target_weights(
    cost: str | None, dtype: torch.dtype, device: torch.device | str = "cpu"
) -> Weights:
    """The built-in target's weights, or those at the cost of another size, a name in TARGET_COSTS.

    They are read layer by layer, to be packed and let go.
    """
    weights = read_weights(ASSETS / "target", device, dtype)
    return grow_weights(weights, TARGET_COSTS[cost]) if cost else weights


def grow_weights(weights: Weights, growth: Growth) -> Weights:
    """The weights of a larger model with the same logits."""
    r = growth.width
    return Weights(
        shape=grow_shape(weights.shape, growth),
        embedding=weights.embedding.repeat(1, r),
        layers=_grown_layers(weights, growth),
        norm=weights.norm.repeat(r),
        head=lambda: weights.head().repeat(1, r).div_(r),
    )


def grow_shape(shape: Shape, growth: Growth) -> Shape:
    """The sizes after growth, which adds layers and takes none away."""
    names = ("width", "heads", "kv_heads", "mlp")
    wider = {name: growth.width * getattr(shape, name) for name in names}
    return replace(shape, layers=growth.layers, **wider)


def parameter_count(shape: Shape) -> int:
    """The number of weights; the embedding and the head count separately."""
    attention = 2 * (shape.heads + shape.kv_heads) * shape.head_width
    layer = (attention + 3 * shape.mlp + 2) * shape.width
    return shape.layers * layer + (2 * shape.vocab_size + 1) * shape.width


def weights_read(shape: Shape) -> int:
    """The weights that a pass reads: all but the embedding, of which it looks up a few rows."""
    return parameter_count(shape) - shape.vocab_size * shape.width


def size_ratio(target: Shape, draft: Shape) -> str:
    """How many times the weights of `draft` a pass of `target` reads: "16:1"."""
    return f"{weights_read(target) / weights_read(draft):.0f}:1"


def _grown_layers(weights: Weights, growth: Growth) -> Iterator[LayerWeights]:
    """The wider layers, and after them copies of the last one that add nothing."""
    shape, r = weights.shape, growth.width
    for layer in weights.layers:
        yield widen_layer(layer, shape, r)
    idle = replace(layer, out=torch.zeros_like(layer.out), down=torch.zeros_like(layer.down))
    for _ in range(growth.layers - shape.layers):
        yield widen_layer(idle, shape, r)


def widen_layer(layer: LayerWeights, shape: Shape, r: int) -> LayerWeights:
    """`layer` of a model of this shape, r times wider."""
    heads = [count * shape.head_width for count in (shape.heads, shape.kv_heads, shape.kv_heads)]
    return LayerWeights(
        norm_attention=layer.norm_attention.repeat(r),
        qkv=tile_blocks(layer.qkv, heads, r),
        out=tile_blocks(layer.out, [shape.width], r),
        norm_mlp=layer.norm_mlp.repeat(r),
        gate_up=tile_blocks(layer.gate_up, [shape.mlp, shape.mlp], r),
        down=tile_blocks(layer.down, [shape.width], r),
    )


def tile_blocks(matrix: Tensor, parts: Sequence[int], r: int) -> Tensor:
    """r by r copies of each part of the rows, divided by r."""
    rows = torch.cat([part.repeat(r, 1) for part in matrix.split(list(parts))])
    return rows.div_(r).repeat(1, r)
