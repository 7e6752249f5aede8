"""Folders that cannot be run exactly: each is refused in a line that says what to do."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from data_files import table
from decoders.fake_hub import VOCABULARY, write_model
from decoders.random_models import VOCAB, llama
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

from specdec_lib import cli

Change = Callable[[Path], object]
SIZES = {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
UP = "model.layers.0.mlp.up_proj.weight"


def config(fields: dict) -> Change:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return change


def write(file: list[str]) -> Change:
    name, content = file
    return lambda folder: (folder / name).write_text(content)


def gone(pattern: str) -> Change:
    return lambda folder: [path.unlink() for path in folder.glob(pattern)]


def keep(names: list[str]) -> Change:
    return lambda folder: [gone("*")(folder), *((folder / name).touch() for name in names)]


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


def other(auto: type, kind: str, fields: dict) -> Change:
    """Another architecture with the same tokenizer."""
    made = AutoConfig.for_model(kind, **SIZES | fields)
    return lambda folder: auto.from_config(made).save_pretrained(folder)


CHANGES: dict[str, Callable[..., Change]] = {
    **{"config": config, "write": write, "gone": gone, "keep": keep, "cut": cut},
    "masked": lambda given: other(AutoModelForMaskedLM, *given),
    "causal": lambda given: other(AutoModelForCausalLM, *given),
}


def row_of(told: str, **changed: object) -> tuple[Change, str]:
    """A row of the table: its one change, and what is told."""
    ((how, given),) = changed.items()
    return CHANGES[how](given), told


BROKEN = {name: row_of(**row) for name, row in table("broken_folders.toml").items()} | {
    "cut weights of PyTorch": (pickled, "may not be whole"),
    "a tensor short": (weights(lambda held: held.pop(UP)), f"no weights for {UP} (1 missing)"),
    "NaN": (weights(lambda held: held[UP].fill_(torch.nan)), "target gave logits that are not fin"),
    "no type": (config({"model_type": None}), "cannot be loaded"),
    "token beyond the logits": (
        lambda folder: write_model(folder, llama(), [*VOCABULARY, "<pad>"]),
        "'<pad>' has the num",
    ),
}
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
