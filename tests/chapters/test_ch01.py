"""Chapter 01: its record, its puzzle, its figures, and lazy answers to it."""

import copy
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from classes import record_ch01
from classes.chapter_cases import draw, functions_of
from classes.regrading import grade_with

from specdec_lib.decoding.verify import accepts, verify_block
from specdec_lib.lessons.ch01 import checks as ch01
from specdec_lib.lessons.ch01 import measured, puzzle
from specdec_lib.lessons.ch01.models import DRAFT, TARGET, WORDS, Calls, greedy_decode, pair

CHAPTER = "01_draft_then_verify"
FUNCTIONS = functions_of(CHAPTER)
NAMES = list(ch01.HINTS)
BLOCKS = ch01.RECORDED["blocks"]


def test_small_models_are_distributions_everywhere():
    for row in (DRAFT.row, TARGET.row):
        for first in range(len(WORDS)):
            for last in range(len(WORDS)):
                probs = row([first, last])
                assert probs.shape == (len(WORDS),) and abs(probs.sum() - 1) < 1e-12
                assert np.sum(probs == probs.max()) == 1  # no tie: a favourite can be seen


def test_calls_are_counted_and_refused():
    target, draft = pair(targets=1, drafts=3, in_a_block=2)
    draft([0]), draft([0, 1])
    with pytest.raises(ValueError, match="more than 2 times for one block"):
        draft([0])
    assert target([0, 1, 2]).shape == (3, len(WORDS)) and target.calls.blocks == [(3, 3)]
    with pytest.raises(ValueError, match="the target is called more often than the 1 allowed"):
        target([0])
    with pytest.raises(ValueError, match="more often than the 3 allowed"):
        draft([0])
    again = copy.deepcopy((target, draft))
    assert again[0].calls is again[1].calls and again[0].calls.blocks == []


@pytest.mark.parametrize("tokens", [[], [[1]], None, "the", [0.5]])
def test_a_model_reads_a_list_of_tokens(tokens: object):
    with pytest.raises(ValueError, match="a model reads a list of one token or more"):
        DRAFT(tokens)


def test_record_is_what_the_built_in_pair_does():
    again = record_ch01.record(record_ch01.load())
    assert {key: again[key] for key in ("pair", "prompt")} == {
        key: ch01.RECORDED[key] for key in ("pair", "prompt")
    }
    for new, kept in zip(again["blocks"], BLOCKS, strict=True):
        assert new["drafted"] == kept["drafted"] and new["token"] == kept["token"]
        assert new["accepted"] == kept["accepted"]
        for part in ("p", "q", "r"):
            np.testing.assert_allclose(new[part], kept[part], rtol=1e-6)


def test_record_holds_every_case():
    assert {block["accepted"] for block in BLOCKS} >= {0, 2, record_ch01.K}
    assert all(len(block["drafted"]) == record_ch01.K for block in BLOCKS)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "".join(block["drafted"]))
def test_recorded_verdicts_are_the_librarys(block: dict):
    p, q, r = (torch.tensor([block[part]], dtype=torch.float64) for part in "pqr")
    assert int(accepts(p, q, r).cumprod(-1).sum()) == block["accepted"]
    # And by the whole verification, over two tokens: the draft token, and everything else.
    rows = torch.stack((p, 1 - p), -1), torch.stack((q, 1 - q), -1)
    last = torch.full((1, 1, 2), 0.5, dtype=torch.float64)
    drafted = torch.zeros(p.shape, dtype=torch.long)
    p_all, u = torch.cat((rows[0], last), 1), torch.tensor([0.5], dtype=torch.float64)
    assert int(verify_block(p_all, rows[1], drafted, r, u)[0]) == block["accepted"]


def test_truths_of_the_predictions():
    assert ch01.TRUTHS["prediction_01"][0] == 5
    assert ch01.TRUTHS["prediction_01_b"][0] == sum(b["accepted"] + 1 for b in BLOCKS) == 16
    calls = Calls()
    target, draft = pair()
    target.calls = draft.calls = calls
    draft.row = TARGET.row
    FUNCTIONS["greedy_speculative_decode"](target, draft, [0, 1], 4, 20)
    assert ch01.TRUTHS["prediction_01_c"][0] == len(calls.blocks) == 4


