"""Chapter 01: its record, its puzzle, its figures, and lazy answers to it."""

import copy

import numpy as np
import pytest
from classes import record_ch01
from classes.chapter_cases import draw, functions_of, text_of

from specdec_lib.lessons.ch01 import checks as ch01
from specdec_lib.lessons.ch01 import puzzle, storyboard
from specdec_lib.lessons.ch01.models import DRAFT, TARGET, WORDS, Calls, greedy_decode, pair
from specdec_lib.lessons.common.examples import Different

CHAPTER = "01_draft_then_verify"
FUNCTIONS = functions_of(CHAPTER)
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
    with pytest.raises(ValueError, match="3 times instead of at most 2 for one block"):
        draft([0])
    assert target([0, 1, 2]).shape == (3, len(WORDS)) and target.calls.blocks == [(3, 3)]
    with pytest.raises(ValueError, match="the target was called 2 times instead of at most 1"):
        target([0])
    with pytest.raises(ValueError, match="4 times instead of at most 3"):
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


def test_the_first_question_can_be_answered_from_the_habits():
    """The words that the frame opens are those that the table before it leads to."""
    words = ["cat"]
    for _ in range(4):
        words.append(storyboard.habits()[words[-1]])
    assert " ".join(words[1:]) == ch01.text(ch01.BLOCK)


def test_the_text_names_the_accepted_tokens_of_the_record():
    *counts, last = [str(block["accepted"]) for block in BLOCKS]
    text = text_of(CHAPTER).replace("\n# ", " ")
    assert f"accepted {', '.join(counts)} and {last} of the draft tokens" in text


def test_decoding_with_wrong_rows_is_told_which_function_gives_them(monkeypatch):
    decode, right = FUNCTIONS["greedy_speculative_decode"], FUNCTIONS["score_block"]
    monkeypatch.setitem(decode.__globals__, "score_block", lambda *args: right(*args)[::-1])
    with pytest.raises(Different, match="score_block"):
        ch01.check_greedy_speculative_decode(decode)


def test_an_error_without_a_source_has_no_empty_place():
    names: dict = {}
    exec("def score_block(target_model, prefix, drafted):\n    return 1 / 0", names)
    with pytest.raises(Different, match="division by zero; expected"):
        ch01.check_score_block(names["score_block"])


def test_an_eos_of_0_is_asked_for_in_the_check():
    def zero_is_none(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
        decode = FUNCTIONS["greedy_speculative_decode"]
        return decode(target_model, draft_model, prompt, k, max_new_tokens, eos or None)

    with pytest.raises(Different, match="eos=0"):
        ch01.check_greedy_speculative_decode(zero_is_none)


def test_who_uses_the_first_number_alone_is_not_asked_for_the_list():
    got = [2, 3, 0], ch01.drafted_rows(DRAFT, [0, 1], [2, 3, 0])
    with pytest.raises(Different) as caught:
        ch01.check_draft_block(lambda *args: got)
    assert "list?" not in str(caught.value)


def test_truths_of_the_predictions():
    assert ch01.TRUTHS["prediction_01"].value == 5
    assert ch01.TRUTHS["prediction_01_b"].value == sum(b["accepted"] + 1 for b in BLOCKS) == 16
    calls = Calls()
    target, draft = pair()
    target.calls = draft.calls = calls
    draft.row = TARGET.row
    FUNCTIONS["greedy_speculative_decode"](target, draft, [0, 1], 4, 20)
    assert ch01.TRUTHS["prediction_01_c"].value == len(calls.blocks) == 4


@pytest.mark.parametrize("order", puzzle.ORDERS)
def test_puzzle_solved_is_a_decoder(order: str):
    lines = dict(puzzle.LINES)
    for letter, blank in puzzle.BLANKS.items():
        lines[letter] = lines[letter].replace(puzzle.BLANK, blank.right)
    body = "\n".join("    " + lines[letter] for letter in order)
    names = dict(FUNCTIONS)
    exec(f"def decode(target_model, draft_model, prompt, k, max_new_tokens):\n{body}", names)
    out = names["decode"](*pair(targets=4), ch01.PREFIX, 4, 12)
    assert out[:12] == greedy_decode(TARGET, ch01.PREFIX, 12)
    assert set(puzzle.LINES) - set(order) == {"G"}


ENDLESS = {
    "draft_block": lambda model, prefix, k, uniforms: [model(prefix) for _ in iter(int, 1)],
    "score_block": lambda model, prefix, drafted: [model(prefix) for _ in iter(int, 1)],
    "greedy_speculative_decode": lambda target, draft, *rest: [draft([1]) for _ in iter(int, 1)],
}
STOPPED = [("drawn_block", "draft_block"), ("chosen_rows", "score_block")]
STOPPED += [(name, "greedy_speculative_decode") for name in ("passes", "ladder")]


@pytest.mark.parametrize("figure, exercise", STOPPED)
def test_a_loop_without_end_stops_in_a_figure_and_in_the_check(figure, exercise, shown, capsys):
    draw(CHAPTER, figure, **{exercise: ENDLESS[exercise]})
    assert "cannot be used yet" in capsys.readouterr().out and shown == []
    with pytest.raises(Different, match="was called"):
        getattr(ch01, f"check_{exercise}")(ENDLESS[exercise])
