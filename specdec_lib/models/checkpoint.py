"""The weights of the Llamas that llama.py runs, read from their Hugging Face folders.

A folder holds config.json and one model.safetensors, as transformers 5 saves a plain Llama: no
biases, the default rotary embedding. Any other model is refused here and runs through hf.py.
"""

import json
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from specdec_lib.device import dtype_name
from specdec_lib.models.catalogue import PairError

# Hugging Face's names; the matrices of a group are one matrix here.
NORMS = ("input_layernorm", "post_attention_layernorm")
QKV, OUT = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), ("self_attn.o_proj",)
GATE_UP, DOWN = ("mlp.gate_proj", "mlp.up_proj"), ("mlp.down_proj",)
EMBEDDING, NORM, HEAD = "model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"

_REMEDY = "save or download the folder again"

_CONFIG = tomllib.loads(Path(__file__).with_name("llama.toml").read_text(encoding="utf-8"))


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
    """A whole Llama. `layers` may be a generator, so that only one layer is in memory at a time.

    `head` is read when it is called, and can be let go.
    """

    shape: Shape
    embedding: Tensor  # (vocab_size, width), in any dtype
    layers: Iterable[LayerWeights]
    norm: Tensor  # (width,)
    head: Callable[[], Tensor]  # (vocab_size, width)


def read_config(folder: Path) -> dict[str, Any]:
    """The fields of `folder`/config.json and its rotary ones. PairError if it cannot be read."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        return config | config.get("rope_parameters", {})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise PairError(f"{path} cannot be read ({error}): {_REMEDY}") from error


def read_shape(folder: Path) -> Shape:
    """The sizes in `folder`/config.json. Raises PairError if it is not that of a plain Llama."""
    path, config = folder / "config.json", read_config(folder)
    for name, value in _CONFIG["supported"].items():
        if config.get(name) != value:
            raise PairError(
                f"{path}: {name} is {config.get(name)!r}, and models/llama.py runs {value!r} only; "
                "models/hf.py runs any model of transformers"
            )
    missing = {*_CONFIG["sizes"].values(), "rope_theta"} - config.keys()
    if missing:
        raise PairError(f"{path} has no {min(missing)}: {_REMEDY}")
    sizes = {ours: config[theirs] for ours, theirs in _CONFIG["sizes"].items()}
    return Shape(**sizes, theta=config["rope_theta"])


def read_weights(folder: Path, device: torch.device | str, dtype: torch.dtype) -> Weights:
    """The weights in `folder`, on `device` as `dtype`; each layer is converted when it is read.

    The embedding stays as it is in the file. Raises PairError if the folder does not hold the whole
    of a plain Llama.
    """
    shape, path = read_shape(folder), folder / "model.safetensors"

    def get(name: str, dtype: torch.dtype | None = dtype) -> Tensor:
        # Opened each time: what was read of an open file counts as this process's memory.
        try:
            with safe_open(path, "pt", str(device)) as file:
                if name not in set(file.keys()):
                    raise PairError(f"{path} has no {name}: {_REMEDY}")
                return file.get_tensor(name).to(dtype, copy=True)
        except (OSError, SafetensorError) as error:
            raise PairError(f"{path} cannot be read ({error}): {_REMEDY}") from error

    embedding = get(EMBEDDING, None)
    head = EMBEDDING if read_config(folder).get("tie_word_embeddings") else HEAD
    layers = (layer_weights(get, number) for number in range(shape.layers))
    return Weights(shape, embedding, layers, get(NORM), partial(get, head))


def layer_weights(get: Callable[[str], Tensor], number: int) -> LayerWeights:
    """The weights of layer `number`; `get` returns a tensor by its Hugging Face name."""

    def joined(*names: str) -> Tensor:
        return torch.cat([get(tensor_name(number, name)) for name in names])

    norm_attention, norm_mlp = map(joined, NORMS)
    return LayerWeights(
        norm_attention, joined(*QKV), joined(*OUT), norm_mlp, joined(*GATE_UP), joined(*DOWN)
    )


def tensor_name(number: int, name: str) -> str:
    """Hugging Face's name of a tensor of layer `number`."""
    return f"model.layers.{number}.{name}.weight"


def named_tensors(weights: Weights) -> dict[str, Tensor]:
    """The weights by their Hugging Face names; the parts of a joined matrix are views of it."""
    embedding = weights.embedding.to(weights.norm.dtype)
    tensors = {EMBEDDING: embedding, NORM: weights.norm, HEAD: weights.head()}
    shape = weights.shape
    queries, keys = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
    for number, layer in enumerate(weights.layers):
        parts = [layer.norm_attention, layer.norm_mlp]
        parts += [*layer.qkv.split([queries, keys, keys]), layer.out]
        parts += [*layer.gate_up.split(shape.mlp), layer.down]
        names = (*NORMS, *QKV, *OUT, *GATE_UP, *DOWN)
        tensors |= {tensor_name(number, n): part for n, part in zip(names, parts, strict=True)}
    return tensors


def configuration(shape: Shape, dtype: torch.dtype) -> dict[str, Any]:
    """The configuration of transformers for a model of this shape, with a head of its own."""
    sizes = {theirs: getattr(shape, ours) for ours, theirs in _CONFIG["sizes"].items()}
    return sizes | {
        "model_type": "llama",
        "dtype": dtype_name(dtype),
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.theta},
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
