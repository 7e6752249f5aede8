"""A Llama in a GGUF, with byte-level tokens and a tied output matrix, as a Hugging Face folder."""

import json
from pathlib import Path

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize
from safetensors.numpy import save
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from specdec_lib.progress import progress

# Hugging Face's names of weights, and what its JSON files hold, beside the names in a GGUF.
NAMES = json.loads(Path(__file__).with_name("gguf_names.json").read_text(encoding="utf-8"))
# The matrices whose rows a GGUF keeps in another order, and the field with their heads.
ROTATED = {"attn_q": "llama.attention.head_count", "attn_k": "llama.attention.head_count_kv"}
CONTROL = 3  # the token_type of a token that stands for no text


def write_folder(gguf_file: Path, folder: Path) -> None:
    """Write weights, configurations and tokenizer of `gguf_file` to `folder`. Raises OSError."""
    reader = GGUFReader(gguf_file)
    fields = read_fields(reader)
    for name, file in NAMES["files"].items():
        found = {key: fields[theirs] for key, theirs in file["found"].items()}
        (folder / name).write_text(json.dumps(file["fixed"] | found, indent=1), encoding="utf-8")
    (folder / "tokenizer.json").write_text(tokenizer(fields).to_str(), encoding="utf-8")
    # Not save_file: its errors are no OSError, and nobody else may read its file.
    (folder / "model.safetensors").write_bytes(save(read_weights(reader, fields), {"format": "pt"}))


def read_fields(reader: GGUFReader) -> dict:
    """The fields of a GGUF, and those that Hugging Face has in another form."""
    fields = {name: field.contents() for name, field in reader.fields.items()}
    # A GGUF has 1e-05 in float32, which is 9.999999747378752e-06.
    fields["epsilon"] = float(f"{fields['llama.attention.layer_norm_rms_epsilon']:.6g}")
    fields["rope"] = {"rope_type": "default", "rope_theta": fields["llama.rope.freq_base"]}
    for name in ("bos", "eos", "padding", "unknown"):
        number = fields[f"tokenizer.ggml.{name}_token_id"]
        fields[f"{name}_token"] = fields["tokenizer.ggml.tokens"][number]
    return fields


def read_weights(reader: GGUFReader, fields: dict) -> dict[str, np.ndarray]:
    """The float16 matrices (out, in) and norms (width,), by transformers' names."""
    weights = {}
    for tensor in progress(reader.tensors, "converting"):
        weight = dequantize(tensor.data, tensor.tensor_type).reshape(tensor.shape[::-1])
        *layer, part, _ = tensor.name.split(".")  # blk.0.attn_q.weight, output_norm.weight
        if part in ROTATED:
            # The rotary embedding turns pairs of rows. A GGUF has the two of a pair side by side,
            # transformers has the first of all pairs of a head before the second of all.
            pairs = weight.reshape(fields[ROTATED[part]], -1, 2, weight.shape[-1])
            weight = pairs.swapaxes(1, 2).reshape(weight.shape)
        path = ["model", *(["layers", layer[1]] if layer else []), NAMES["weights"][part]]
        weights[".".join([*path, "weight"])] = weight.astype(np.float16)
    return weights


def tokenizer(fields: dict) -> Tokenizer:
    """The byte-level tokenizer. Digits are set apart first, each alone, as SmolLM2 learned it.

    transformers 5.23 reads another one from the GGUF: it has no rule for `smollm` and takes
    GPT-2's, which joins a space to the digits after it.
    """
    texts = fields["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    byte_level = Tokenizer(models.BPE({text: number for number, text in enumerate(texts)}, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    bytes_of_text = pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_level.pre_tokenizer = pre_tokenizers.Sequence([digits, bytes_of_text])
    byte_level.decoder = decoders.ByteLevel()
    kinds = zip(texts, fields["tokenizer.ggml.token_type"], strict=True)
    special = [AddedToken(text, normalized=False) for text, kind in kinds if kind == CONTROL]
    byte_level.add_special_tokens(special)
    return byte_level
