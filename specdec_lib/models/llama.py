"""A Llama (Touvron et al., 2023) in one forward pass over a preallocated cache.

It reads Hugging Face folders and gives the logits that transformers gives, with fewer steps: the
queries, keys and values of a layer come from one matrix, the MLP's two inputs from another, and no
keys are copied when the cache grows.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import Tensor

from specdec_lib.models.cache import KVCache
from specdec_lib.models.linear import Linear

# What a configuration must say for this file to run the model.
PLAIN = {
    "model_type": "llama",
    "hidden_act": "silu",
    "rope_type": "default",
    "attention_bias": False,
    "mlp_bias": False,
}


@dataclass(frozen=True)
class Shape:
    """The sizes of a Llama; `kv_heads` heads of keys and values serve all `heads` queries."""

    vocab_size: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    mlp: int
    max_length: int
    theta: float
    epsilon: float


@dataclass(frozen=True)
class LayerWeights:
    """One layer: two norms (width,), and matrices (out, in)."""

    norm_attention: Tensor
    qkv: Tensor  # ((heads + 2 kv_heads) head_width, width)
    out: Tensor  # (width, heads head_width)
    norm_mlp: Tensor
    gate_up: Tensor  # (2 mlp, width)
    down: Tensor  # (width, mlp)


class Llama:
    """A Llama behind the protocol of protocol.py."""

    def __init__(
        self,
        shape: Shape,
        embedding: Tensor,
        layers: Iterable[LayerWeights],
        norm: Tensor,
        head: Tensor,
    ) -> None:
        self.shape = shape
        self.vocab_size = shape.vocab_size
        self.max_length = shape.max_length
        self.device, self.dtype = embedding.device, embedding.dtype
        self.embedding, self.norm, self.head = embedding, norm, Linear(head)
        self.layers = [Layer(weights, shape) for weights in layers]
        self.cos, self.sin = rotary_tables(shape, self.device, self.dtype)

    @classmethod
    def from_folder(
        cls,
        folder: Path | str,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> "Llama":
        """Load a Hugging Face Llama folder (config.json, model.safetensors).

        Raises ValueError where the folder holds no Llama that this file can run.
        """
        folder = Path(folder)
        shape = read_shape(folder)
        with safe_open(folder / "model.safetensors", framework="pt", device=str(device)) as file:
            names = set(file.keys())

            def get(name: str) -> Tensor:
                return file.get_tensor(name).to(dtype)

            embedding = get("model.embed_tokens.weight")
            head = get("lm_head.weight") if "lm_head.weight" in names else embedding
            layers = (layer_weights(get, layer) for layer in range(shape.layers))
            return cls(shape, embedding, layers, get("model.norm.weight"), head)

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> KVCache:
        """An empty cache of `batch` rows with room for `capacity` positions (max_length)."""
        shape = self.shape
        capacity = min(capacity or shape.max_length, shape.max_length)
        size = (shape.layers, batch, capacity, shape.kv_heads, shape.head_width)
        return KVCache(*size, self.device, self.dtype)

    @torch.inference_mode()
    def forward(self, tokens: Tensor, cache: KVCache) -> Tensor:
        """The logits (B, T, V) behind each of `tokens` (B, T), which are appended to `cache`."""
        positions = cache.advance(tokens.shape[1])
        here = Here(positions, self.cos[positions], self.sin[positions], cache.mask(positions))
        x = F.embedding(tokens, self.embedding)
        for number, layer in enumerate(self.layers):
            x = x + layer.attention(x, here, cache, number)
            x = x + layer.mlp(x)
        return self.head(rms_norm(x, self.norm, self.shape.epsilon))


class Here(NamedTuple):
    """What all layers need to know of the tokens of one pass."""

    positions: Tensor  # (B, T)
    cos: Tensor  # (B, T, 1, head_width), as sin
    sin: Tensor
    mask: Tensor | None  # (B, 1, T, S), to be added to the scores


class Layer:
    """Attention and MLP, each on the normed input."""

    def __init__(self, weights: LayerWeights, shape: Shape) -> None:
        self.shape = shape
        self.norm_attention, self.norm_mlp = weights.norm_attention, weights.norm_mlp
        self.qkv, self.out = Linear(weights.qkv), Linear(weights.out)
        self.gate_up, self.down = Linear(weights.gate_up), Linear(weights.down)

    def attention(self, x: Tensor, here: Here, cache: KVCache, number: int) -> Tensor:
        """(B, T, width) -> (B, T, width); the new keys and values go to layer `number` of `cache`."""
        shape = self.shape
        qkv = self.qkv(rms_norm(x, self.norm_attention, shape.epsilon))
        qkv = qkv.unflatten(-1, (-1, shape.head_width))
        turning = shape.heads + shape.kv_heads  # queries and keys
        turned = rotate(qkv[:, :, :turning], here.cos, here.sin)
        keys, values = cache.store(
            number, here.positions, turned[:, :, shape.heads :], qkv[:, :, turning:]
        )
        mixed = F.scaled_dot_product_attention(
            turned[:, :, : shape.heads].transpose(1, 2),
            keys,
            values,
            attn_mask=here.mask,
            enable_gqa=shape.heads != shape.kv_heads,
        )
        return self.out(mixed.transpose(1, 2).flatten(2))

    def mlp(self, x: Tensor) -> Tensor:
        """(B, T, width) -> (B, T, width)."""
        both = self.gate_up(rms_norm(x, self.norm_mlp, self.shape.epsilon))
        gate, up = both.chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """x over its root mean square, times `weight` (Zhang and Sennrich, 2019)."""
    return F.rms_norm(x, weight.shape, weight, epsilon)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair (x_i, x_{i + D/2}) of the last axis D by its angle; `sin` holds the signs."""
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin)


