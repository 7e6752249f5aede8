"""config.json of a Llama or of one of its relatives as the sizes that llama.py runs.

What would change the logits and is not there is refused by its name. Which families there are, and
what each adds, stands in checkpoint.py.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from specdec_lib.device import name_of
from specdec_lib.models.rotary import NEEDED, ORIGINAL

QKV, OUT = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), ("self_attn.o_proj",)
GATE_UP, DOWN = ("mlp.gate_proj", "mlp.up_proj"), ("mlp.down_proj",)

# What transformers 5.23.0 takes for a field that config.json leaves out.
DEFAULTS: dict[str, Any] = {
    "hidden_act": "silu", "quantization_config": None, "num_key_value_heads": None,
    "head_dim": None, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "partial_rotary_factor": None,
    "use_sliding_window": False, "sliding_window": 4096, "tie_word_embeddings": False,
    "attention_bias": False, "mlp_bias": False,
}  # fmt: skip
FAMILIES: dict[str, dict[str, Any]] = {  # by model_type, with defaults of their own
    "llama": {},
    "mistral": {"num_key_value_heads": 8},
    "qwen2": {"num_key_value_heads": 32},
    "qwen3": {"num_key_value_heads": 32, "head_dim": 128},
}


@dataclass(frozen=True)
class Form:
    """What a model has beyond the first Llama, or instead."""

    family: str = "llama"  # a key of FAMILIES
    biases: tuple[str, ...] = ()  # the products that add one, of QKV, OUT, GATE_UP and DOWN
    head_norms: bool = False  # every query and every key is normed by itself
    tied: bool = False  # the head is the embedding
    rope: Mapping[str, Any] = field(default_factory=dict)  # rotary.py


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
    form: Form = Form()
    slides: bool = False  # max_length is a sliding window: what is longer would leave it


def read_shape(folder: Path) -> Shape:
    """The sizes in `folder`/config.json, as transformers 4 and 5 write it.

    Raises ValueError if that is not the configuration of a model that llama.py can run.
    """
    return shape_of(folder / "config.json", read_config(folder))


def read_config(folder: Path) -> dict[str, Any]:
    """What `folder`/config.json says. Raises ValueError if it is not there."""
    path = folder / "config.json"
    if not path.is_file():
        raise ValueError(f"{folder}: no config.json here; name the folder of a saved model")
    return json.loads(path.read_text(encoding="utf-8"))


def shape_of(path: Path, config: Mapping[str, Any]) -> Shape:
    """The sizes in the configuration that was read from `path`; errors as in read_shape."""
    require(path, "model_type", config.get("model_type"), tuple(FAMILIES))
    config = DEFAULTS | FAMILIES[config["model_type"]] | config
    for name, supported in (("hidden_act", "silu"), ("quantization_config", None)):
        require(path, name, config[name], (supported,))
    rope = rotation(path, config)
    heads = config["num_attention_heads"]
    return Shape(
        vocab_size=config["vocab_size"],
        width=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=heads,
        kv_heads=config["num_key_value_heads"] or heads,
        head_width=config["head_dim"] or config["hidden_size"] // heads,
        mlp=config["intermediate_size"],
        max_length=min(config["max_position_embeddings"], window(config)),
        theta=rope.pop("rope_theta"),
        epsilon=config["rms_norm_eps"],
        form=form_of(config, rope),
        slides=window(config) < config["max_position_embeddings"],
    )


def require(path: Path, name: str, value: Any, supported: tuple) -> None:
    """Raise ValueError unless the field `name` of a configuration has a `supported` value."""
    if value not in supported:
        raise ValueError(
            f"{path}: {name} is {value!r}, and Llama runs {' or '.join(map(repr, supported))} "
            "only; models/hf.py runs any model of transformers"
        )


def rotation(path: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """What a configuration says of the rotation: rope_theta, rope_type and its parameters."""
    said = config.get("rope_scaling") or config.get("rope_parameters") or {}
    rope = {"rope_type": said.get("type", "default"), "rope_theta": config["rope_theta"], **said}
    rope.pop("type", None)
    kind, share = rope["rope_type"], rope.pop("partial_rotary_factor", None)
    require(path, "rope_type", kind, tuple(NEEDED))
    require(path, "partial_rotary_factor", share or config["partial_rotary_factor"], (None, 1.0))
    if ORIGINAL in NEEDED[kind]:
        rope[ORIGINAL] = config.get(ORIGINAL) or rope.get(ORIGINAL)
        rope[ORIGINAL] = rope[ORIGINAL] or config["max_position_embeddings"]
    for name in NEEDED[kind]:
        if rope.get(name) is None:
            raise ValueError(f"{path}: rope_type {kind!r} needs {name}, which is not there")
    return rope


def window(config: Mapping[str, Any]) -> float:
    """Up to how many positions a token sees in every layer; infinite without a window."""
    slides = {"llama": False, "mistral": True}  # whatever use_sliding_window says
    used = slides.get(config["model_type"], config["use_sliding_window"])
    return (used and config["sliding_window"]) or math.inf


def form_of(config: Mapping[str, Any], rope: Mapping[str, Any]) -> Form:
    """What a configuration has beyond the first Llama."""
    family = config["model_type"]
    biases = QKV if family == "qwen2" else ()
    if family in ("llama", "qwen3") and config["attention_bias"]:
        biases += (*QKV, *OUT)
    if family == "llama" and config["mlp_bias"]:
        biases += (*GATE_UP, *DOWN)
    return Form(family, biases, family == "qwen3", config["tie_word_embeddings"], rope)


def configuration(shape: Shape, dtype: torch.dtype) -> dict:
    """The configuration of transformers for a model of this shape, its head untied."""
    form = shape.form
    return {
        "model_type": form.family,
        "dtype": name_of(dtype),
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_width,
        "intermediate_size": shape.mlp,
        "max_position_embeddings": shape.max_length,
        "rms_norm_eps": shape.epsilon,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.theta} | dict(form.rope),
        "attention_bias": OUT[0] in form.biases,
        "mlp_bias": DOWN[0] in form.biases,
        "sliding_window": None,
        "tie_word_embeddings": False,
        "hidden_act": "silu",
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
