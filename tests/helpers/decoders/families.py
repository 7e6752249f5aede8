"""Small random models of every family that llama.py runs, and the forms in which they are saved."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from decoders.random_models import ENDLESS, VOCAB
from transformers import AutoModelForCausalLM as Auto
from transformers import (
    LlamaConfig,
    MistralConfig,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3Config,
)

LENGTH, ORIGINAL, WINDOW = 128, 32, 112
SIZES = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": LENGTH,
    "initializer_range": 0.2,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": ORIGINAL,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": ORIGINAL,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}
DYNAMIC = LINEAR | {"rope_type": "dynamic"}


@dataclass(frozen=True)
class Family:
    """How to make a model, and in which `form` to save it."""

    config: type[PreTrainedConfig]
    fields: dict[str, Any] = field(default_factory=dict)
    form: str = "safetensors"


FAMILIES = {
    "Llama 2": Family(LlamaConfig, {"num_key_value_heads": 4}),
    "Llama 3, tied": Family(LlamaConfig, {"rope_parameters": LLAMA3, "tie_word_embeddings": True}),
    "Llama with biases": Family(LlamaConfig, {"attention_bias": True, "mlp_bias": True}),
    "Vicuna": Family(LlamaConfig, {"rope_parameters": LINEAR}, "bin parts"),
    "Llama, dynamic": Family(LlamaConfig, {"rope_parameters": DYNAMIC}, "bin"),
    "Qwen2": Family(Qwen2Config, {"rope_parameters": YARN}, "parts"),
    "Qwen2.5, tied": Family(Qwen2Config, {"tie_word_embeddings": True}, "bin"),
    "Qwen3": Family(Qwen3Config, {"head_dim": 16, "tie_word_embeddings": True}),
    "Qwen3 with biases": Family(
        Qwen3Config,
        {
            "head_dim": 16,
            "attention_bias": True,
            "rope_parameters": YARN | {"beta_fast": 8, "beta_slow": 0.5, "truncate": False},
        },
    ),
    "Mistral": Family(MistralConfig, {"head_dim": 16, "sliding_window": None}, "parts"),
    "Mistral, window": Family(MistralConfig, {"sliding_window": WINDOW}),
}


def make(family: Family, seed: int = 0, layers: int = 2) -> PreTrainedModel:
    """A random model in float64 whose biases and norms are not what they are before training."""
    torch.manual_seed(seed)
    fields = SIZES | {"num_hidden_layers": layers} | family.fields
    model = Auto.from_config(family.config(**fields, **ENDLESS), dtype=torch.float64)
    for name, tensor in model.named_parameters():
        if "norm" in name or "bias" in name:
            tensor.data += 0.3 * torch.randn_like(tensor)
    return model.eval()


def save(model: PreTrainedModel, folder: Path, form: str) -> None:
    """Write `model` to `folder`: "safetensors", "bin", or either in "parts"."""
    if "bin" not in form:
        model.save_pretrained(folder, **({"max_shard_size": "30KB"} if form == "parts" else {}))
        return
    model.config.save_pretrained(folder)
    tensors = model.state_dict()
    if form == "bin":
        torch.save(tensors, folder / "pytorch_model.bin")
        return
    # As early transformers wrote it: with the rotation's frequencies, which are no weights.
    tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(4)
    names = sorted(tensors)
    parts = {"a.bin": names[::2], "b.bin": names[1::2]}
    for part, held in parts.items():
        torch.save({name: tensors[name] for name in held}, folder / part)
    index = {
        "metadata": {},
        "weight_map": {name: part for part, held in parts.items() for name in held},
    }
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
