"""Chapter 08's picture of a text: its JavaScript in Chromium."""

import pytest

from specdec_lib.lessons.widgets.trace import trace_picture

pytestmark = pytest.mark.browser


PICTURE = trace_picture(
    "def f(x):\n    ",
    [
        {"drafted": ["return", " x"], "p": [0.5, 0.25], "q": [0.75, 0.25]}
        | {"accepted": 2, "token": "\n"},
        {"drafted": ["def", "class"], "p": [0.3, 0.0], "q": [0.2, 0.5]}
        | {"accepted": 1, "token": " g"},
    ],
)


def test_fates_and_ratios(module):
    call = module(PICTURE)
    tokens = call("tokensOf", PICTURE.state["blocks"])
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


def test_picture_is_stepped_and_hovered(reader):
    page = reader(PICTURE)
    assert page.numbers() == ["0.5", "0.75", "0.667", "0.75"]
    page.frame.get_by_role("slider").focus()
    for _ in range(4):
        page.page.keyboard.press("ArrowRight")
    assert "it was rejected" in page.verdict()
    page.frame.locator(".sd-chart g.sd-target").hover()
    assert "bonus" in page.verdict()
    assert page.description(0).startswith("5 tokens: return drafted and accepted")
