"""Folders that cannot be run exactly: each is refused in a line that says what to do."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from decoders.fake_hub import VOCABULARY, write_model
from decoders.random_models import VOCAB, llama
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

from specdec_lib import cli

Change = Callable[[Path], object]
SIZES = {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
UP = "model.layers.0.mlp.up_proj.weight"


def config(**fields) -> Change:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return change


def text(name: str, content: str) -> Change:
    return lambda folder: (folder / name).write_text(content)


def gone(pattern: str, *left: str) -> Change:
    """Without these files, and with empty ones called `left`."""

    def change(folder: Path) -> None:
        for path in folder.glob(pattern):
            path.unlink()
        for name in left:
            (folder / name).touch()

    return change


def cut(name: str) -> Change:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-100])


def weights(change: Callable[[dict], object]) -> Change:
    def changed(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})

    return changed


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(llama().state_dict(), folder / "pytorch_model.bin")
    cut("pytorch_model.bin")(folder)


def other(auto: type, kind: str, **fields) -> Change:
    """Another architecture with the same tokenizer."""
    made = AutoConfig.for_model(kind, **SIZES | fields)
    return lambda folder: auto.from_config(made).save_pretrained(folder)


GEMMA = {"num_key_value_heads": 1, "head_dim": 8, "use_bidirectional_attention": True}
CONVOLUTION = {"num_hidden_layers": 2, "layer_types": ["conv", "full_attention"]}
CONVOLUTION |= {"num_key_value_heads": 1, "intermediate_size": 24, "conv_L_cache": 3}
BROKEN = {
    **{
        how: (config(quantization_config={"quant_method": how}), f"are quantised ({how})")
        for how in ("fp8", "gptq", "awq", "bitsandbytes", "mxfp4", "compressed-tensors")
    },
    **{
        kind: (other(AutoModelForMaskedLM, kind, intermediate_size=24), "reads the tokens after")
        for kind in ("bert", "roberta", "electra")
    },
    "gemma": (other(AutoModelForCausalLM, "gemma3_text", **GEMMA), "reads the tokens after"),
    "recurrent": (other(AutoModelForCausalLM, "mamba"), "keeps a state that cannot be cut back"),
    "convolution": (
        other(AutoModelForCausalLM, "lfm2", **CONVOLUTION), "keeps a state that cannot be cut back"
    ),
    "cut weights": (cut("model.safetensors"), "may not be whole"),
    "cut weights of PyTorch": (pickled, "may not be whole"),
    "no weights": (gone("*.safetensors"), "model.safetensors"),
    "pointer to the weights": (text("model.safetensors", POINTER), "run `git lfs pull`"),
    "pointer to the tokenizer": (text("tokenizer.json", POINTER), "tokenizer.json is only a point"),
    "empty": (gone("*"), "no config.json"),
    "GGUF alone": (gone("*", "model.Q4_K_M.gguf"), "no config.json, as with GGUF"),
    "adapter": (gone("*", "adapter_config.json"), "this is an adapter"),
    "adapter beside a model": (text("adapter_config.json", "{}"), "this is an adapter"),
    "another width": (config(intermediate_size=16), "(32, 48) in its file and (32, 16)"),
    "another vocabulary": (config(vocab_size=50), "(48, 32) in its file and (50, 32)"),
    "more layers": (config(num_hidden_layers=3), "no weights for model.layers.2."),
    "a tensor short": (weights(lambda held: held.pop(UP)), f"no weights for {UP} (1 missing)"),
    "no head": (config(tie_word_embeddings=False), "no weights for lm_head.weight"),
    "NaN": (weights(lambda held: held[UP].fill_(torch.nan)), "target gave logits that are not fin"),
    "cut config.json": (cut("config.json"), "cannot be loaded"),
    "config.json of another program": (text("config.json", "[]"), "cannot be loaded"),
    "unknown type": (config(model_type="new"), "model type `new`"),
    "no type": (config(model_type=None), "cannot be loaded"),
    "its own code": (config(model_type="new", auto_map={"AutoConfig": "c.C"}), "custom code"),
    "field of another kind": (config(hidden_size="wide"), "cannot be loaded"),
    "no tokenizer": (gone("tokenizer*"), "the tokenizer of"),
    "broken tokenizer": (text("tokenizer.json", "{}"), "the tokenizer of"),
    "token beyond the logits": (
        lambda folder: write_model(folder, llama(), [*VOCABULARY, "<pad>"]), "'<pad>' has the num"
    ),
}  # fmt: skip
DRAFTS = ["cut weights", "fp8", "a tensor short", "bert"]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that can be run."""
    folder = tmp_path_factory.mktemp("loading") / "good"
    write_model(folder, llama())
    return folder


@pytest.mark.parametrize(
    ("kind", "role"), [*((kind, "pair") for kind in BROKEN), *((kind, "draft") for kind in DRAFTS)]
)
def test_a_folder_that_cannot_be_run_is_refused_in_a_line(
    kind: str, role: str, good: Path, tmp_path: Path, capsys, no_network: None
):
    (change, told), broken = BROKEN[kind], tmp_path / "broken"
    shutil.copytree(good, broken)
    change(broken)
    # Both have the token that is beyond the logits; else the two tokenizers would differ.
    folders = dict.fromkeys(("pair", "draft"), broken if "beyond" in kind else good)
    options = [f"--{name}={folder}" for name, folder in (folders | {role: broken}).items()]
    capsys.readouterr()
    assert cli.main(["generate", "a b", "--tokens=9", *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("specdec: ") and said.count("\n") == 1
    assert told in said and (str(broken) in said or kind == "NaN")
