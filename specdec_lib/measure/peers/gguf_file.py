"""Our models as GGUF files, the format that llama.cpp reads."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from specdec_lib.models.checkpoint import Shape, Weights, named_tensors

# Parts of the names of Hugging Face, and what stands for them in GGUF.
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.layers": "blk",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "model.norm": "output_norm",
    "lm_head": "output",
}
FILE_TYPES = {"F32": 0, "F16": 1}  # what GGUF's field file_type says of the matrices

# From the file's path and the architecture to an object with the methods of gguf.GGUFWriter.
Writer = Callable[[str, str], Any]


def write_gguf(weights: Weights, path: Path, form: str, writer: Writer | None = None) -> None:
    """Write `weights` to `path`, the matrices in `form`, a name in FILE_TYPES; norms in float32.

    Without a `writer` it is that of the package gguf. The file holds no tokenizer: tokens go in and
    out as numbers.
    """
    file = (writer or package_writer())(str(path), "llama")
    describe(file, weights.shape, form)
    for name, tensor in gguf_tensors(weights):
        numbers = tensor.float().numpy()
        half = form == "F16" and numbers.ndim > 1
        file.add_tensor(name, numbers.astype(np.float16) if half else numbers)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def package_writer() -> Writer:
    """The writer of the package gguf, which is of the extra `peers`."""
    from gguf import GGUFWriter

    return GGUFWriter


def describe(file: Any, shape: Shape, form: str) -> None:
    """Add the sizes of the model to `file`."""
    file.add_vocab_size(shape.vocab_size)
    file.add_tokenizer_model("none")
    file.add_context_length(shape.max_length)
    file.add_embedding_length(shape.width)
    file.add_block_count(shape.layers)
    file.add_feed_forward_length(shape.mlp)
    file.add_head_count(shape.heads)
    file.add_head_count_kv(shape.kv_heads)
    file.add_key_length(shape.head_width)
    file.add_value_length(shape.head_width)
    file.add_rope_dimension_count(shape.head_width)
    file.add_rope_freq_base(shape.theta)
    file.add_layer_norm_rms_eps(shape.epsilon)
    file.add_file_type(FILE_TYPES[form])


def gguf_tensors(weights: Weights) -> Iterator[tuple[str, Tensor]]:
    """The weights by their names in GGUF; queries and keys in the order of llama.cpp's rotation."""
    turned = {"attn_q": weights.shape.heads, "attn_k": weights.shape.kv_heads}
    for long_name, tensor in named_tensors(weights).items():
        name = gguf_name(long_name)
        heads = turned.get(name.split(".")[-2])
        yield name, tensor if heads is None else neighbours(tensor, heads)


def gguf_name(name: str) -> str:
    """model.layers.0.self_attn.q_proj.weight -> blk.0.attn_q.weight."""
    for long_name, short_name in NAMES.items():
        name = name.replace(long_name, short_name)
    return name


def neighbours(matrix: Tensor, heads: int) -> Tensor:
    """The rows (heads D, in) of each head in the order 0, D/2, 1, D/2 + 1, ...

    Our rotary embedding turns the pairs (i, i + D/2) of a head, llama.cpp's the pairs (2i, 2i + 1).
    With the same order in queries and keys their products stay what they were.
    """
    halves = matrix.view(heads, 2, -1, matrix.shape[1])
    return halves.transpose(1, 2).reshape(matrix.shape)
