"""Chapter 01: its record, its puzzle, its figures, its animation, and lazy answers to it."""

import copy
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import record_ch01
import torch
from chapter_cases import draw, functions_of
from test_gates import grade_with

from specdec_lib.decoding.verify import verify_block
from specdec_lib.lessons import ch01, ch01_figures, ch01_puzzle
from specdec_lib.lessons.ch01_models import DRAFT, TARGET, WORDS, Calls, greedy_decode, pair
from specdec_lib.lessons.widgets.pipeline import pipeline_animation
from specdec_lib.sampling import accept_below

CHAPTER = "01_draft_then_verify"
FUNCTIONS = functions_of(CHAPTER)
NAMES = list(ch01.HINTS)
BLOCKS = ch01.RECORDED["blocks"]


# --- the visible checks ---------------------------------------------------------------------


# --- the small models -----------------------------------------------------------------------


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


# --- the record -----------------------------------------------------------------------------


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
    assert int(accept_below(p, q, r).cumprod(-1).sum()) == block["accepted"]
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


# --- the puzzle -----------------------------------------------------------------------------


def test_puzzle_is_printed_shuffled(capsys):
    ch01.check_puzzle("", "", "")
    printed = capsys.readouterr().out
    assert dict(re.findall(r"^([A-M])  ( *\S.*)$", printed, re.MULTILINE)) == ch01_puzzle.LINES
    assert not any(pair in "ABCDEFGHIJKLM" for pair in re.findall("..", ch01_puzzle.ORDERS[0]))


@pytest.mark.parametrize("order", ch01_puzzle.ORDERS)
def test_puzzle_solved_is_a_decoder(order: str):
    lines = dict(ch01_puzzle.LINES)
    for letter, filled in ch01_puzzle.FILLED.items():
        lines[letter] = lines[letter].replace(ch01_puzzle.BLANK, filled)
    body = "\n".join("    " + lines[letter] for letter in order)
    names = dict(FUNCTIONS)
    exec(f"def decode(target_model, draft_model, prompt, k, max_new_tokens):\n{body}", names)
    out = names["decode"](*pair(targets=4), ch01.PREFIX, 4, 12)
    assert out[:12] == greedy_decode(TARGET, ch01.PREFIX, 12)
    assert set(ch01_puzzle.LINES) - set(order) == {"G"}


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


# --- figures --------------------------------------------------------------------------------


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
    ch01_figures.recorded_blocks(ch01.RECORDED)
    ch01_figures.recorded_blocks(ch01.RECORDED, first=2, count=1)
    assert all(f"Block {number}: " in shown[0] for number in range(1, 6))
    assert "Block 3: " in shown[1] and "'p' bonus" in shown[1] and "Block 1" not in shown[1]
    plt.close("all")


# --- grading --------------------------------------------------------------------------------


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


# --- the animation --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": [0.5]}, r"blocks\[0\] has 4 draft tokens and 1 p"),
        ({"q": [2, 0, 0, 0]}, r"blocks\[0\].q is 2.0: a probability"),
        ({"token": 7}, r"blocks\[0\].token is 7, which is not a text"),
    ],
)
def test_what_is_no_record_is_named(change: dict, message: str):
    record = {**ch01.RECORDED, "blocks": [{**BLOCKS[0], **change}]}
    with pytest.raises(ValueError, match=message):
        pipeline_animation(record)


@pytest.mark.parametrize("frame", [-1, 0.5, True, "first"])
def test_frames_are_whole_numbers_from_zero(frame: object):
    with pytest.raises(ValueError, match="frame is "):
        pipeline_animation(ch01.RECORDED, frame)


@pytest.mark.browser
def test_verdicts_equal_the_librarys(module):
    call = module(pipeline_animation(ch01.RECORDED))
    rng = np.random.default_rng(1)
    for k in (1, 2, 4, 7):
        for _ in range(40):
            p, q, r = rng.random((3, k))
            p[rng.random(k) < 0.1] = 0.0
            block = {"p": p.tolist(), "q": q.tolist(), "r": r.tolist()}
            accepted = accept_below(*(torch.tensor(part) for part in (p, q, r)))
            assert [call("isAccepted", *map(float, x)) for x in zip(p, q, r, strict=True)] == (
                accepted.tolist()
            )
            assert call("acceptedOf", block) == int(accepted.cumprod(-1).sum())
    assert call("isAccepted", 0, 0.5, 0) is False and call("isAccepted", 0.5, 0, 0.9) is True
    assert call("isAccepted", 0, 0, 0) is False and call("isAccepted", 0.25, 0.5, 0.5) is True


