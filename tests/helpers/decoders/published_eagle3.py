"""A published EAGLE-3 head: random ones as folders, and the forward pass from its description.

The reference keeps no cache and knows no batch, no tree and no module of the package: for every
token the whole text is read again, head by head.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

FREQUENT = [1, 4, 5, 7, 9, 10, 11, 17, 30, 47]  # the target's numbers of the head's tokens


def write_head(folder: Path, target: PreTrainedModel, known: Sequence[int] = FREQUENT) -> None:
    """As EAGLE's authors write it: pytorch_model.bin, the embedding left out."""
    config, tensors = random_head(target, known)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    torch.save(tensors, folder / "pytorch_model.bin")


def write_speculators_head(folder: Path, target: PreTrainedModel) -> None:
    """As vllm-project/speculators writes it: safetensors, other names, an embedding of its own."""
    config, tensors = random_head(target, FREQUENT)
    outer = {
        "architectures": ["Eagle3DraftModel"], "speculators_model_type": "eagle3",
        "draft_vocab_size": config.pop("draft_vocab_size"), "norm_before_residual": True,
        "target_hidden_size": None, "eagle_aux_hidden_state_layer_ids": None,
        "transformer_layer_config": config,
    }  # fmt: skip
    renamed = {name.replace("midlayer.", "layers.0."): each for name, each in tensors.items()}
    embedding = torch.randn(config["vocab_size"], config["hidden_size"], dtype=torch.float64)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(outer))
    save_file(renamed | {"embed_tokens.weight": embedding}, folder / "model.safetensors")


def random_head(target: PreTrainedModel, known: Sequence[int]) -> tuple[dict, dict[str, Tensor]]:
    """The configuration and the tensors of a head with grouped, wide heads, for `target`."""
    width, vocab = target.config.hidden_size, target.config.vocab_size
    heads, kv_heads, d, mlp, n = 4, 2, 12, 40, len(known)
    config = {
        "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama",
        "hidden_size": width, "vocab_size": vocab, "draft_vocab_size": n, "num_hidden_layers": 1,
        "num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": d,
        "intermediate_size": mlp, "rms_norm_eps": 1e-5, "rope_theta": 500.0,
        "max_position_embeddings": 8, "hidden_act": "silu", "tie_word_embeddings": True,
    }  # fmt: skip
    shapes = {
        "fc": (width, 3 * width), "norm": (width,), "lm_head": (n, width),
        "midlayer.hidden_norm": (width,), "midlayer.input_layernorm": (width,),
        "midlayer.post_attention_layernorm": (width,),
        "midlayer.self_attn.q_proj": (heads * d, 2 * width),
        "midlayer.self_attn.k_proj": (kv_heads * d, 2 * width),
        "midlayer.self_attn.v_proj": (kv_heads * d, 2 * width),
        "midlayer.self_attn.o_proj": (width, heads * d),
        "midlayer.mlp.gate_proj": (mlp, width), "midlayer.mlp.up_proj": (mlp, width),
        "midlayer.mlp.down_proj": (width, mlp),
    }  # fmt: skip
    generator = torch.Generator().manual_seed(3)
    tensors = {}
    for name, shape in shapes.items():
        numbers = torch.randn(*shape, generator=generator, dtype=torch.float64)
        tensors[f"{name}.weight"] = (
            numbers / shape[-1] ** 0.5 if len(shape) > 1 else 1 + numbers / 5
        )
    numbers = torch.tensor(known)
    there = torch.zeros(vocab, dtype=torch.bool).index_fill(0, numbers, True)
    return config, tensors | {"d2t": numbers - torch.arange(n), "t2d": there}


