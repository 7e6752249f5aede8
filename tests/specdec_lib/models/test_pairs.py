"""Pairs by name: the built-in one, the table of the published ones, and what is refused."""

import pytest
import torch
from data_files import table

from specdec_lib.assets import ASSETS
from specdec_lib.models.catalogue import PUBLISHED, PairError
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import load_pair


def test_built_in_pair_needs_no_network(no_network: None):
    pair = load_pair(device="cpu")
    assert isinstance(pair.target, Llama) and isinstance(pair.draft, Llama)
    assert (pair.name, pair.eos_id, pair.target.dtype) == ("stdlib", {0}, torch.float32)
    assert pair.tokenizer.decode(pair.start("def f(x):")) == "def f(x):"
    assert pair.label == "the built-in pair with its large draft, 4:1 by parameters"


def test_draft_and_dtype_are_chosen():
    pair = load_pair(draft="small", device="cpu", dtype=torch.float64)
    assert pair.draft.shape == Llama.from_folder(ASSETS / "small").shape
    assert pair.draft.dtype == pair.target.dtype == torch.float64


def test_draft_on_a_cpu_runs_in_float32_at_least():
    pair = load_pair(device="cpu", dtype=torch.bfloat16)
    assert (pair.target.dtype, pair.draft.dtype) == (torch.bfloat16, torch.float32)


def test_scaled_target_says_what_it_is():
    pair = load_pair(draft="small", target_cost="40m", device="cpu")
    assert pair.target.shape.layers == 5
    assert "17:1 by parameters" in pair.label and "cost of 78:1" in pair.label


@pytest.mark.parametrize("row", table("commands.toml")["pair"])
def test_unknown_names_are_refused(row: dict, no_network: None):
    with pytest.raises(PairError, match=row["said"]):
        load_pair(**row["asked"], device="cpu")


def test_target_that_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: 10**9)
    with pytest.raises(PairError, match="take 27.5 GB in float32, and 1.0 GB are free on cpu"):
        load_pair(target_cost="7b", device="cpu")
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: None)
    load_pair(device="cpu")


def test_every_published_model_has_a_commit_a_size_and_a_shape():
    repositories = PUBLISHED["repositories"]
    named = {entry.get("tokenizer") for entry in PUBLISHED["pairs"].values()} - {None}
    for name in named:
        assert repositories[name]["gigabytes"] == 0
    for entry in PUBLISHED["pairs"].values():
        models = {entry["target"], *entry["drafts"].values()}
        named |= models
        assert all(repositories[each]["shape"]["parameters"] > 1e7 for each in models)
    assert named == set(repositories)
    assert all(len(each["revision"]) == 40 for each in repositories.values())
