"""The weights of a Llama, read from a Hugging Face folder."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

# What a configuration must say for this file to run the model.
PLAIN = {
    "model_type": "llama",
    "hidden_act": "silu",
    "rope_type": "default",
    "attention_bias": False,
    "mlp_bias": False,
}
LAYER_NAMES = (
    "input_layernorm",
    "post_attention_layernorm",
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
)


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


@dataclass(frozen=True)
class Weights:
    """A whole Llama; `layers` may be read while it is walked, so that one at a time is held."""

    shape: Shape
    embedding: Tensor  # (vocab_size, width)
    layers: Iterable[LayerWeights]
    norm: Tensor  # (width,)
    head: Tensor  # (vocab_size, width)


def read_weights(folder: Path, device: torch.device | str, dtype: torch.dtype) -> Weights:
    """Read `folder` (config.json, model.safetensors) to `device` as `dtype`.

    Raises ValueError if the folder holds no Llama that llama.py can run.
    """
    shape, path = read_shape(folder), folder / "model.safetensors"
    if not path.is_file():
        raise ValueError(
            f"{folder}: no model.safetensors here; models in several files are not read"
        )
    file = safe_open(path, framework="pt", device=str(device))

    def get(name: str) -> Tensor:
        return file.get_tensor(name).to(dtype)

    embedding = get("model.embed_tokens.weight")
    head = get("lm_head.weight") if "lm_head.weight" in file.keys() else embedding  # noqa: SIM118
    layers = (layer_weights(get, number) for number in range(shape.layers))
    return Weights(shape, embedding, layers, get("model.norm.weight"), head)


def layer_weights(get: Callable[[str], Tensor], number: int) -> LayerWeights:
    """The weights of layer `number`, `get` giving a tensor by its Hugging Face name."""
    tensors = [get(f"model.layers.{number}.{name}.weight") for name in LAYER_NAMES]
    norm_attention, norm_mlp, queries, keys, values, out, gate, up, down = tensors
    return LayerWeights(
        norm_attention=norm_attention,
        qkv=torch.cat((queries, keys, values)),
        out=out,
        norm_mlp=norm_mlp,
        gate_up=torch.cat((gate, up)),
        down=down,
    )


def read_shape(folder: Path) -> Shape:
    """The sizes in `folder`/config.json, as transformers 4 and 5 write it.

    Raises ValueError if that is not the configuration of a Llama that this file can run.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise ValueError(f"{folder}: no config.json here; name the folder of a saved model")
    config = json.loads(path.read_text(encoding="utf-8"))
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    require_plain(config, rope, path)
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


def require_plain(config: dict, rope: dict, path: Path) -> None:
    """Raise ValueError unless the configuration, and its part on the rotation, says PLAIN."""
    rope_type = rope.get("rope_type", rope.get("type", "default"))
    found = PLAIN | {"model_type": None} | config | {"rope_type": rope_type}
    for name, needed in PLAIN.items():
        if found[name] != needed:
            raise ValueError(
                f"{path}: {name} is {found[name]!r}, and Llama runs {needed!r} only; "
                "models/hf.py runs any model of transformers"
            )


def named_tensors(weights: Weights) -> dict[str, Tensor]:
    """The weights by their Hugging Face names; the parts of a matrix are views of it."""
    shape, tensors = weights.shape, {"model.embed_tokens.weight": weights.embedding}
    heads = [count * shape.head_width for count in (shape.heads, shape.kv_heads, shape.kv_heads)]
    for number, layer in enumerate(weights.layers):
        parts = (*layer.qkv.split(heads), layer.out, *layer.gate_up.split(shape.mlp), layer.down)
        norms = (layer.norm_attention, layer.norm_mlp)
        for name, tensor in zip(LAYER_NAMES, (*norms, *parts), strict=True):
            tensors[f"model.layers.{number}.{name}.weight"] = tensor
    return tensors | {"model.norm.weight": weights.norm, "lm_head.weight": weights.head}


def configuration(shape: Shape, dtype: torch.dtype) -> dict:
    """The configuration of transformers for a model of this shape."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": str(dtype).removeprefix("torch."),
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_width,
        "intermediate_size": shape.mlp,
        "max_position_embeddings": shape.max_length,
        "rms_norm_eps": shape.epsilon,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.theta},
        "tie_word_embeddings": False,
        "hidden_act": "silu",
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
