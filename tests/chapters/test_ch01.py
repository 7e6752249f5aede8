"""Chapter 01: its predictions, and what its visible checks tell."""

import re

import numpy as np
import pytest
from classes.chapter_cases import functions_of, text_of

from specdec_lib.lessons.ch01 import figures, lesson, storyboard
from specdec_lib.lessons.checking.examples import Different

CHAPTER = "01_draft_then_verify"
FUNCTIONS = functions_of(CHAPTER)
DECODE = FUNCTIONS["greedy_speculative_decode"]


@pytest.mark.parametrize("name", ["score_block", "greedy_prefix"])
def test_a_loop_over_a_wrong_function_is_told_which_one(name: str, monkeypatch):
    monkeypatch.setitem(DECODE.__globals__, name, lambda *args: np.zeros((5, 8)))
    with pytest.raises(Different, match=f"Is {name} right"):
        lesson.check_greedy_speculative_decode(DECODE)


def test_a_loop_without_end_stops_in_the_check():
    with pytest.raises(Different, match="the target was called"):
        lesson.check_score_block(
            lambda model, prefix, drafted: [model(prefix) for _ in iter(int, 1)]
        )


def test_truths_of_the_predictions():
    assert lesson.TRUTHS["prediction_01"].value == 5
    text = text_of(CHAPTER).replace("\n# ", " ")
    (listed,) = re.findall(r"accepted ([\d, ]+ and \d) of the draft tokens", text)
    counts = [int(count) for count in re.findall(r"\d", listed)]
    assert lesson.TRUTHS["prediction_01_b"].value == sum(count + 1 for count in counts) == 16
    kept = " + ".join(str(count) for count in counts)
    assert f"keep {kept} = 11 draft tokens" in lesson.TRUTHS["prediction_01_b"].why


def test_the_animation_plays_what_the_small_models_do(painted, monkeypatch):
    monkeypatch.setattr(storyboard, "display_page", lambda *both: painted.extend(both))
    figures.block_fates(DECODE, lesson.tokenize("on the mat ."), 3, 6)
    storyboard.two_blocks()
    found = re.findall(r"([.\w]+) \((\w+)\)", painted[0])
    shown = re.findall(r'sd-box sd-(\w+) .*?">\W (?:<s>)?([^<]+)', painted[1])
    assert sorted(shown) == sorted((kind, word) for word, kind in found) and len(shown) == 8
    assert "“the” accepted, “cat” rejected, “sat” dropped" in painted[2]
