"""Hugging Face `generate` on the same weights: what is counted, and the same text."""

from pathlib import Path

import pytest
import torch
from decoders.random_models import llama, t5

from specdec_lib.measure import hugging
from specdec_lib.measure.core import models
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    llama().save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.parametrize("k", [2, None])
def test_assisted_generation_gives_the_same_text_in_fewer_passes(folder: Path, k: int | None):
    target = hugging.Counted.of_folder(folder, torch.float64)
    draft = hugging.Counted.of_folder(folder, torch.float64)
    prompt = [5, 9, 2, 7]
    plain = hugging.generate(target, prompt, new_tokens=9)
    assert len(plain.tokens[0]) == plain.target_passes == 9
    assisted = hugging.generate(target, prompt, 9, draft=draft, k=k)
    assert assisted.tokens == plain.tokens
    # The draft is the target: everything is accepted.
    assert assisted.target_passes == 9 // (k + 1) if k else assisted.target_passes <= 5


def test_the_scaled_target_is_the_same_in_transformers(folder: Path, monkeypatch):
    monkeypatch.setattr(models, "ASSETS", folder.parent)
    monkeypatch.setitem(COSTS, "tiny", COSTS["40m"]._replace(layers=3))
    (folder.parent / "target").symlink_to(folder)
    theirs = hugging.Counted.of_target("tiny", torch.float32).model
    assert theirs.config.hidden_size == 64 and theirs.config.num_hidden_layers == 3
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    model = Llama.from_folder(folder)
    expected = model.forward(tokens, model.new_cache())
    with torch.no_grad():
        torch.testing.assert_close(theirs(tokens).logits, expected, rtol=0, atol=1e-4)


def test_counting_leaves_nothing_in_the_model():
    model = llama()
    for _ in range(2):
        made = hugging.generate(hugging.Counted(model), [5, 9, 2], new_tokens=3)
        assert made.target_passes == 3 and not model._forward_pre_hooks


@pytest.mark.parametrize("k", [None, 2])
def test_an_encoder_decoder_gives_all_that_it_wrote_and_nothing_of_its_source(k: int | None):
    target, draft = (hugging.Counted(t5(seed, layers)) for seed, layers in ((1, 3), (2, 1)))
    source = [3, 4, 5, 6, 7]
    made = hugging.generate(target, source, 12, draft=draft if k else None, k=k)
    ids = torch.tensor([source])
    with torch.inference_mode():
        whole = target.model.generate(ids, max_new_tokens=12, do_sample=False)
    assert len(made.tokens[0]) == 12 and made.tokens[0] == whole[0, 1:].tolist()