class PublishedHead:
    """The pass of a head of either form, over one text."""

    def __init__(self, folder: Path, target: PreTrainedModel) -> None:
        config = json.loads((folder / "config.json").read_text())
        self.config = config | config.get("transformer_layer_config", {})
        path = folder / "model.safetensors"
        tensors = load_file(path) if path.exists() else torch.load(folder / "pytorch_model.bin")
        names = {name: name.replace("layers.0.", "midlayer.") for name in tensors}
        self.weights = {names[name]: each for name, each in tensors.items()}
        self.weights.setdefault("embed_tokens.weight", target.get_input_embeddings().weight.data)
        self.target = target

    def __call__(self, text: Sequence[int], drafted: Sequence[int]) -> Tensor:
        """The distribution (V,) of the token after `text` and then `drafted`."""
        inputs = list(self.fused(text))  # of the tokens from the second on
        tokens = list(text[1:])
        for token in [*drafted, None]:
            outputs = self.layer(torch.stack(inputs), tokens)
            if token is None:
                return self.distribution(outputs[-1])
            inputs.append(outputs[-1])  # in place of what the target has not computed yet
            tokens.append(token)

    def fused(self, text: Sequence[int]) -> Tensor:
        """One vector of three of the target's states, (len(text) - 1, width)."""
        with torch.no_grad():
            states = self.target(torch.tensor([text]), output_hidden_states=True).hidden_states
        layers = len(states) - 1
        three = [states[number][0, :-1] for number in (2, layers // 2, layers - 3)]
        return torch.cat(three, -1) @ self.weights["fc.weight"].T

    def layer(self, states: Tensor, tokens: Sequence[int]) -> Tensor:
        """(T, width) -> (T, width)."""
        embedded = self.weights["embed_tokens.weight"][list(tokens)]
        normed = self.norm(states, "midlayer.hidden_norm")
        both = torch.cat((self.norm(embedded, "midlayer.input_layernorm"), normed), 1)
        residual = normed if self.config.get("norm_before_residual") else states
        x = residual + self.attention(both)
        inner = self.norm(x, "midlayer.post_attention_layernorm")
        gate, up = self.product(inner, "mlp.gate_proj"), self.product(inner, "mlp.up_proj")
        return x + self.product(gate * torch.sigmoid(gate) * up, "mlp.down_proj")

    def attention(self, x: Tensor) -> Tensor:
        """Query head by query head."""
        heads, d = self.config["num_attention_heads"], self.config["head_dim"]
        group = heads // self.config["num_key_value_heads"]
        queries, keys, values = (self.product(x, f"self_attn.{n}_proj").split(d, 1) for n in "qkv")
        later = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
        mixed = []
        for number in range(heads):
            query, key = self.turned(queries[number]), self.turned(keys[number // group])
            scores = (query @ key.T / d**0.5).masked_fill(later, float("-inf"))
            mixed.append(scores.softmax(1) @ values[number // group])
        return self.product(torch.cat(mixed, 1), "self_attn.o_proj")

    def turned(self, x: Tensor) -> Tensor:
        """Rotary embedding: the halves of x (T, d) are real and imaginary parts."""
        half = x.shape[1] // 2
        speed = self.config["rope_theta"] ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = torch.arange(len(x), dtype=torch.float64)[:, None] * speed
        turned = torch.complex(x[:, :half], x[:, half:]) * torch.polar(
            torch.ones_like(angle), angle
        )
        return torch.cat((turned.real, turned.imag), 1)

    def distribution(self, state: Tensor) -> Tensor:
        """Over the target's tokens: those that the head does not know have 0."""
        probs = (self.weights["lm_head.weight"] @ self.norm(state, "norm")).softmax(0)
        whole = torch.zeros(self.config["vocab_size"], dtype=probs.dtype)
        for number, (prob, offset) in enumerate(zip(probs, self.weights["d2t"], strict=True)):
            whole[number + offset] = prob
        return whole

    def product(self, x: Tensor, name: str) -> Tensor:
        return x @ self.weights[f"midlayer.{name}.weight"].T

    def norm(self, x: Tensor, name: str) -> Tensor:
        root = (x.square().mean(-1, keepdim=True) + self.config["rms_norm_eps"]).sqrt()
        return x / root * self.weights[f"{name}.weight"]
