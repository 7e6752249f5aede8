"""The training script on models of a few hundred weights: seeded, resumable, and what it writes."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F

from specdec_lib.drafters.ngram import Counts
from specdec_lib.training import corpus, export, loop, recipes, stages, tokens
from specdec_lib.training.corpus import Document
from specdec_lib.training.recipes import Recipe, Shape

TINY = Shape(width=16, layers=1, heads=2, mlp=16)
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
    found = trained(tmp_path / "broken")
    assert all(torch.equal(found[name], expected[name]) for name in expected)
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
    loss, alpha = stages.distillation(p, logits, share=0.9)
    assert torch.allclose(alpha, expected) and torch.allclose(loss, 1 - expected)
    loss, alpha = stages.distillation(p, logits, share=0.1)
    assert torch.allclose(alpha, expected)
    assert torch.allclose(loss, F.cross_entropy(logits.flatten(0, 1), p.flatten(0, 1)))


def test_the_drafts_are_at_most_a_16th_an_8th_and_a_4th_of_the_target():
    def count(shape: Shape) -> int:
        return sum(weight.numel() for weight in stages.new_model(shape).parameters())

    whole = count(recipes.TARGET)
    shares = [count(shape) / whole for shape in recipes.DRAFTS.values()]
    assert all(share <= most for share, most in zip(shares, (1 / 16, 1 / 8, 1 / 4), strict=True))


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
