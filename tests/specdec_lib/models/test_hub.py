"""What is fetched from the hub: asked for first, pinned, and explained where it fails."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from decoders.fake_hub import Hub, write_gpt2
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RevisionNotFoundError

from specdec_lib.models import hub
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.hf import Causal
from specdec_lib.models.pairs import load_pair

ORGS = ("org/big", "org/small")


def test_a_published_pair_is_fetched_once_and_loaded(fake_hub: Hub, capsys):
    pair = load_pair("tiny", device="cpu", dtype=torch.float64, yes=True)
    assert isinstance(pair.target, Causal) and isinstance(pair.draft, Causal)
    assert (pair.eos_id, pair.prompt("b a")) == (0, [2, 1, 0])
    assert pair.label.startswith("org/big with org/small: a ")
    assert fake_hub.weights_fetched() == ["org/big", "org/small"]
    assert all("1" * 40 in line for line in fake_hub.log if "org/big" in line)
    fake_hub.log.clear()
    load_pair("tiny", device="cpu", yes=True)
    assert fake_hub.log == []


def test_the_sizes_are_printed_before_any_weights_come(fake_hub: Hub, capsys, monkeypatch):
    printed: list[str] = []

    def watch(repository: str, revision: str, allow_patterns: list[str]) -> str:
        if "model.safetensors" in allow_patterns:
            printed.append(capsys.readouterr().out)
        return fake_hub.snapshot_download(repository, revision, allow_patterns)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", watch)
    fake_hub.unit = 10**6
    load_pair("tiny", device="cpu", yes=True)
    for name, commit in {"org/big": "1" * 40, "org/small": "2" * 40}.items():
        kilobytes = (fake_hub.root / name / "model.safetensors").stat().st_size / 1000
        assert f"{name} at {commit}: {kilobytes:.2f} GB to download" in printed[0]


def test_the_student_is_asked_once_with_the_sum_and_the_licences(
    fake_hub: Hub, questions: list[str], capsys
):
    fake_hub.unit = 10**6
    pair = load_pair("tiny", device="cpu")
    sizes = [(fake_hub.root / name / "model.safetensors").stat().st_size for name in ORGS]
    assert questions == [f"Fetch {sum(sizes) / 1000:.1f} GB in all? [y/N] "]
    assert capsys.readouterr().out.count("licence: mit") == 2
    assert pair.target.vocab_size == 7
    load_pair("tiny", device="cpu")  # what is there is not asked for
    assert len(questions) == 1


@pytest.mark.parametrize("answer", ["", "n", "what?"])
def test_without_a_yes_nothing_is_fetched(fake_hub: Hub, questions, monkeypatch, answer: str):
    monkeypatch.setattr("builtins.input", lambda question: answer)
    with pytest.raises(PairError, match="GB were not fetched: you did not agree"):
        load_pair("tiny", device="cpu")
    assert fake_hub.weights_fetched() == []


@pytest.mark.parametrize("error", [EOFError, NotImplementedError], ids=["closed", "nbconvert"])
def test_where_nobody_can_be_asked_the_way_to_agree_is_said(
    fake_hub: Hub, questions, monkeypatch, error: type[Exception]
):
    def nobody(question: str) -> str:
        raise error

    monkeypatch.setattr("builtins.input", nobody)
    with pytest.raises(PairError, match="give --yes on the command line or yes=True in Python"):
        load_pair("tiny", device="cpu")
    monkeypatch.setattr(hub.sys, "stdin", None)
    monkeypatch.setitem(hub.sys.modules, "ipykernel", object())  # imported, and no kernel runs
    with pytest.raises(PairError, match="nobody is here to agree"):
        load_pair("tiny", device="cpu")


def test_a_full_disk_is_told_before_anybody_is_asked(fake_hub: Hub, questions, monkeypatch):
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(PairError, match="do not fit on the disk: 0.0 GB are free in .* HF_HOME"):
        load_pair("tiny", device="cpu")
    assert questions == [] and fake_hub.weights_fetched() == []


def test_the_size_leaves_out_what_is_there(fake_hub: Hub):
    fake_hub.snapshot_download("org/big", "1" * 40, ["model.safetensors"])
    files = {"model.safetensors": 700, "config.json": 30}
    assert hub.Download("org/big", "1" * 40, files).bytes == 30
    assert hub.Download("org/small", "2" * 40, files).bytes == 730


def test_an_unpinned_repository_is_pinned_at_first_use(fake_hub: Hub, capsys):
    write_gpt2(fake_hub.root / "org/x", 4, columns=7)
    load_pair("tiny", "x", device="cpu", yes=True)
    assert f"org/x is pinned at {'a' * 40} from now on" in capsys.readouterr().out
    kept = json.loads((Path(constants.HF_HOME) / hub.PINS).read_text())
    assert kept == {"org/x": "a" * 40}
    shutil.rmtree(fake_hub.cache)
    fake_hub.commit = "b" * 40  # the repository moves on, and we do not
    fake_hub.log.clear()
    load_pair("tiny", "x", device="cpu", yes=True)
    assert fake_hub.log and not [line for line in fake_hub.log if "b" * 40 in line]
    assert f"info org/x {'a' * 40}" in fake_hub.log


def test_the_table_s_commit_comes_before_one_kept_earlier(fake_hub: Hub):
    hub.pin("org/big", "c" * 40)
    assert hub.revision_of("org/big") == "1" * 40


def test_which_files_are_weights():
    both = ["model.safetensors", "pytorch_model.bin", "config.json", "onnx/model.safetensors"]
    assert hub.weight_names(both) == ["model.safetensors"]
    old = ["pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json", "tf_model.h5"]
    assert hub.weight_names(old) == old[:2]
    names = [*both, "vocab.txt", "tokenizer.model", "original/params.json"]
    assert hub.text_names(names) == ["config.json", "vocab.txt", "tokenizer.model"]


def test_weights_are_whole_only_with_every_part(tmp_path: Path):
    parts = {"layer.0": "model-1.safetensors", "layer.1": "model-2.safetensors"}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": parts}))
    (tmp_path / "model-1.safetensors").touch()
    assert not hub.has_weights(tmp_path)
    (tmp_path / "model-2.safetensors").touch()
    assert hub.has_weights(tmp_path)


def http_error(kind: type[HfHubHTTPError]) -> HfHubHTTPError:
    return kind("403 or 404", response=SimpleNamespace(headers={}, request=None))


@pytest.mark.parametrize(
    "failure, message",
    [
        (http_error(GatedRepoError), "org/big is gated: accept the licence .* `hf auth login`"),
        (http_error(RevisionNotFoundError), "the hub has no org/big at 1111"),
        (ConnectionError("no route"), "cannot be fetched .ConnectionError: no route."),
    ],
    ids=["gated", "no such revision", "no connection"],
)
def test_what_the_hub_refuses_is_explained(fake_hub: Hub, failure: Exception, message: str):
    fake_hub.failing = failure
    with pytest.raises(PairError, match=message):
        load_pair("tiny", device="cpu", yes=True)


def test_a_gate_that_closes_at_the_download(fake_hub: Hub, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_, **__) -> None:
        raise http_error(GatedRepoError)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(PairError, match="org/big is gated"):
        load_pair("tiny", device="cpu", yes=True)


def test_offline_by_wish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        PairError, match="SmolLM2-1.7B is not on this machine .* .HF_HUB_OFFLINE is set"
    ):
        load_pair("smollm2", device="cpu")


def test_short_memory_is_told_before_the_weights_come(fake_hub: Hub, monkeypatch):
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: 1000)
    with pytest.raises(
        PairError, match="the weights take .* as float32, and 0.0 GB are free on cpu"
    ):
        load_pair("tiny", device="cpu", yes=True)
    assert fake_hub.weights_fetched() == []
