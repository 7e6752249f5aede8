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
from transformers import (
    BertConfig,
    BertForMaskedLM,
    Gemma3TextConfig,
    MambaConfig,
    MambaForCausalLM,
    RobertaConfig,
    RobertaForMaskedLM,
)
from transformers.models.gemma3.modeling_gemma3 import Gemma3ForCausalLM

from specdec_lib import cli

Change = Callable[[Path], object]
SIZES = {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


def config(**fields) -> Change:
    """Sets fields of config.json."""

    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return change


def file(name: str, text: str | None) -> Change:
    """Writes a file, or without a text deletes it."""
    return lambda folder: (folder / name).unlink() if text is None else (
        (folder / name).write_text(text)
    )  # fmt: skip


def tensors(change: Callable[[dict], object]) -> Change:
    """Changes the weights."""

    def changed(folder: Path) -> None:
        path = folder / "model.safetensors"
        weights = load_file(path)
        change(weights)
        save_file(weights, path, {"format": "pt"})

    return changed


def other(kind: type, config) -> Change:
    """Another model with the same tokenizer."""
    return lambda folder: kind(config).save_pretrained(folder)


def cut(name: str) -> Change:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-100])


def only(*names: str) -> Change:
    """A folder with nothing but these files."""

    def change(folder: Path) -> None:
        for path in folder.iterdir():
            path.unlink()
        for name in names:
            (folder / name).write_text("{}")

    return change


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(llama().state_dict(), folder / "pytorch_model.bin")
    cut("pytorch_model.bin")(folder)


def quantised(how: str, **more) -> Change:
    return config(quantization_config={"quant_method": how, **more})


NORM, UP = "model.norm.weight", "model.layers.0.mlp.up_proj.weight"
ENCODER = SIZES | {"intermediate_size": 24}
KINDS: dict[str, tuple[Change, str]] = {
    "cut weights": (cut("model.safetensors"), "not be whole"),
    "cut weights of PyTorch": (pickled, "not be whole"),
    "no weights": (file("model.safetensors", None), "model.safetensors"),
    "pointer to the weights": (file("model.safetensors", POINTER), "run `git lfs pull`"),
    "pointer to the tokenizer": (file("tokenizer.json", POINTER), "tokenizer.json is only a pointer"),
    "empty": (only(), "no config.json"),
    "GGUF alone": (only("model.Q4_K_M.gguf"), "no config.json, as with GGUF"),
    "adapter": (only("adapter_config.json", "adapter_model.safetensors"), "this is an adapter"),
    "adapter beside a model": (file("adapter_config.json", "{}"), "this is an adapter"),
    "FP8": (quantised("fp8", activation_scheme="dynamic"), "quantised (fp8)"),
    "GPTQ": (quantised("gptq", bits=4, group_size=128), "quantised (gptq)"),
    "AWQ": (quantised("awq", bits=4, zero_point=True), "quantised (awq)"),
    "bitsandbytes": (quantised("bitsandbytes", load_in_4bit=True), "quantised (bitsandbytes)"),
    "MXFP4": (quantised("mxfp4"), "quantised (mxfp4)"),
    "another width": (config(intermediate_size=16), "(32, 48) in its file and (32, 16)"),
    "another vocabulary": (config(vocab_size=50), "(48, 32) in its file and (50, 32)"),
    "more layers": (config(num_hidden_layers=3), "no weights for model.layers.2."),
    "a tensor short": (tensors(lambda w: w.pop(UP)), f"no weights for {UP} (1 missing)"),
    "no head": (config(tie_word_embeddings=False), "no weights for lm_head.weight"),
    "NaN": (tensors(lambda w: w[NORM].fill_(torch.nan)), "target gave logits that are not finite"),
    "BERT": (other(BertForMaskedLM, BertConfig(**ENCODER)), "reads the tokens after"),
    "RoBERTa": (other(RobertaForMaskedLM, RobertaConfig(**ENCODER)), "reads the tokens after"),
    "bidirectional Gemma": (
        other(Gemma3ForCausalLM, Gemma3TextConfig(
            **ENCODER, head_dim=8, num_key_value_heads=1, use_bidirectional_attention=True
        )),
        "reads the tokens after",
    ),
    "recurrent": (
        other(MambaForCausalLM, MambaConfig(vocab_size=VOCAB, hidden_size=16, num_hidden_layers=1)),
        "keeps a state",
    ),
    "config.json cut": (cut("config.json"), "cannot be loaded"),
    "config.json of another program": (file("config.json", "[]"), "cannot be loaded"),
    "unknown type": (config(model_type="new"), "model type `new`"),
    "no type": (config(model_type=None), "cannot be loaded"),
    "code of its own": (
        config(model_type="new", auto_map={"AutoConfig": "c.C", "AutoModelForCausalLM": "m.M"}),
        "custom code",
    ),
    "field of another kind": (config(hidden_size="wide"), "cannot be loaded"),
    "no tokenizer": (
        lambda folder: [path.unlink() for path in folder.glob("tokenizer*")], "the tokenizer of"
    ),
    "broken tokenizer": (file("tokenizer.json", "{}"), "the tokenizer of"),
    "token beyond the logits": (
        lambda folder: write_model(folder, llama(), [*VOCABULARY, "<pad>"]),
        "'<pad>' has the number 48",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that can be run."""
    folder = tmp_path_factory.mktemp("loading") / "good"
    write_model(folder, llama())
    return folder


def said_of(folders: dict[str, Path], capsys: pytest.CaptureFixture) -> str:
    """What `specdec generate` says as it refuses a pair."""
    capsys.readouterr()
    options = ["--tokens=9", *(f"--{role}={folder}" for role, folder in folders.items())]
    assert cli.main(["generate", "a b", *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("specdec: ") and said.count("\n") == 1
    return said


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_cannot_be_run_is_refused_in_a_line(
    kind: str, good: Path, tmp_path: Path, capsys, no_network: None
):
    change, told = KINDS[kind]
    broken = shutil.copytree(good, tmp_path / "broken")
    change(broken)
    other = broken if "beyond" in kind else good  # else the two tokenizers differ
    said = said_of({"pair": broken, "draft": other}, capsys)
    assert told in said and (str(broken) in said or kind == "NaN")


@pytest.mark.parametrize("kind", ["cut weights", "FP8", "a tensor short", "BERT"])
def test_a_draft_is_looked_at_as_a_target_is(
    kind: str, good: Path, tmp_path: Path, capsys, no_network: None
):
    change, told = KINDS[kind]
    broken = shutil.copytree(good, tmp_path / "broken")
    change(broken)
    said = said_of({"pair": good, "draft": broken}, capsys)
    assert told in said and str(broken) in said