def rotary_tables(
    shape: Shape, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Cosines and signed sines (max_length, 1, head_width) of the rotary embedding (Su et al., 2021)."""
    exponents = torch.arange(0, shape.head_width, 2, dtype=torch.float64) / shape.head_width
    angles = torch.arange(shape.max_length)[:, None] * shape.theta**-exponents
    cos = torch.cat((angles.cos(), angles.cos()), -1)
    sin = torch.cat((-angles.sin(), angles.sin()), -1)
    return cos[:, None].to(device, dtype), sin[:, None].to(device, dtype)


def layer_weights(get: Callable[[str], Tensor], number: int) -> LayerWeights:
    """The weights of layer `number`, `get` giving a tensor by its Hugging Face name."""

    def join(*names: str) -> Tensor:
        return torch.cat([get(f"model.layers.{number}.{name}.weight") for name in names])

    return LayerWeights(
        norm_attention=join("input_layernorm"),
        qkv=join("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
        out=join("self_attn.o_proj"),
        norm_mlp=join("post_attention_layernorm"),
        gate_up=join("mlp.gate_proj", "mlp.up_proj"),
        down=join("mlp.down_proj"),
    )


def read_shape(folder: Path) -> Shape:
    """The sizes in `folder`/config.json, as transformers 4 and 5 write it.

    Raises ValueError where that is not the configuration of a Llama that this file can run.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise ValueError(f"{folder}: no config.json here; name the folder of a saved model")
    config = json.loads(path.read_text(encoding="utf-8"))
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    found = {
        "model_type": config.get("model_type"),
        "hidden_act": config.get("hidden_act", "silu"),
        "rope_type": rope.get("rope_type", rope.get("type", "default")),
        "attention_bias": config.get("attention_bias", False),
        "mlp_bias": config.get("mlp_bias", False),
    }
    for name, needed in PLAIN.items():
        if found[name] != needed:
            raise ValueError(
                f"{path}: {name} is {found[name]!r}, and Llama runs {needed!r} only; "
                "models/hf.py runs any model of transformers"
            )
    heads = config["num_attention_heads"]
    return Shape(
        vocab_size=config["vocab_size"],
        width=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        head_width=config.get("head_dim") or config["hidden_size"] // heads,
        mlp=config["intermediate_size"],
        max_length=config["max_position_embeddings"],
        theta=rope.get("rope_theta", config.get("rope_theta", 10000.0)),
        epsilon=config["rms_norm_eps"],
    )
