"""The recipes of SmolLM2's draft and head, for a target of a few hundred weights."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from specdec_lib.assets import ASSETS, tokenizer
from specdec_lib.drafters.eagle import Eagle
from specdec_lib.models.cache import HiddenStates
from specdec_lib.models.cut_vocabulary import CutVocabulary
from specdec_lib.models.llama import Llama
from specdec_lib.models.tokenizer import FileTokenizer
from specdec_lib.sampling import Warp
from specdec_lib.training import cut_draft, cut_head, eagle, export, recipes, stages, writing
from specdec_lib.training.corpus import VOCAB_SIZE, LibraryDocument
from specdec_lib.training.recipes import ModelSize

TINY, DRAFT = ModelSize(16, 1, 2, 16), ModelSize(8, 1, 2, 8, kv_heads=1, vocab=100)
HEAD = ModelSize(32, 1, 1, 16)
SMALL = {"PIECE_ROWS": 24, "ROW_LENGTH": 160, "TOP": 8, "SMOLLM2_DRAFT_SIZE": DRAFT}
SMALL |= {"SMOLLM2_HEAD_SIZE": HEAD, "SMOLLM2_HEAD_VOCAB": 50}
CHAT_TOKENIZER = FileTokenizer(tokenizer(), "Q: {{ messages[0].content }} A:")


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Llama:
    """A tiny target, whose first two pieces are in tmp_path."""
    for name, value in SMALL.items():
        monkeypatch.setattr(recipes, name, value)
    documents = [LibraryDocument("heapq.py", "x = 1\n" * 60)]
    monkeypatch.setattr(writing, "library_documents", lambda: documents)
    shutil.copy(ASSETS / "target" / "tokenizer.json", tmp_path)
    export.save_model(stages.new_model(TINY).state_dict(), TINY, tmp_path, tmp_path)
    llama = Llama.from_folder(tmp_path)
    writing.write_pieces(llama, CHAT_TOKENIZER, tmp_path, 2)
    return llama


def test_a_piece_that_is_there_is_kept_and_one_that_is_lost_comes_again(target, tmp_path: Path):
    text, (first, second) = writing.read_pieces(tmp_path, 2), sorted(tmp_path.glob("*.npz"))
    second.unlink()
    (tmp_path / ".1.half.npz").write_bytes(b"cut off")
    before = first.stat().st_mtime_ns
    writing.write_pieces(target, CHAT_TOKENIZER, tmp_path, 2)
    assert first.stat().st_mtime_ns == before
    for found, expected in zip(writing.read_pieces(tmp_path, 2), text, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_draft_loads_and_has_read_every_row_in_each_epoch(
    target, tmp_path: Path, monkeypatch, capsys
):
    text, seen, to = writing.read_pieces(tmp_path, 2), [], tmp_path / "draft"
    real, take = cut_draft.batch, lambda *of: seen.append(real(*of)) or seen[-1]
    monkeypatch.setattr(cut_draft, "batch", take)
    cut_draft.make_draft(target, text, 2.0, tmp_path, to)
    rows = {row.tobytes() for batch in seen for row in batch.tokens}
    assert len(seen) == 6 and rows == {row.tobytes() for row in text.tokens}
    assert len(CutVocabulary.from_folder(to, VOCAB_SIZE, "cpu", torch.float32).d2t) == 100
    assert "48 rows" in capsys.readouterr().out


def test_the_head_loads_and_learned_both_steps_as_the_drafter_takes_them(target, tmp_path: Path):
    text, tokens, hidden = writing.read_pieces(tmp_path, 1), [5, 7, 9, 11], list[HiddenStates]()
    cut_head.make_head(target, text, 1.0, tmp_path, tmp_path / "head")
    drafter = Eagle.from_folder(target, tmp_path / "head")
    assert drafter.head(torch.ones(1, 16)).shape == (1, len(drafter.d2t)) == (1, 50)
    assert drafter.up(torch.ones(1, 32)).any()  # it has learned: the matrix began with zeros
    head = cut_head.TwoStepHead(16, HEAD)
    head.load_state_dict(stages.load_trained(tmp_path, "head-24-1"))
    row = torch.tensor([tokens])
    target.forward(row, target.new_cache(), observe=hidden.append)
    states, embedded = hidden[0].states, F.embedding(row, eagle.unit_scale(target.embedding))
    first, second = head.both_steps(states[:, :-1], embedded[:, 1:])
    drafter.start([tokens], Warp(), 40)
    predicted = drafter.next_states(states[:, :-1], row[:, 1:])
    torch.testing.assert_close(predicted, first.detach(), rtol=0, atol=2e-3)  # saved in 16 bits
    drafter.cache.truncate(2)
    again = drafter.next_states(predicted[:, 1:2], row[:, 3:])
    torch.testing.assert_close(again, second[:, 2:].detach(), rtol=0, atol=2e-3)


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(stages, "SAVE_EVERY", 1)
    recipe, data = recipes.Recipe(4, 2, warmup=2), torch.arange(32).view(2, 16)

    def train(name: str, stop: int) -> dict[str, torch.Tensor]:
        batches = [data + step for step in range(stop)]  # the one after these is missing
        model = stages.new_model(TINY)
        stages.train(model, stages.next_token_loss, recipe, tmp_path, name, batches.__getitem__)
        return stages.load_trained(tmp_path, name)

    with pytest.raises(IndexError):
        train("stopped", 2)
    torch.testing.assert_close(train("stopped", 4), train("whole", 4), rtol=0, atol=0)