@pytest.mark.browser
def test_recorded_blocks_come_out_as_recorded(module):
    call = module(pipeline_animation(ch01.RECORDED))
    assert [call("acceptedOf", block) for block in BLOCKS] == [b["accepted"] for b in BLOCKS]
    frames = call("frames", BLOCKS)
    total = call("counts", BLOCKS, frames[-1])
    assert total == {"target": 5, "draft": 20, "written": ch01.WRITTEN}
    assert call("counts", BLOCKS, frames[0]) == {"target": 0, "draft": 0, "written": 0}
    for number, block in enumerate(BLOCKS):
        last = next(f for f in frames if f["block"] == number and f["ended"])
        kinds = [call("kindOf", block, last, i) for i in range(4)]
        assert kinds == ch01.outcomes(block)[:-1]
        assert ch01.outcomes(block)[-1] in call("describe", BLOCKS, last)
        own = [f for f in frames if f["block"] == number and f is not frames[0]]
        assert len(own) == 4 + 1 + min(block["accepted"] + 1, 4) + 1
    text = call("written", BLOCKS, frames[-1])
    plain = "".join("".join(b["drafted"][: b["accepted"]]) + b["token"] for b in BLOCKS)
    assert re.sub("[⟦⟧⟪⟫]", "", text) == plain and text.count("⟪") == 1


@pytest.mark.browser
def test_frames_go_one_event_at_a_time(module):
    call = module(pipeline_animation(ch01.RECORDED))
    frames = call("frames", BLOCKS)
    totals = [call("counts", BLOCKS, frame) for frame in frames]
    for before, after in zip(totals, totals[1:], strict=False):
        steps = [after[key] - before[key] for key in ("target", "draft", "written")]
        assert min(steps) >= 0 and sum(steps) <= 1
    captions = [call("caption", BLOCKS, frame) for frame in frames]
    assert all(captions) and "bonus token: 5 tokens from one pass" in " ".join(captions)


@pytest.mark.browser
def test_tokens_are_made_visible_as_in_the_figures(module):
    call = module(pipeline_animation(ch01.RECORDED))
    pieces = [*{t for b in BLOCKS for t in [*b["drafted"], b["token"]]}, "\n", "\n  x", "\n    y"]
    assert [call("visible", piece) for piece in pieces] == [ch01.shown(p) for p in pieces]


@pytest.mark.browser
def test_buttons_and_keys_step_through_the_blocks(reader):
    page = reader(pipeline_animation(ch01.RECORDED))
    assert page.numbers() == ["0", "0", "0"]
    page.press("Forward")
    assert page.numbers() == ["0", "1", "0"]
    for _ in range(4):
        page.page.keyboard.press("ArrowRight")
    assert page.numbers() == ["1", "4", "0"]
    page.page.keyboard.press("ArrowLeft")
    assert page.numbers() == ["0", "4", "0"]
    page.press("Next block")
    assert page.numbers() == ["1", "4", "3"]
    assert (
        page.description(0)
        == "Block 1 of 5. , accepted, f accepted, , rejected, ␣' dropped, ) corrected."
    )
    page.press("Back")
    page.page.keyboard.press("Home")
    assert page.numbers() == ["0", "0", "0"]
    for _ in range(5):
        page.press("Next block")
    page.press("Forward")  # nothing comes after the end
    assert page.numbers() == ["5", "20", str(ch01.WRITTEN)]
    assert "fp.readlines" in re.sub("[⟦⟧⟪⟫]", "", page.texts("pre")[0])


@pytest.mark.browser
def test_it_plays_and_pauses(reader):
    page = reader(pipeline_animation(ch01.RECORDED))
    page.page.clock.install()
    page.press("Play")
    page.page.clock.run_for(3500)
    assert page.numbers()[1] == "3"
    page.press("Pause")
    page.page.clock.run_for(5000)
    assert page.numbers()[1] == "3"
    page.page.keyboard.press("p")
    page.page.clock.run_for(1200)
    assert page.numbers()[1] == "4"
    page.press("Pause")


@pytest.mark.browser
def test_reduced_motion_plays_block_by_block(reader):
    page = reader(pipeline_animation(ch01.RECORDED), motion="reduce")
    page.press("Play to the end of the block")
    assert page.numbers() == ["1", "4", "3"]
    assert page.frame.get_by_role("button", name="Pause").count() == 0


@pytest.mark.browser
def test_kinds_differ_in_more_than_colour(reader):
    page = reader(pipeline_animation(ch01.RECORDED))
    outlines = page.evaluate(
        "() => [...document.querySelectorAll('.sd-key [data-kind]')].map((box) => "
        "[...box.children].map((part) => `${part.tagName} ${part.getAttribute('rx')} "
        "${(part.getAttribute('style') ?? '').includes('dash')} "
        "${(part.getAttribute('fill') ?? '').startsWith('url')}`).join(';'))"
    )
    assert len(outlines) == len(set(outlines)) == 6
