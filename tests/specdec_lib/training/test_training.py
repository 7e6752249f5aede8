"""The training script on models of a few hundred weights, and what it writes."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.eagle import Eagle, load_eagle_head
from specdec_lib.drafters.ngram import Counts
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp
from specdec_lib.training import corpus, eagle, export, recipes, stages
from specdec_lib.training.corpus import LibraryDocument
from specdec_lib.training.recipes import ModelSize, Recipe

TINY, SHORT = ModelSize(width=16, layers=1, heads=2, mlp=16), Recipe(4, batch=2, warmup=2)
DATA = np.random.default_rng(0).integers(0, corpus.VOCAB_SIZE, 5000).astype(np.uint16)
CPU = torch.device("cpu")


def test_the_loss_of_a_draft_ends_as_one_minus_alpha():
    generator = torch.Generator().manual_seed(1)
    p = torch.randn(2, 3, 5, generator=generator).softmax(-1)
    logits = torch.randn(2, 3, 5, generator=generator)
    expected = torch.minimum(p, logits.softmax(-1)).sum(-1).mean()
    assert torch.allclose(stages.distillation(p, logits, early=False), 1 - expected)
    loss = stages.distillation(p, logits, early=True)
    assert torch.allclose(loss, F.cross_entropy(logits.flatten(0, 1), p.flatten(0, 1)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data and a tokenizer, and recipes of a few steps for tiny models."""
    drafts = dict.fromkeys(recipes.DRAFT_SIZES, TINY)
    sizes = {"TARGET_SIZE": TINY, "DRAFT_SIZES": drafts}
    for module, names in (
        (stages, sizes | {"TARGET_RECIPE": SHORT, "DRAFT_RECIPE": SHORT}),
        (export, sizes),
        (eagle, {"EAGLE_SIZE": ModelSize(32, layers=1, heads=1, mlp=8), "EAGLE_RECIPE": SHORT}),
    ):
        for name, value in names.items():
            monkeypatch.setattr(module, name, value)
    made = tmp_path / "build"
    made.mkdir()
    np.save(made / "train.npy", DATA)
    shutil.copy(ASSETS / "target" / "tokenizer.json", made)
    return made


@pytest.mark.slow
def test_from_text_to_models_and_head(folder: Path, tmp_path: Path, monkeypatch):
    """A few steps of everything that `python -m specdec_lib.training` does."""
    lines = "def f(x):\n    return x + 1\n" * 5
    documents = [LibraryDocument(f"{i}.py", f"{lines}y = {i}\n") for i in range(60)]
    monkeypatch.setattr(export, "library_documents", lambda: documents)
    assets = tmp_path / "assets"
    assets.mkdir()
    for train in (stages.train_target, stages.train_drafts, eagle.train_eagle):
        train(folder, CPU)
    export.export_assets(folder, assets)
    target = Llama.from_folder(assets / "target")
    assert load_eagle_head(target, assets / "eagle" / "head.safetensors").up.shape == (16, 32)
    assert Counts.load(assets / "ngrams.npz").unigram.sum() == len(DATA)


@pytest.mark.slow
def test_what_was_trained_is_what_drafts(folder: Path, tmp_path: Path):
    stages.train_target(folder, CPU)
    eagle.train_eagle(folder, CPU)
    export.save_model(stages.load_trained(folder, "target"), TINY, folder, tmp_path / "target")
    head = eagle.EagleHead(TINY.width, eagle.EAGLE_SIZE)
    head.load_state_dict(stages.load_trained(folder, "eagle"))
    target, text = Llama.from_folder(tmp_path / "target"), torch.tensor(DATA[None, :20].astype(int))
    passes = []
    target.forward(text, target.new_cache(), observe=passes.append)
    states, table = passes[0].states, eagle.unit_scale(target.embedding)
    with torch.no_grad():
        expected = head(states[:, :-1], F.embedding(text[:, 1:], table))
    drafter = Eagle(target, eagle.eagle_weights(head.state_dict(), target.embedding))
    drafter.start([[0]], Warp(), 20)
    drafted = drafter.next_states(states[:, :-1], text[:, 1:])
    torch.testing.assert_close(drafted, expected, rtol=0, atol=1e-5)


def test_the_corpus_is_the_standard_library_and_its_split_is_by_name():
    documents = corpus.library_documents()
    names = {document.name: document for document in documents}
    assert {"heapq.py", "json/decoder.py", "topics/lambda.txt"} <= names.keys()
    assert not [name for name in names if "site-packages" in name or name.startswith("encodings")]
    assert 0.03 < sum(document.held_out for document in documents) / len(documents) < 0.07
    assert LibraryDocument("heapq.py", "other").held_out == names["heapq.py"].held_out


def test_the_frozen_text_names_the_lines_that_training_has_too(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(
        LibraryDocument, "held_out", property(lambda self: self.name.startswith("out"))
    )
    documents = [
        LibraryDocument("in.py", "import os\n\nx = 1\n"),
        LibraryDocument("out_test.py", "late"),
        LibraryDocument("out.py", "import os\ny = 2\n"),
    ]
    export.save_held_out(documents, tmp_path / "held_out.jsonl")
    entries = [json.loads(line) for line in (tmp_path / "held_out.jsonl").open()]
    assert [entry["name"] for entry in entries] == ["out.py", "out_test.py"]  # tests last
    assert [entry["seen"] for entry in entries] == [[0, 2], []]