def test_puzzle_is_printed_shuffled(capsys):
    ch01.check_puzzle("", "", "")
    printed = capsys.readouterr().out
    assert dict(re.findall(r"^([A-M])  ( *\S.*)$", printed, re.MULTILINE)) == puzzle.LINES
    assert not any(pair in "ABCDEFGHIJKLM" for pair in re.findall("..", puzzle.ORDERS[0]))


@pytest.mark.parametrize("order", puzzle.ORDERS)
def test_puzzle_solved_is_a_decoder(order: str):
    lines = dict(puzzle.LINES)
    for letter, filled in puzzle.FILLED.items():
        lines[letter] = lines[letter].replace(puzzle.BLANK, filled)
    body = "\n".join("    " + lines[letter] for letter in order)
    names = dict(FUNCTIONS)
    exec(f"def decode(target_model, draft_model, prompt, k, max_new_tokens):\n{body}", names)
    out = names["decode"](*pair(targets=4), ch01.PREFIX, 4, 12)
    assert out[:12] == greedy_decode(TARGET, ch01.PREFIX, 12)
    assert set(puzzle.LINES) - set(order) == {"G"}


@pytest.mark.parametrize(
    ("order", "blanks", "told"),
    [
        ("", ("", ""), "Nothing is arranged yet"),
        ("k, i, h", ("", ""), "Right so far. 9 lines are still missing"),
        ("KIG", ("", ""), "Line G does not come next. Line G says that the whole draft"),
        ("IK", ("", ""), "Line I does not come next. Which line has to run"),
        ("KIHFCLAJBMEDG", ("k", "n"), "Line G does not come next"),
        ("KIHFCLAJBMED", ("k + 1", "n"), "The blank in line C is not"),
        ("KIFHCLAJBMED", ("k", "-1"), "The blank in line E is not"),
        ("KIFHCLAJBMED", (" k", "n "), "That is the loop"),
    ],
)
def test_puzzle_says_how_far_it_is_right(order: str, blanks: tuple, told: str, capsys):
    ch01.check_puzzle(order, *blanks)
    assert told in capsys.readouterr().out


def test_figure_shows_the_rows_that_were_really_returned(shown: list[str]):
    def from_the_start(model, prefix, drafted):
        return model([*prefix, *drafted])[: len(drafted) + 1]

    for score in (from_the_start, FUNCTIONS["score_block"], lambda *args: np.zeros((2, 3))):
        draw(CHAPTER, "chosen_rows", score_block=score)
    assert "row 0 speaks of 'cat', says 'cat', is your p[0]" in shown[0]
    assert "row 1 speaks of 'sat', says 'sat', is your p[0]" in shown[1]
    assert "row 5 speaks of what is next, says 'sat', is your p[4]" in shown[1]
    assert "no rows of this pass" in shown[2]


def test_figure_of_the_passes_tells_what_each_wrote(shown: list[str]):
    draw(CHAPTER, "passes")
    assert shown[0].startswith("12 tokens in 4 passes and 12 draft calls; the target alone writes")
    assert "sat (accepted) on (accepted) the (accepted) mat (corrected)" in shown[0]


def test_recorded_blocks_are_told_in_words(shown: list[str]):
    measured.recorded_blocks(ch01.RECORDED)
    measured.recorded_blocks(ch01.RECORDED, first=2, count=1)
    assert all(f"Block {number}: " in shown[0] for number in range(1, 6))
    assert "Block 3: " in shown[1] and "'p' bonus" in shown[1] and "Block 1" not in shown[1]
    plt.close("all")


PLAIN = """def greedy_speculative_decode(target_model, draft_model, prompt, k, n, eos=None):
    written = []
    while len(written) < n and eos not in written:
        written.append(int(np.argmax(target_model([*prompt, *written])[-1])))
    return written"""


def test_plain_decoding_is_told_from_speculative_decoding():
    exercise = grade_with(CHAPTER, greedy_speculative_decode=PLAIN).exercises[
        "greedy_speculative_decode"
    ]
    assert exercise.passed == len(exercise.behaviours) - 1
    assert any("the target is called more often" in text for text in exercise.messages)
