"""A costlier target with the same distribution, so that costs can be studied without a download.

Function-preserving growth (Chen, Goodfellow and Shlens, 2016, "Net2Net"): every vector stands r
times in a row, every matrix in r by r copies divided by r, so that a wide product is the narrow one
r times over. Layers are added whose output projections are zero, so that they add nothing. The
acceptance of drafts stays what it was, and a pass costs what a model of the new size costs.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.models.checkpoint import LayerWeights, Shape, Weights, read_weights
from specdec_lib.models.llama import Llama


class Growth(NamedTuple):
    """How much wider, and how many layers in the end."""

    width: int
    layers: int


# By name; the parameters that they give to the built-in target of 7.9M.
COSTS = {
    "40m": Growth(width=2, layers=5),  # 38.5M
    "234m": Growth(width=4, layers=8),  # 233M
    "1b": Growth(width=6, layers=16),  # 1.03B
    "7b": Growth(width=11, layers=32),  # 6.87B
}


def scaled(
    folder: Path | str,
    cost: str,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Llama:
    """The Llama of `folder` at the cost of another size, a name in COSTS.

    Built on the device, one layer after the other. Raises ValueError for a name that is not there.
    """
    if cost not in COSTS:
        raise ValueError(f"target_cost is {cost!r}; there are {', '.join(COSTS)}")
    return Llama(grown(read_weights(Path(folder), device, dtype), COSTS[cost]))


def grown(weights: Weights, growth: Growth) -> Weights:
    """`weights` of a model with the same logits and the size that `growth` says."""
    r = growth.width
    return Weights(
        shape=grown_shape(weights.shape, growth),
        embedding=weights.embedding.repeat(1, r),
        layers=_grown_layers(weights, growth),
        norm=weights.norm.repeat(r),
        head=weights.head.repeat(1, r) / r,
    )


def grown_shape(shape: Shape, growth: Growth) -> Shape:
    """The sizes after growth. Raises ValueError where there are too many layers already."""
    if growth.layers < shape.layers:
        raise ValueError(f"the model has {shape.layers} layers, more than {growth.layers}")
    r = growth.width
    return replace(
        shape,
        width=shape.width * r,
        layers=growth.layers,
        heads=shape.heads * r,
        kv_heads=shape.kv_heads * r,
        mlp=shape.mlp * r,
    )


def parameters(shape: Shape) -> int:
    """The number of weights, the embedding and the head counted apart."""
    attention = shape.width * shape.head_width * 2 * (shape.heads + shape.kv_heads)
    layer = attention + 3 * shape.width * shape.mlp + 2 * shape.width
    return shape.layers * layer + 2 * shape.vocab_size * shape.width + shape.width


def _grown_layers(weights: Weights, growth: Growth) -> Iterator[LayerWeights]:
    """The wider layers, and behind them copies of the last that add nothing."""
    shape, r = weights.shape, growth.width
    for layer in weights.layers:
        wide = _wider(layer, shape, r)
        yield wide
    for _ in range(growth.layers - shape.layers):
        yield replace(
            wide,
            qkv=wide.qkv.clone(),  # memory of its own: a pass has to read it
            out=torch.zeros_like(wide.out),
            gate_up=wide.gate_up.clone(),
            down=torch.zeros_like(wide.down),
        )


def _wider(layer: LayerWeights, shape: Shape, r: int) -> LayerWeights:
    queries, keys = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
    return LayerWeights(
        norm_attention=layer.norm_attention.repeat(r),
        qkv=torch.cat([_tiled(part, r) for part in layer.qkv.split((queries, keys, keys))]),
        out=_tiled(layer.out, r),
        norm_mlp=layer.norm_mlp.repeat(r),
        gate_up=torch.cat([_tiled(part, r) for part in layer.gate_up.split(shape.mlp)]),
        down=_tiled(layer.down, r),
    )


def _tiled(matrix: Tensor, r: int) -> Tensor:
    """`matrix` r by r times, over r."""
    return matrix.repeat(r, r) / r
