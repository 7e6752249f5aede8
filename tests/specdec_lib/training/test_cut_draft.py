"""The recipe of SmolLM2's draft, for a target of a few hundred weights."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from specdec_lib.assets import ASSETS
from specdec_lib.models.cut_vocabulary import CutVocabulary
from specdec_lib.models.llama import Llama
from specdec_lib.models.tokenizer import FileTokenizer
from specdec_lib.training import cut_draft, export, recipes, stages, writing
from specdec_lib.training.corpus import VOCAB_SIZE, LibraryDocument
from specdec_lib.training.recipes import ModelSize

TINY = ModelSize(width=16, layers=1, heads=2, mlp=16)
SMALL = {"PIECE_ROWS": 6, "ROW_LENGTH": 64, "TOP": 8, "HELD_OUT_ROWS": 2, "SMOLLM2_BATCH": 4}
SMALL |= {"SMOLLM2_DRAFT_SIZE": ModelSize(8, 1, 2, 8, kv_heads=1, vocab=100)}


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Llama:
    for module in (recipes, writing, cut_draft):
        for name, value in SMALL.items():
            monkeypatch.setattr(module, name, value, raising=False)
    documents = [LibraryDocument("heapq.py", "x = 1\n" * 60)]
    monkeypatch.setattr(writing, "library_documents", lambda: documents)
    shutil.copy(ASSETS / "target" / "tokenizer.json", tmp_path)
    export.save_model(stages.new_model(TINY).state_dict(), TINY, tmp_path, tmp_path / "target")
    return Llama.from_folder(tmp_path / "target")


def test_from_the_target_to_a_draft_that_loads(target: Llama, tmp_path: Path):
    work, to = tmp_path / "work", tmp_path / "draft"
    writing.write_pieces(target, FileTokenizer.from_folder(tmp_path / "target"), work, 2)
    text = writing.read_pieces(work, 2)
    cut_draft.make_draft(target, text, 1.0, work, to)
    draft = CutVocabulary.from_folder(to, VOCAB_SIZE, "cpu", torch.float32)
    assert len(draft.d2t) == 100
    found = json.loads((to / "figures.json").read_text())
    assert found["rows"] == 8
    assert sum(kind["positions"] for kind in found["held out"].values()) > 0
