"""The training script on models of a few hundred weights: seeded, resumable, and what it writes."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.eagle import Eagle, load_head
from specdec_lib.drafters.medusa import load_heads
from specdec_lib.drafters.ngram import Counts
from specdec_lib.lessons.common import recorded
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp
from specdec_lib.training import (
    corpus,
    export,
    head_assets,
    heads,
    loop,
    recipes,
    recording,
    stages,
    tokens,
)
from specdec_lib.training.corpus import Document
from specdec_lib.training.recipes import ModelSize, Recipe

TINY = ModelSize(width=16, layers=1, heads=2, mlp=16)
DATA = np.random.default_rng(0).integers(0, tokens.VOCAB_SIZE, 5000).astype(np.uint16)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[None]:
    """A process group of this process alone."""
    meeting = (tmp_path / "meeting").as_uri()
    dist.init_process_group("gloo", init_method=meeting, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def trained(folder: Path, steps: int = 4) -> dict[str, torch.Tensor]:
    """The weights after `steps`, going on from what `folder` holds."""
    model = stages.new_model(TINY)
    loop.train(model, stages.next_token_loss, Recipe(steps, batch=2, warmup=2), DATA, folder)
    return model.state_dict()


def test_the_same_seed_gives_the_same_weights(alone: None, tmp_path: Path):
    one, two = trained(tmp_path / "one"), trained(tmp_path / "two")
    assert all(torch.equal(one[name], two[name]) for name in one)


class Stop(Exception):
    """Somebody pressed Ctrl+C."""


def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(
    alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(loop, "CHECKPOINT_EVERY", 2)
    expected = trained(tmp_path / "whole")

    def stops(model, inputs, share):
        if share == 0.75:
            raise Stop
        return stages.next_token_loss(model, inputs, share)

    model = stages.new_model(TINY)
    with pytest.raises(Stop):
        loop.train(model, stops, Recipe(4, batch=2, warmup=2), DATA, tmp_path / "broken")
    resumed = trained(tmp_path / "broken")
    assert all(torch.equal(resumed[name], expected[name]) for name in expected)
    for folder in ("whole", "broken"):
        log = (tmp_path / folder / "log.jsonl").read_text().splitlines()
        assert [json.loads(line)["step"] for line in log] == [1, 2, 3, 4]


def test_the_processes_share_the_windows_of_one(monkeypatch: pytest.MonkeyPatch):
    def windows(rank: int, size: int) -> np.ndarray:
        monkeypatch.setattr(dist, "get_rank", lambda: rank)
        monkeypatch.setattr(dist, "get_world_size", lambda: size)
        return loop.windows(DATA, 4, step=7)

    whole = windows(0, 1)
    assert whole.shape == (4, recipes.CONTEXT)
    assert np.array_equal(whole[0::2], windows(0, 2)) and np.array_equal(whole[1::2], windows(1, 2))


def test_the_rate_rises_stays_and_falls_to_nothing():
    recipe = Recipe(steps=100, batch=1, warmup=10, decay=0.4)
    assert [recipe.rate(step) for step in (0, 9, 50, 60, 80)] == [0.1, 1.0, 1.0, 1.0, 0.5]
    assert 0 < recipe.rate(99) < 0.03


def test_the_loss_of_a_draft_ends_as_one_minus_alpha():
    generator = torch.Generator().manual_seed(1)
    p = torch.randn(2, 3, 5, generator=generator).softmax(-1)
    logits = torch.randn(2, 3, 5, generator=generator)
    expected = torch.minimum(p, logits.softmax(-1)).sum(-1).mean()
    loss, alpha = stages.distillation(p, logits, early=False)
    assert torch.allclose(alpha, expected) and torch.allclose(loss, 1 - expected)
    loss, alpha = stages.distillation(p, logits, early=True)
    assert torch.allclose(alpha, expected)
    assert torch.allclose(loss, F.cross_entropy(logits.flatten(0, 1), p.flatten(0, 1)))


@pytest.fixture
def tiny_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a target of random weights, and recipes of a few steps for the heads on it."""
    recipe = Recipe(4, batch=2, warmup=2)
    monkeypatch.setattr(recipes, "TARGET", TINY)
    monkeypatch.setattr(recipes, "HEADS_RECIPE", recipe)
    monkeypatch.setattr(head_assets, "HEADS_RECIPE", recipe)
    monkeypatch.setattr(heads, "EAGLE", ModelSize(width=32, layers=1, heads=1, mlp=8))
    folder = tmp_path / "build"
    (folder / "target").mkdir(parents=True)
    torch.save({"model": stages.new_model(TINY).state_dict()}, folder / "target" / "last.pt")
    np.save(folder / "train.npy", DATA)
    return folder


def heads_trained(folder: Path) -> dict[str, torch.Tensor]:
    """The weights that the stage leaves in `folder`."""
    heads.train_heads(folder, torch.device("cpu"))
    return torch.load(folder / "heads" / "last.pt", weights_only=True)["model"]


def test_the_heads_are_trained(alone: None, tiny_target: Path):
    weights = heads_trained(tiny_target)
    log = (tiny_target / "heads" / "log.jsonl").read_text().splitlines()
    shown = ["step", "loss", "medusa 1", "medusa 2", "medusa 3", "eagle", "distance"]
    assert list(json.loads(log[-1])) == shown
    assert all(weights[name].any() for name in ("medusa.up.2.weight", "eagle.up.weight"))


