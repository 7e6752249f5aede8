"""Hugging Face `generate` on the same weights: what is counted, and the same text as ours."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from decoders.greedy import first_tokens, with_noise
from decoders.random_models import MODELS, gpt2, llama, t5
from transformers import GenerationConfig, WatermarkingConfig
from transformers.generation import candidate_generator
from transformers.utils import logging

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure import hugging
from specdec_lib.models import scale
from specdec_lib.models.cut_vocabulary import D2T_FILE, CutVocabulary
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import TARGET_COSTS
from specdec_lib.sampling import Greedy, Warp

PROMPT, TOKENS, MANY = [5, 9, 2, 7], 10, [*range(40)]
GREEDY, SAMPLED = Warp(0), Warp(0.7, top_k=20, top_p=0.9)
# Settings of a checkpoint that change its text, its cache or its passes.
LISTS = ("suppress_tokens", "begin_suppress_tokens", "eos_token_id")
OWN = MODELS["generation"] | dict.fromkeys(LISTS, MANY)
OWN |= {"bad_words_ids": [[n] for n in MANY], "watermarking_config": WatermarkingConfig(bias=9.0)}


def counted(
    make: Callable = llama, **own: object
) -> tuple[hugging.CountedModel, hugging.CountedModel]:
    """A target and a draft that agrees often, with generation settings of their own."""
    pair = hugging.CountedModel(make()), hugging.CountedModel(with_noise(make()))
    for each in pair:
        vars(each.model.generation_config).update(own)
    return pair


def ours(
    target: hugging.CountedModel,
    draft: hugging.CountedModel,
    prompt: list[int],
    k: int,
    tokens: int = TOKENS,
) -> tuple:
    """Our greedy text, plain and with the draft, and the passes of the target behind the second."""
    kind = EncoderDecoder if target.model.config.is_encoder_decoder else Causal
    mine, small = (kind(each.model) for each in (target, draft))
    mine.vocab_size = small.vocab_size = min(target.vocab_size, draft.vocab_size)
    rows, how = first_tokens([prompt], mine, small), (Settings(tokens, GREEDY), Greedy())
    (plain,) = plain_generate(mine, rows, *how).tokens
    found = speculative_generate(mine, ModelDrafter(small), rows, k, *how)
    return plain, *found.tokens, found.target_passes


def theirs(
    target: hugging.CountedModel, draft: hugging.CountedModel, warp: Warp, k: int | None = 3
) -> list[tuple]:
    """What Hugging Face's two decoders write, and their passes of the target and the draft."""
    found = []
    for small in (None, draft):
        torch.manual_seed(1)
        before = draft.passes
        made = hugging.hf_generate(target, PROMPT, TOKENS, small, k, warp)
        found.append((made.tokens[0], made.target_passes, draft.passes - before))
    return found


expected = cache(lambda make, warp, k=3: theirs(*counted(make), warp, k))


