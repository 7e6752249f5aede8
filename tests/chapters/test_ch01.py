"""Chapter 01: its record, its predictions, and what its visible checks tell."""

import numpy as np
import pytest
import torch
from classes.chapter_cases import functions_of, text_of

from specdec_lib.lessons.ch01 import checks as ch01
from specdec_lib.lessons.common.examples import Different
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.models.pairs import load_pair

CHAPTER = "01_draft_then_verify"
FUNCTIONS = functions_of(CHAPTER)
DECODE = FUNCTIONS["greedy_speculative_decode"]
BLOCKS = ch01.RECORDED["blocks"]


def test_record_is_what_the_built_in_pair_gives():
    built_in = load_pair(dtype=torch.float64, device="cpu")
    readers = {"p": model_reader(built_in.target), "q": model_reader(built_in.draft)}
    text = built_in.prompt(ch01.RECORDED["prompt"])
    assert built_in.label == ch01.RECORDED["pair"]
    for block in BLOCKS:
        strings = [*block["drafted"], block["token"]]
        *drafted, last = [token for each in strings for token in built_in.tokenizer.encode(each)]
        for part, read in readers.items():
            rows = read([*text, *drafted])[len(text) - 1 : -1].numpy()
            np.testing.assert_allclose(rows[range(4), drafted], block[part], rtol=1e-6)
        text += [*drafted[: block["accepted"]], last]


def test_accepted_tokens_of_the_record_follow_from_its_coins_and_stand_in_the_text():
    for block in BLOCKS:
        kept = np.array(block["r"]) * block["q"] < block["p"]
        assert [*kept, False].index(False) == block["accepted"]
    *counts, last = [str(block["accepted"]) for block in BLOCKS]
    text = text_of(CHAPTER).replace("\n# ", " ")
    assert f"accepted {', '.join(counts)} and {last} of the draft tokens" in text


@pytest.mark.parametrize("name", ["score_block", "greedy_prefix"])
def test_a_loop_over_a_wrong_function_is_told_which_one(name: str, monkeypatch):
    monkeypatch.setitem(DECODE.__globals__, name, lambda *args: np.zeros((5, 8)))
    with pytest.raises(Different, match=f"Is {name} right"):
        ch01.check_greedy_speculative_decode(DECODE)


def test_a_loop_without_end_stops_in_the_check():
    with pytest.raises(Different, match="the target was called"):
        ch01.check_score_block(lambda model, prefix, drafted: [model(prefix) for _ in iter(int, 1)])


def test_truths_of_the_predictions():
    assert ch01.TRUTHS["prediction_01"].value == 5
    assert ch01.TRUTHS["prediction_01_b"].value == sum(b["accepted"] + 1 for b in BLOCKS) == 16
    kept = " + ".join(str(block["accepted"]) for block in BLOCKS)
    assert f"keep {kept} = 11 draft tokens" in ch01.TRUTHS["prediction_01_b"].why
