"""Chapter 08's picture of a text: what it refuses, and its JavaScript in Chromium."""

import copy

import pytest

from specdec_lib.lessons.widgets.trace import trace_picture


def block(drafted: list[str], p: list[float], q: list[float], accepted: int, token: str) -> dict:
    return {"drafted": drafted, "p": p, "q": q, "accepted": accepted, "token": token}


PICTURE = {
    "prompt": "def f(x):\n    ",
    "blocks": [
        block(["return", " x"], [0.5, 0.25], [0.75, 0.25], 2, "\n"),
        block(["def", "class"], [0.3, 0.0], [0.2, 0.5], 1, " g"),
    ],
}


def picture():
    return trace_picture(**copy.deepcopy(PICTURE))


def test_picture_holds_visible_pieces():
    state = picture().state
    assert state["prompt"] == "def·f(x):↵·4" and state["blocks"][0]["token"] == "↵"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": [0.5]}, r"blocks\[0\]: every draft token needs a p and a q"),
        ({"p": [0.5, 1.5]}, r"blocks\[0\].p\[1\] is 1.5: a probability"),
        ({"accepted": 3}, "no more are accepted"),
        ({"accepted": -1}, "no more are accepted"),
    ],
)
def test_what_is_no_block_is_named(change: dict, message: str):
    with pytest.raises(ValueError, match=message):
        trace_picture("x", [PICTURE["blocks"][0] | change])


def test_no_blocks_and_no_such_token_are_named():
    with pytest.raises(ValueError, match="blocks is empty"):
        trace_picture("x", [])
    for chosen in (-1, 5):
        with pytest.raises(ValueError, match=f"chosen is {chosen}: give a whole number from 0 to"):
            trace_picture("x", PICTURE["blocks"], chosen=chosen)


@pytest.mark.browser
def test_fates_and_ratios(module):
    call = module(picture())
    tokens = call("tokensOf", picture().state["blocks"])
    assert [(token["kind"], token["text"]) for token in tokens] == [
        *(("accepted", "return"), ("accepted", "·x"), ("bonus", "↵")),
        *(("accepted", "def"), ("corrected", "·g")),
    ]
    for p, q in ((0.5, 0.75), (0.3, 0.2), (0.0, 0.5), (0.5, 0.0), (0.0, 0.0)):
        rule = 0.0 if p == 0 else 1.0 if q == 0 else min(1.0, p / q)
        assert call("acceptance", p, q) == pytest.approx(rule, abs=1e-15)
    story = call("storyOf", tokens[4])
    assert "proposed class (p = 0, q = 0.5), accepted with probability 0; it was rejected" in story
    assert call("storyOf", tokens[2]).startswith("Block 1, position 3: bonus.")
    assert call("numbersOf", tokens[4]) == ["0", "0.5", "0"] and call("shareOf", tokens) == "0.75"


@pytest.mark.browser
def test_picture_is_stepped_and_hovered(reader):
    page = reader(picture())
    assert page.numbers() == ["0.5", "0.75", "0.667", "0.75"]
    page.frame.get_by_role("slider").focus()
    for _ in range(4):
        page.page.keyboard.press("ArrowRight")
    assert "it was rejected" in page.verdict()
    page.frame.locator(".sd-chart g.sd-target").hover()
    assert "bonus" in page.verdict()
    assert page.description(0).startswith("5 tokens: return drafted and accepted")