@pytest.mark.parametrize("k", [3, None])
@pytest.mark.parametrize("warp", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("make", [llama, t5])
def test_calls_depend_on_no_setting_and_on_no_earlier_call(make: Callable, warp: Warp, k):
    pair = counted(make, **OWN)
    assert theirs(*pair, warp, k) == theirs(*pair, warp, k) == expected(make, warp, k)
    assert all(getattr(each.model.generation_config, n) == OWN[n] for each in pair for n in OWN)
    assert logging.get_verbosity() == logging.WARNING and logging.is_progress_bar_enabled()
    assert not any(each.model._forward_pre_hooks for each in pair)


@pytest.mark.parametrize("prompt", [PROMPT, [3, 3, 9], [1, 0, 47, 6, 7, 8, 0]], ids=len)
@pytest.mark.parametrize("make", [llama, gpt2, t5])
def test_greedy_text_and_passes_are_ours(make: Callable, prompt: list[int]):
    target, draft = counted(make)
    plain, mine, passes = ours(target, draft, prompt, 4, tokens=16)
    alone = hugging.hf_generate(target, prompt, 16)
    made, by_default = (hugging.hf_generate(target, prompt, 16, draft, k) for k in (4, None))
    assert alone.tokens == made.tokens == by_default.tokens == [plain] == [mine]
    assert made.target_passes == passes and by_default.target_passes < alone.target_passes == 16


@pytest.mark.parametrize("warp", [Warp(1), Warp(0.5), Warp(1, top_k=3), SAMPLED], ids=str)
def test_a_sampled_token_is_drawn_from_the_warped_target(warp: Warp, monkeypatch):
    drawn, draw = [], torch.multinomial
    monkeypatch.setattr(torch, "multinomial", lambda p, **how: drawn.append(p) or draw(p, **how))
    target, _ = counted(temperature=9.0, top_k=2, min_p=0.9)
    hugging.hf_generate(target, PROMPT, 1, warp=warp)
    with torch.no_grad():
        logits = target.model(torch.tensor([PROMPT])).logits[:, -1]
    torch.testing.assert_close(drawn, [warp(logits.float())], rtol=0, atol=1e-6)


@pytest.mark.parametrize("prompt", [[0, 5, 0, 2], [9, 9, 2], [47, 0, 1, 7]])
def test_the_draft_sees_every_token_of_the_prompt(prompt: list[int]):
    target, draft = counted(pad_token_id=9, bos_token_id=47)
    plain, mine, passes = ours(target, draft, prompt, 3)
    made = hugging.hf_generate(target, prompt, TOKENS, draft, 3)
    assert made.tokens == [plain] == [mine] and made.target_passes == passes


@pytest.mark.parametrize("wide", [(50, 48), (48, 50), (64, 56)], ids=str)
@pytest.mark.parametrize("warp", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_logits_padded_to_other_widths_are_cut_for_a_call(wide: tuple[int, int], warp: Warp):
    pair = counted()
    for each, width in zip(pair, wide, strict=True):
        each.model.resize_token_embeddings(width, mean_resizing=False)
        with torch.no_grad():  # the largest logits of all are those of no word
            each.model.get_output_embeddings().weight[48:] = 9.0
    pair = [hugging.CountedModel(each.model, 48) for each in pair]
    assert theirs(*pair, warp) == expected(llama, warp)
    assert [each.model.config.vocab_size for each in pair] == [*wide]
    assert [each.model(torch.tensor([[1]])).logits.shape[-1] for each in pair] == [*wide]


def test_a_draft_with_a_cut_vocabulary_assists_as_ours_does(tmp_path: Path):
    small = llama(seed=0, layers=1)
    small.resize_token_embeddings(24, mean_resizing=False)
    small.save_pretrained(tmp_path)
    np.save(tmp_path / D2T_FILE, np.arange(0, 48, 2))
    target = hugging.CountedModel(llama())
    draft = hugging.CountedModel.from_cut_folder(tmp_path, 48, torch.float64)
    mine = CutVocabulary.from_folder(tmp_path, 48, "cpu", torch.float64)
    text = torch.tensor([[4, 8, 2]])
    logits = draft.model(text).logits
    torch.testing.assert_close(logits, mine.forward(text, mine.new_cache()), rtol=0, atol=1e-5)
    alone, made = (hugging.hf_generate(target, PROMPT, 16, each, 2) for each in (None, draft))
    how = ([PROMPT], 2, Settings(16, GREEDY), Greedy())
    found = speculative_generate(Causal(target.model), ModelDrafter(mine), *how)
    assert alone.tokens == made.tokens == found.tokens
    assert made.target_passes == found.target_passes


def test_scikit_learn_does_not_change_what_transformers_drafts_by_default(monkeypatch):
    fitted = Mock(side_effect=AssertionError("the threshold was fitted"))
    monkeypatch.setattr(candidate_generator, "is_sklearn_available", lambda: True)
    monkeypatch.setitem(sys.modules, "sklearn", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "sklearn.metrics", SimpleNamespace(roc_curve=fitted))
    assert theirs(*counted(), GREEDY, None) == expected(llama, GREEDY, None)
    assert candidate_generator.is_sklearn_available()


def test_how_a_draft_is_run_is_said_and_none_is_the_default_of_transformers():
    assert str(hugging.AssistantSettings.of(3)) == "K = 3, constant, no early stop"
    default = "transformers' default: K = 20, constant, stop below confidence 0.4"
    assert str(hugging.AssistantSettings.of(None)) == default
    known = GenerationConfig._get_default_generation_params()
    assert hugging.DEFAULT_ASSISTANT._asdict().items() <= known.items()


def test_the_scaled_target_is_the_same_in_transformers(folders: list[Path], monkeypatch):
    monkeypatch.setattr(scale, "ASSETS", folders[0].parent)
    monkeypatch.setitem(TARGET_COSTS, "tiny", TARGET_COSTS["40m"]._replace(layers=3))
    theirs = hugging.CountedModel.from_size("tiny", torch.float32).model
    assert theirs.config.hidden_size == 64 and theirs.config.num_hidden_layers == 3
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    model = Llama.from_folder(folders[0])
    expected = model.forward(tokens, model.new_cache())
    with torch.no_grad():
        torch.testing.assert_close(theirs(tokens).logits, expected, rtol=0, atol=1e-4)
