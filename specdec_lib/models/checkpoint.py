"""The weights of a Llama and of its relatives, read from a Hugging Face folder.

| `model_type` | what it adds to a Llama |
| --- | --- |
| llama (Llama 1 to 3, Vicuna, TinyLlama) | biases, if `attention_bias` or `mlp_bias` says so |
| mistral | a sliding window |
| qwen2 (Qwen2, Qwen2.5) | biases of queries, keys and values |
| qwen3 | norms of queries and keys; biases, if `attention_bias` says so |

Any of them may have tied heads, grouped heads, heads wider than width / heads and a vocabulary that
is filled up. With a sliding window, texts end at the window, within which it hides nothing. The
rotation may be stretched as rotary.py says. Weights are safetensors or PyTorch's, in one file or in
several (saved/tensors.py). What else would change the logits is refused by its name in config.json
(saved/config.py). tests/specdec_lib/models/test_families.py holds each family against transformers
5.23.0.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.models.saved.config import DOWN, GATE_UP, OUT, QKV, Form, Shape, read_shape
from specdec_lib.models.saved.tensors import TensorFiles

PLAIN = Form()
PRODUCTS = (QKV, OUT, GATE_UP, DOWN)  # each is one matrix here
NORMS = ("input_layernorm", "post_attention_layernorm")
HEAD_NORMS = ("self_attn.q_norm", "self_attn.k_norm")
EMBEDDING, NORM, HEAD = "model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"
COMPUTED = "rotary_emb.inv_freq"  # a part of old files that is no weight


class Biases(NamedTuple):
    """What the products of a layer add, (out,) each, if anything."""

    qkv: Tensor | None = None
    out: Tensor | None = None
    gate_up: Tensor | None = None
    down: Tensor | None = None


@dataclass(frozen=True)
class LayerWeights:
    """One layer: two norms (width,), and matrices (out, in)."""

    norm_attention: Tensor
    qkv: Tensor  # ((heads + 2 kv_heads) head_width, width)
    out: Tensor  # (width, heads head_width)
    norm_mlp: Tensor
    gate_up: Tensor  # (2 mlp, width)
    down: Tensor  # (width, mlp)
    biases: Biases = Biases()
    norm_queries: Tensor | None = None  # (head_width,), for every head alike
    norm_keys: Tensor | None = None


@dataclass(frozen=True)
class Weights:
    """A whole Llama; `layers` may be read while it is walked, so that one at a time is held."""

    shape: Shape
    embedding: Tensor  # (vocab_size, width)
    layers: Iterable[LayerWeights]
    norm: Tensor  # (width,)
    head: Tensor  # (vocab_size, width)


def read_weights(folder: Path, device: torch.device | str, dtype: torch.dtype) -> Weights:
    """Read `folder` (config.json and weights) to `device` as `dtype`.

    Raises ValueError if the folder holds no model that llama.py can run.
    """
    shape = read_shape(folder)
    files = TensorFiles(folder, device, dtype)
    require_tensors(shape, files.file_of.keys(), folder)
    sizes = tensor_sizes(shape)

    def get(name: str) -> Tensor:
        return require_size(name, files(name), sizes[name], folder)

    embedding = get(EMBEDDING)
    head = get(HEAD) if HEAD in files.file_of else embedding
    if shape.form.tied and torch.equal(head, embedding):  # PyTorch's files hold both names
        head = embedding
    layers = (layer_weights(get, number, shape.form) for number in range(shape.layers))
    return Weights(shape, embedding, layers, get(NORM), head)


def layer_weights(get: Callable[[str], Tensor], number: int, form: Form = PLAIN) -> LayerWeights:
    """The weights of layer `number`, `get` giving a tensor by its Hugging Face name."""

    def of(names: Sequence[str], kind: str = "weight") -> list[Tensor]:
        return [get(f"model.layers.{number}.{name}.{kind}") for name in names]

    def bias(names: Sequence[str]) -> Tensor | None:
        return torch.cat(of(names, "bias")) if names[0] in form.biases else None

    norm_attention, norm_mlp = of(NORMS)
    norm_queries, norm_keys = of(HEAD_NORMS) if form.head_norms else (None, None)
    return LayerWeights(
        norm_attention=norm_attention,
        qkv=torch.cat(of(QKV)),
        out=of(OUT)[0],
        norm_mlp=norm_mlp,
        gate_up=torch.cat(of(GATE_UP)),
        down=of(DOWN)[0],
        biases=Biases(*map(bias, PRODUCTS)),
        norm_queries=norm_queries,
        norm_keys=norm_keys,
    )


def layer_sizes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """The tensors of one layer by the ends of their Hugging Face names, and their sizes."""
    queries, keys = (count * shape.head_width for count in (shape.heads, shape.kv_heads))
    rows = (queries, keys, keys, shape.width, shape.mlp, shape.mlp, shape.width)
    matrices = dict(zip((*QKV, *OUT, *GATE_UP, *DOWN), rows, strict=True))
    columns = {OUT[0]: queries, DOWN[0]: shape.mlp}
    sizes = {f"{name}.weight": (n, columns.get(name, shape.width)) for name, n in matrices.items()}
    sizes |= {f"{name}.bias": (matrices[name],) for name in shape.form.biases}
    sizes |= {f"{name}.weight": (shape.width,) for name in NORMS}
    if shape.form.head_norms:
        sizes |= {f"{name}.weight": (shape.head_width,) for name in HEAD_NORMS}
    return sizes


def tensor_sizes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """All tensors of a model by their Hugging Face names, and their sizes."""
    table = (shape.vocab_size, shape.width)
    sizes = {EMBEDDING: table, NORM: (shape.width,), HEAD: table}
    layer = layer_sizes(shape)
    for number in range(shape.layers):
        sizes |= {f"model.layers.{number}.{name}": size for name, size in layer.items()}
    return sizes


def require_tensors(shape: Shape, names: Collection[str], folder: Path) -> None:
    """Raise ValueError unless `names` are the tensors of a model of this shape.

    A tensor too many means another model as well, which would give other logits.
    """
    needed = tensor_sizes(shape).keys() - ({HEAD} if shape.form.tied else set())
    lacking = sorted(needed - set(names))
    if lacking:
        raise ValueError(f"{folder}: the weights lack {lacking[0]}, which config.json asks for")
    more = sorted(name for name in set(names) - needed - {HEAD} if not name.endswith(COMPUTED))
    if more:
        raise ValueError(
            f"{folder}: the weights have {more[0]}, which a model of type {shape.form.family} "
            "with this config.json does not read: Llama would leave it out"
        )


def require_size(name: str, tensor: Tensor, size: tuple[int, ...], folder: Path) -> Tensor:
    """`tensor`; raises ValueError unless it has the `size` that config.json asks for."""
    if tensor.shape != size:
        raise ValueError(
            f"{folder}: {name} is {tuple(tensor.shape)}, and with the sizes of config.json it "
            f"would be {size}: weights and configuration are of two models"
        )
    return tensor


def named_tensors(weights: Weights) -> dict[str, Tensor]:
    """The weights by their Hugging Face names; the parts of a matrix are views of it."""
    tensors = {EMBEDDING: weights.embedding, NORM: weights.norm, HEAD: weights.head}
    for number, layer in enumerate(weights.layers):
        for name, tensor in named_layer(layer, weights.shape).items():
            tensors[f"model.layers.{number}.{name}"] = tensor
    return tensors


def named_layer(layer: LayerWeights, shape: Shape) -> dict[str, Tensor]:
    """The tensors of one layer by the ends of their Hugging Face names."""
    norms = (layer.norm_attention, layer.norm_mlp, layer.norm_queries, layer.norm_keys)
    named = zip((*NORMS, *HEAD_NORMS), norms, strict=True)
    tensors = {f"{name}.weight": norm for name, norm in named if norm is not None}
    matrices, sizes = (layer.qkv, layer.out, layer.gate_up, layer.down), layer_sizes(shape)
    for names, matrix, bias in zip(PRODUCTS, matrices, layer.biases, strict=True):
        rows = [sizes[f"{name}.weight"][0] for name in names]
        for kind, joined in (("weight", matrix), ("bias", bias)):
            if joined is not None:
                parts = zip(names, joined.split(rows), strict=True)
                tensors |= {f"{name}.{kind}": part for name, part in parts}
    return tensors
