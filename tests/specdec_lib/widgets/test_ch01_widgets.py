"""Chapter 01's animation: its JavaScript in Chromium."""

import re

import numpy as np
import pytest
import torch

from specdec_lib.decoding.verify import accepts
from specdec_lib.lessons.ch01 import checks as ch01
from specdec_lib.lessons.widgets.pipeline import pipeline_animation

pytestmark = pytest.mark.browser

BLOCKS = ch01.RECORDED["blocks"]


def outcomes(block: dict) -> list[str]:
    """What became of each draft token of a recorded block, and last what ended the block."""
    k, n = len(block["drafted"]), block["accepted"]
    judged = ["accepted"] * n + ["rejected"] * (n < k) + ["dropped"] * (k - n - 1)
    return [*judged, "corrected" if n < k else "bonus"]


def test_verdicts_equal_the_librarys(module):
    call = module(pipeline_animation(ch01.RECORDED))
    rng = np.random.default_rng(1)
    for k in (1, 2, 4, 7):
        for _ in range(40):
            p, q, r = rng.random((3, k))
            p[rng.random(k) < 0.1] = 0.0
            block = {"p": p.tolist(), "q": q.tolist(), "r": r.tolist()}
            accepted = accepts(*(torch.tensor(part) for part in (p, q, r)))
            assert [call("isAccepted", *map(float, x)) for x in zip(p, q, r, strict=True)] == (
                accepted.tolist()
            )
            assert call("acceptedOf", block) == int(accepted.cumprod(-1).sum())
    assert call("isAccepted", 0, 0.5, 0) is False and call("isAccepted", 0.5, 0, 0.9) is True
    assert call("isAccepted", 0, 0, 0) is False and call("isAccepted", 0.25, 0.5, 0.5) is False


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
        assert kinds == outcomes(block)[:-1]
        assert outcomes(block)[-1] in call("describe", BLOCKS, last)
        own = [f for f in frames if f["block"] == number and f is not frames[0]]
        assert len(own) == 4 + 1 + min(block["accepted"] + 1, 4) + 1
    text = call("written", BLOCKS, frames[-1])
    plain = "".join("".join(b["drafted"][: b["accepted"]]) + b["token"] for b in BLOCKS)
    assert re.sub("[⟦⟧⟪⟫]", "", text) == plain and text.count("⟪") == 1


def test_frames_go_one_event_at_a_time(module):
    call = module(pipeline_animation(ch01.RECORDED))
    frames = call("frames", BLOCKS)
    totals = [call("counts", BLOCKS, frame) for frame in frames]
    for before, after in zip(totals, totals[1:], strict=False):
        steps = [after[key] - before[key] for key in ("target", "draft", "written")]
        assert min(steps) >= 0 and sum(steps) <= 1
    captions = [call("caption", BLOCKS, frame) for frame in frames]
    assert all(captions) and "bonus token: 5 tokens from one pass" in " ".join(captions)


def test_white_space_of_tokens_is_made_visible(module):
    call = module(pipeline_animation(ch01.RECORDED))
    pieces = ["def", " not", "\n", "\n  x", "\n    y", "a b"]
    seen = ["def", "␣not", "⏎", "⏎␣×2x", "⏎␣×4y", "a␣b"]
    assert [call("visible", piece) for piece in pieces] == seen


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


def test_it_plays_and_pauses(reader):
    page = reader(pipeline_animation(ch01.RECORDED))
    page.hold_clock()
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


def test_reduced_motion_plays_block_by_block(reader):
    page = reader(pipeline_animation(ch01.RECORDED), motion="reduce")
    page.press("Play to the end of the block")
    assert page.numbers() == ["1", "4", "3"]
    assert page.frame.get_by_role("button", name="Pause").count() == 0


def test_kinds_differ_in_more_than_colour(reader):
    page = reader(pipeline_animation(ch01.RECORDED))
    outlines = page.evaluate(
        "() => [...document.querySelectorAll('.sd-key [data-kind]')].map((box) => "
        "[...box.children].map((part) => `${part.tagName} ${part.getAttribute('rx')} "
        "${(part.getAttribute('style') ?? '').includes('dash')} "
        "${(part.getAttribute('fill') ?? '').startsWith('url')}`).join(';'))"
    )
    assert len(outlines) == len(set(outlines)) == 6
