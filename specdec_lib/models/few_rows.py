"""The steps between a layer's products for a few rows on a CPU, compiled by Numba.

torch needs 2 to 40 microseconds to start a step, and between the products of a layer there are
about 25 of them: in a small model that is most of a pass. Here they are three loops on one core,
which llama.py takes if `suits` says so; it has the same steps in torch for everything else.
Where Numba is missing nothing suits, and a pass of a small model takes about twice as long.
"""

import math

import numpy as np
import torch
from torch import Tensor

try:
    from numba import njit
except ImportError:
    njit = None

# Numbers of x: with more of them torch's own steps, which use all cores, are done sooner. That is
# 10 rows of the built-in target, and 2 at the 234M cost.
MOST = 4096
# The order of a sum is free, as it is in torch; infinities and NaN are kept.
FREE_ORDER = {"reassoc", "contract", "nsz", "arcp"}


def suits(x: Tensor) -> bool:
    """Whether these steps are for x (B, T, width): float32 on a CPU, few rows, and Numba."""
    few = x.dtype == torch.float32 and x.numel() <= MOST
    return few and njit is not None and x.device.type == "cpu"


def norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """RMSNorm: (B, T, width) -> (B, T, width)."""
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    _norm(x.contiguous().numpy(), weight.numpy(), epsilon, y.numpy())
    return y


def attend(
    qkv: Tensor, cos: Tensor, sin: Tensor, slots: Tensor, mask: Tensor | None,
    keys: Tensor, values: Tensor,
) -> Tensor:  # fmt: skip
    """Rotate queries and keys, store keys and values, and mix the values that are seen.

    `qkv` (B, T, (heads + 2 kv_heads) d), changed in place; `cos` and `sin` (B, T, 1, d); the tokens
    stand at `slots` (B, T) of `keys` and `values` (B, S, kv_heads, d), and see what stands up to
    their own slot, less what `mask` (1, 1, T, seen) hides. Returns (B, T, heads d).
    """
    batch, tokens, width = qkv.shape
    mixed = torch.empty(batch, tokens, width - 2 * keys.shape[2] * keys.shape[3])
    hidden = NOTHING if mask is None else mask[0, 0].numpy()
    turns = cos.numpy(), sin.numpy()
    held = keys.numpy(), values.numpy()
    _attend(qkv.numpy(), *turns, slots.numpy(), hidden, *held, mixed.numpy())
    return mixed


def gated(both: Tensor) -> Tensor:
    """silu(gate) * up: (B, T, 2 mlp) -> (B, T, mlp)."""
    batch, tokens, width = both.shape
    y = torch.empty(batch, tokens, width // 2)
    _gated(both.numpy(), y.numpy())
    return y


NOTHING = np.zeros((0, 0), np.float32)


def compiled(*signature: str):
    """Compile a function for this signature now, or read it from Numba's files of last time.

    Without a folder to write to, it is compiled in every process anew.
    """

    def decorate(function):
        if njit is None:
            return function
        options = {"fastmath": FREE_ORDER, "error_model": "numpy", "nogil": True}
        text = f"void({', '.join(signature)})"
        try:
            return njit(text, cache=True, **options)(function)
        except RuntimeError:  # no folder to write to
            return njit(text, **options)(function)

    return decorate


ROWS = "float32[:,:,::1]"
HELD = "float32[:,:,:,::1]"


@compiled(ROWS, "float32[::1]", "float32", ROWS)
def _norm(x, weight, epsilon, y):
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            row, total = x[b, t], np.float32(0)
            for i in range(len(row)):
                total += row[i] * row[i]
            scale = np.float32(1) / np.sqrt(total / np.float32(len(row)) + epsilon)
            for i in range(len(row)):
                y[b, t, i] = row[i] * scale * weight[i]


@compiled(ROWS, ROWS)
def _gated(both, y):
    mlp = y.shape[2]
    for b in range(y.shape[0]):
        for t in range(y.shape[1]):
            for i in range(mlp):
                gate = both[b, t, i]
                y[b, t, i] = gate / (np.float32(1) + np.exp(-gate)) * both[b, t, mlp + i]


@compiled(ROWS, HELD, HELD, "int64[:,::1]", "float32[:,::1]", HELD, HELD, ROWS)
def _attend(qkv, cos, sin, slots, mask, keys, values, mixed):
    batch, tokens, _ = qkv.shape
    kv_heads, d = keys.shape[2:]
    heads = mixed.shape[2] // d
    scale = np.float32(1 / math.sqrt(d))
    scores = np.empty(keys.shape[1], np.float32)
    for b in range(batch):
        for t in range(tokens):
            turn, half = qkv[b, t], d // 2
            for h in range(heads + kv_heads):
                for i in range(half):
                    low, high = turn[h * d + i], turn[h * d + half + i]
                    turn[h * d + i] = low * cos[b, t, 0, i] + high * sin[b, t, 0, i]
                    turn[h * d + half + i] = (
                        high * cos[b, t, 0, half + i] + low * sin[b, t, 0, half + i]
                    )
            for h in range(kv_heads):
                for i in range(d):
                    keys[b, slots[b, t], h, i] = turn[(heads + h) * d + i]
                    values[b, slots[b, t], h, i] = turn[(heads + kv_heads + h) * d + i]
        for h in range(heads):
            group = h * kv_heads // heads
            for t in range(tokens):
                query, seen = qkv[b, t, h * d : h * d + d], slots[b, t] + 1
                top, total = np.float32(-np.inf), np.float32(0)
                for s in range(seen):
                    score = np.float32(0)
                    for i in range(d):
                        score += query[i] * keys[b, s, group, i]
                    score *= scale
                    if mask.size:
                        score += mask[t, s]
                    scores[s] = score
                    top = max(top, score)
                out = mixed[b, t, h * d : h * d + d]
                out[:] = 0
                for s in range(seen):
                    share = np.exp(scores[s] - top)
                    total += share
                    for i in range(d):
                        out[i] += share * values[b, s, group, i]
                for i in range(d):
                    out[i] /= total