@pytest.fixture
def assets(tiny_target: Path, tmp_path: Path) -> Path:
    """Assets with the tiny target and a piece of the frozen text."""
    shutil.copy(ASSETS / "target" / "tokenizer.json", tiny_target)
    trained = torch.load(tiny_target / "target" / "last.pt", weights_only=True)["model"]
    export.save_model(trained, TINY, tiny_target, tmp_path / "assets" / "target")
    entry = {"name": "a.py", "text": "def f(x):\n    return x + 1\n" * 5, "seen": [0]}
    (tmp_path / "assets" / "held_out.jsonl").write_text(json.dumps(entry) + "\n")
    return tmp_path / "assets"


def test_what_was_trained_is_what_drafts(alone: None, tiny_target: Path, assets: Path):
    trained = heads.Drafters(TINY.width)
    trained.load_state_dict(heads_trained(tiny_target))
    target, text = Llama.from_folder(assets / "target"), torch.tensor(DATA[None, :20].astype(int))
    passes = []
    target.forward(text, target.new_cache(), observe=passes.append)
    states, table = passes[0].states, heads.scaled_table(target.embedding)
    with torch.no_grad():
        *blocks, eagle = trained(states, F.embedding(text, table))
    drafted = heads.medusa_weights(trained.state_dict())(states[0], 3)
    for i, block in blocks:
        torch.testing.assert_close(drafted[:-i, i - 1], block[0], rtol=0, atol=1e-5)
    drafter = Eagle(target, heads.eagle_weights(trained.state_dict(), target.embedding))
    drafter.start([[0]], Warp(), 20)
    drafted = drafter.next_states(states[:, :-1], text[:, 1:])
    torch.testing.assert_close(drafted, eagle[1], rtol=0, atol=1e-5)


def test_the_heads_are_exported_with_cards(alone: None, tiny_target: Path, assets: Path):
    heads_trained(tiny_target)
    documents = [Document("a.py", "x = 1\n")]
    head_assets.export_heads(tiny_target, assets, documents)
    target = Llama.from_folder(assets / "target")
    assert load_heads(target, assets / "medusa" / "heads.safetensors").down.shape == (3, 256, 16)
    assert load_head(target, assets / "eagle" / "head.safetensors").up.shape == (16, 32)
    for name in ("medusa", "eagle"):
        card = (assets / name / "README.md").read_text()
        assert f"# stdlib-{name}\n" in card and "| training | 4 steps of 1,024 tokens" in card
        assert f"digest {corpus.digest(documents)} |" in card
        assert "| acceptance of token 3 by the target, temperature 1 | 0." in card
        assert "{" not in card


def test_the_corpus_is_the_standard_library_and_its_split_is_by_name():
    documents = corpus.documents()
    names = {document.name: document for document in documents}
    assert {"heapq.py", "json/decoder.py", "topics/lambda.txt"} <= names.keys()
    assert not [name for name in names if "site-packages" in name or name.startswith("encodings")]
    held_out = sum(document.held_out for document in documents)
    assert 0.03 < held_out / len(documents) < 0.07
    assert Document("heapq.py", "other").held_out == names["heapq.py"].held_out
    assert names["heapq.py"].is_test is False


def test_the_frozen_text_names_the_lines_that_training_has_too(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(Document, "held_out", property(lambda self: self.name.startswith("out")))
    documents = [
        Document("in.py", "import os\n\nx = 1\n"),
        Document("out_test.py", "late"),
        Document("out.py", "import os\ny = 2\n"),
    ]
    export.save_held_out(documents, tmp_path / "held_out.jsonl")
    entries = [json.loads(line) for line in (tmp_path / "held_out.jsonl").open()]
    assert [entry["name"] for entry in entries] == ["out.py", "out_test.py"]  # tests last
    assert [entry["seen"] for entry in entries] == [[0, 2], []]


def test_counts_are_those_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(export, "LEAST", 2)
    monkeypatch.setattr(export, "BIGRAMS", 1)
    text = np.array([5, 6, 5, 6, 5, 7, 5, 7, 5, 7, 9], dtype=np.uint16)
    export.save_counts(text, tmp_path / "ngrams.npz")
    counts = Counts.load(tmp_path / "ngrams.npz")
    assert counts.unigram[[5, 6, 7, 9]].tolist() == [5, 2, 3, 1]
    # Behind 5 stand 6 twice and 7 three times: only the more frequent one is kept.
    assert counts.bigram.tolist() == [[5, 7, 3], [6, 5, 2], [7, 5, 2]]
    assert counts.trigram.tolist() == [[5, 6, 5, 2], [5, 7, 5, 2], [7, 5, 7, 2]]


def test_the_tokenizer_gives_every_text_back():
    texts = ["def f(x):\n    return x + 1\n"] * 3 + ["naïve — 日本"]
    tokenizer = tokens.train_tokenizer(texts)
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.token_to_id(tokens.END) == 0
    encoded = tokens.encode(tokenizer, [Document("a", texts[0]), Document("b", texts[3])])
    assert encoded.dtype == np.uint16 and (encoded == 0).sum() == 2 and encoded[0] == 0


def test_the_recording_is_written_where_the_lessons_read_it():
    assert recording.PATH == recorded.PATH
