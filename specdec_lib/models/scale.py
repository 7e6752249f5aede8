"""A costlier target with the same distribution, so that costs can be studied without a download.

Function-preserving growth (Chen, Goodfellow and Shlens, 2016, "Net2Net"): every vector stands r
times in a row, every matrix in r by r copies divided by r, so that a wide product is the narrow one
r times over. Layers are added whose output projections are zero, so that they add nothing. The
acceptance of drafts stays what it was, and a pass costs what a model of the new size costs.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.models.checkpoint import (
    Biases,
    LayerWeights,
    Shape,
    Weights,
    layer_sizes,
    read_weights,
)
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
        head=weights.head.repeat(1, r).div_(r),
    )


def grown_shape(shape: Shape, growth: Growth) -> Shape:
    """The sizes after growth.

    Raises ValueError if there are too many layers already, or biases or norms of heads.
    """
    if shape.form.biases or shape.form.head_norms:
        raise ValueError(f"a model of type {shape.form.family} has more than a plain Llama to grow")
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
    layer = sum(map(math.prod, layer_sizes(shape).values()))
    return shape.layers * layer + 2 * shape.vocab_size * shape.width + shape.width


class Wider:
    """A layer of `checkpoint.LayerWeights`, wider.

    A matrix is made when it is read, with memory of its own, and is not kept: whoever packs one
    before reading the next holds no other twice.
    """

    biases, norm_queries, norm_keys = Biases(), None, None

    def __init__(self, layer: LayerWeights, shape: Shape, r: int) -> None:
        self.layer, self.shape, self.r = layer, shape, r

    @property
    def norm_attention(self) -> Tensor:
        return self.layer.norm_attention.repeat(self.r)

    @property
    def norm_mlp(self) -> Tensor:
        return self.layer.norm_mlp.repeat(self.r)

    @property
    def qkv(self) -> Tensor:
        heads = (self.shape.heads, self.shape.kv_heads, self.shape.kv_heads)
        return self._tiled(self.layer.qkv, [count * self.shape.head_width for count in heads])

    @property
    def out(self) -> Tensor:
        return self._tiled(self.layer.out, self.shape.width)

    @property
    def gate_up(self) -> Tensor:
        return self._tiled(self.layer.gate_up, self.shape.mlp)

    @property
    def down(self) -> Tensor:
        return self._tiled(self.layer.down, self.shape.width)

    def _tiled(self, matrix: Tensor, parts: int | list[int]) -> Tensor:
        """Each part of the rows r by r times, over r."""
        numbers = torch.arange(len(matrix), device=matrix.device).split(parts)
        rows = torch.cat([part.repeat(self.r) for part in numbers])
        return matrix[rows].div_(self.r).repeat(1, self.r)


class Idle(Wider):
    """A wider layer that adds nothing."""

    @property
    def out(self) -> Tensor:
        return self._zeros_for(self.layer.out)

    @property
    def down(self) -> Tensor:
        return self._zeros_for(self.layer.down)

    def _zeros_for(self, matrix: Tensor) -> Tensor:
        return matrix.new_zeros([size * self.r for size in matrix.shape])


def _grown_layers(weights: Weights, growth: Growth) -> Iterator[Wider]:
    """The wider layers, and after them copies of the last that add nothing."""
    for layer in weights.layers:
        yield Wider(layer, weights.shape, growth.width)
    for _ in range(growth.layers - weights.shape.layers):
        yield Idle(layer, weights.shape, growth.width)
