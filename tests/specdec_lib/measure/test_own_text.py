"""Acceptance on the target's own text, and a cut vocabulary in transformers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from decoders.fetched import needs_smollm2
from decoders.random_models import VOCAB, llama

from specdec_lib.measure import own_text
from specdec_lib.measure.hugging import CountedModel
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.cut_vocabulary import CutVocabulary
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.tokenizer import FileTokenizer


@pytest.mark.slow
def test_a_cut_vocabulary_has_its_price_and_transformers_drafts_in_it_too(tmp_path: Path):
    small = llama()
    small.config.max_position_embeddings = 256
    small.save_pretrained(tmp_path)
    np.save(tmp_path / "d2t.npy", np.arange(VOCAB) * 7)
    draft = CutVocabulary.from_folder(tmp_path, 2048, "cpu", torch.float32)
    theirs = CountedModel.from_cut_folder(tmp_path, 2048, torch.float32)
    tokens = torch.tensor([[7, 2000, 14]])
    expected = draft.forward(tokens, draft.new_cache())
    torch.testing.assert_close(theirs.model(input_ids=tokens).logits, expected, rtol=0, atol=1e-4)
    built_in = load_pair(device="cpu")
    words = FileTokenizer(built_in.tokenizer.backend_tokenizer, "Q: {{ messages[0]['content'] }}\n")
    pair = replace(built_in, tokenizer=words, draft=draft)
    chat, free, code = (own_text.own_prompts(pair, kind, 1)[0] for kind in own_text.KINDS)
    assert chat[:2] == free[:2] and words.decode(chat).startswith(words.decode(free)) and code
    table = own_text.acceptance_table(pair, 2, 4)
    assert table.kind.tolist() == [kind for kind in own_text.KINDS for _ in range(3)]
    assert (table.acceptance + table.outside <= 1 + 1e-6).all() and (table.outside > 0.5).all()
    with_itself = own_text.acceptance_table(replace(built_in, draft=built_in.target), 2, 4)
    assert with_itself.acceptance.tolist() == pytest.approx([1, 1, 1])
    assert with_itself.kind.unique() == ["code"] and with_itself.outside.max() == 0
    with pytest.raises(ValueError, match="no text to measure: each is empty"):
        own_text.acceptance_table(built_in, 2, 0)


@pytest.mark.slow
@needs_smollm2
@pytest.mark.parametrize("draft", own_text.ACCEPTANCE_FILES)
def test_the_drafts_card_says_what_is_measured(draft: str):
    kept = pd.read_json(own_text.ACCEPTANCE_FILES[draft])
    card = own_text.ACCEPTANCE_FILES[draft].with_name("README.md").read_text(encoding="utf-8")
    assert set(own_text.card_rows(kept)) <= set(card.splitlines())
    found = own_text.acceptance_table(load_pair(SMOLLM2, draft, device="cpu"))
    # On another processor the target's texts may part from these.
    assert found.acceptance.tolist() == pytest.approx(kept.acceptance.tolist(), abs=0.05)
    assert found.outside.tolist() == pytest.approx(kept.outside.tolist(), abs=0.02)
