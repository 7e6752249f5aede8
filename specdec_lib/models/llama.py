"""A Llama (Touvron et al., 2023) in one forward pass over a preallocated cache.

It gives the logits that transformers gives, with fewer steps: the queries, keys and values of a
layer come from one matrix, the MLP's two inputs from another, and no keys are copied when the cache
grows. The built-in models and SmolLM2-135M-Instruct run here; every other model runs through
transformers (hf.py).
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.device import without_cudnn_attention
from specdec_lib.models.cache import HiddenStates, KVCache, LayerCache, Tree
from specdec_lib.models.checkpoint import LayerWeights, Shape, Weights, read_weights
from specdec_lib.models.linear import Linear


class Llama:
    """A Llama with the protocol of protocol.py."""

    def __init__(self, weights: Weights) -> None:
        shape = weights.shape
        self.shape = shape
        self.vocab_size, self.max_length = shape.vocab_size, shape.max_length
        self.device, self.dtype = weights.norm.device, weights.norm.dtype
        self.table, self.norm = weights.embedding, RMSNorm(weights.norm, shape.epsilon)
        self.head = Linear(weights.head())
        self.layers = [Layer(layer, shape) for layer in weights.layers]
        self.cos, self.sin = rotary_tables(shape, self.device, self.dtype)

    @classmethod
    def from_folder(
        cls,
        folder: Path | str,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> "Llama":
        """The model in a Hugging Face folder. Raises PairError if it holds no plain Llama."""
        return cls(read_weights(Path(folder), device, dtype))

    @property
    def embedding(self) -> Tensor:
        """The input vectors of all tokens (vocab_size, width)."""
        return self.table.to(self.dtype)

    def embed(self, tokens: Tensor) -> Tensor:
        """The input vectors (B, T, width) of `tokens` (B, T)."""
        return F.embedding(tokens, self.table).to(self.dtype)

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> KVCache:
        """An empty cache of `batch` rows with room for `capacity` positions (max_length)."""
        capacity = min(capacity or self.max_length, self.max_length)
        size = (self.shape.layers, batch, capacity, self.shape.kv_heads, self.shape.head_width)
        return KVCache(*size, self.device, self.dtype)

    @torch.no_grad()
    @without_cudnn_attention()
    def forward(
        self,
        tokens: Tensor,
        cache: KVCache,
        tree: Tree | None = None,
        observe: Callable[[HiddenStates], None] | None = None,
    ) -> Tensor:
        """The logits (B, T, V) after each of `tokens` (B, T), which are appended to `cache`.

        With `tree`, the tokens are the branches of a text: each attends to its own ancestors only.
        `observe` is called with the last hidden states.
        """
        slots = cache.advance(tokens.shape[1])
        positions = slots if tree is None else tree.positions(slots)
        x = self.embed(tokens)
        mask = cache.mask(slots, tree)
        context = PassContext(self.cos[positions], self.sin[positions], slots, mask)
        for number, layer in enumerate(self.layers):
            x = layer(x, context, cache.layer(number))
        hidden = self.norm(x)
        if observe:
            observe(HiddenStates(hidden, positions))
        return self.head(hidden)


class RMSNorm:
    """x over its root mean square, times a weight (Zhang and Sennrich, 2019).

    sqrt(mean(x^2) + epsilon) = hypot(|x|, sqrt(D epsilon)) / sqrt(D) for x of width D. With the
    norm |x| this takes half as many calls as F.rms_norm on a CPU.
    """

    def __init__(self, weight: Tensor, epsilon: float) -> None:
        self.compute_dtype = torch.promote_types(weight.dtype, torch.float32)
        self.weight = weight.to(self.compute_dtype) * math.sqrt(len(weight))
        self.sqrt_eps = self.weight.new_tensor(math.sqrt(len(weight) * epsilon))

    def __call__(self, x: Tensor) -> Tensor:
        """(..., width) -> (..., width), in the dtype of x; in between float32 or better."""
        l2_norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=self.compute_dtype)
        return (x * (self.weight / l2_norm.hypot(self.sqrt_eps))).to(x.dtype)


class PassContext(NamedTuple):
    """What all layers need to know about the tokens of one pass."""

    cos: Tensor  # (B, T, 1, head_width), as sin
    sin: Tensor
    slots: Tensor  # (B, T), where in the cache
    mask: Tensor | None  # (B, 1, T, S), to be added to the scores


class Layer:
    """Attention and MLP, each on the normed input."""

    def __init__(self, weights: LayerWeights, shape: Shape) -> None:
        self.shape = shape
        self.norm_attention = RMSNorm(weights.norm_attention, shape.epsilon)
        self.norm_mlp = RMSNorm(weights.norm_mlp, shape.epsilon)
        self.qkv, self.out = Linear(weights.qkv), Linear(weights.out)
        self.gate_up, self.down = Linear(weights.gate_up), Linear(weights.down)

    def __call__(self, x: Tensor, context: PassContext, cache: LayerCache) -> Tensor:
        """(B, T, width) -> (B, T, width); new keys and values go to `cache`."""
        x = x + self.attention(self.norm_attention(x), context, cache)
        return x + self.mlp(x)

    def attention(self, normed: Tensor, context: PassContext, cache: LayerCache) -> Tensor:
        """The output (B, T, width) for the normed input (B, T, width)."""
        shape = self.shape
        qkv = self.qkv(normed).unflatten(-1, (-1, shape.head_width))
        n_rotary_heads = shape.heads + shape.kv_heads  # queries and keys
        rotated = rotate(qkv[:, :, :n_rotary_heads], context.cos, context.sin)
        new_keys, new_values = rotated[:, :, shape.heads :], qkv[:, :, n_rotary_heads:]
        keys, values = cache.store(context.slots, new_keys, new_values)
        mixed = F.scaled_dot_product_attention(
            rotated[:, :, : shape.heads].transpose(1, 2),
            keys,
            values,
            attn_mask=context.mask,
            enable_gqa=shape.heads != shape.kv_heads,
        )
        return self.out(mixed.transpose(1, 2).flatten(2))

    def mlp(self, x: Tensor) -> Tensor:
        """(B, T, width) -> (B, T, width)."""
        gate, up = self.gate_up(self.norm_mlp(x)).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair (x_i, x_{i + D/2}) of the last axis D by its angle; `sin` holds the signs."""
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin)


def rotary_tables(shape: Shape, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and signed sines (max_length, 1, head_width): rotary embedding (Su et al., 2021)."""
    exponents = torch.arange(0, shape.head_width, 2, dtype=torch.float64) / shape.head_width
    angles = torch.arange(shape.max_length)[:, None] * shape.theta**-exponents
    cos = torch.cat((angles.cos(), angles.cos()), -1)
    sin = torch.cat((-angles.sin(), angles.sin()), -1)
    return cos[:, None].to(device, dtype), sin[:, None].to(device, dtype)
