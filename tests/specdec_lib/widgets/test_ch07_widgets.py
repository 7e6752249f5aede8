"""Chapter 07's simulators: their JavaScript in Chromium."""

import numpy as np
import pytest
from classes.chapter_cases import ACCEPTED, functions_of

from specdec_lib.lessons.ch07 import checks as ch07
from specdec_lib.lessons.ch07 import computed, family
from specdec_lib.lessons.widgets.draft_tree import draft_tree_simulator
from specdec_lib.lessons.widgets.timeline import timeline_simulator

pytestmark = pytest.mark.browser

FUNCTIONS = functions_of("07_connections")


def random_trees() -> list[list[int]]:
    rng = np.random.default_rng(2)
    return [[int(rng.integers(-1, i)) for i in range(size)] for size in (1, 2, 5, 9, 14)]


def test_tree_numbers_are_the_librarys(module):
    call = module(draft_tree_simulator(ACCEPTED))
    for parents in [*ch07.SHAPES.values(), *random_trees()]:
        assert call("mask", parents) == FUNCTIONS["tree_attention_mask"](parents).tolist()
        for shares in ACCEPTED.values():
            assert call("tokens", parents, shares) == pytest.approx(
                computed.tree_tokens(parents, shares), abs=1e-12
            )


def test_tree_is_stepped_clicked_and_compared(reader):
    page = reader(draft_tree_simulator(ACCEPTED))
    assert page.numbers() == ["2.63"]
    assert "Node 4 sees the text, 1, and itself." in page.verdict()
    page.frame.get_by_role("slider").focus()
    page.page.keyboard.press("ArrowRight")
    assert "Node 5 sees" in page.verdict()
    page.frame.get_by_role("radio", name="chain of six").check()
    assert page.numbers() == ["3.95"]
    assert "5 sees 0, 1, 2, 3, 4, 5" in page.description(1)
    page.frame.get_by_role("radio", name="poor").check()
    assert page.numbers() == ["1.81"]
    stars = [text for text in page.texts("td") if "★" in text]
    assert stars == ["★ 3.95", "★ 1.94"]
    page.frame.locator(".sd-chart svg").first.locator("g.sd-area").nth(2).click()
    assert "Node 2 sees the text, 0, then 1, and itself." in page.verdict()


def test_timeline_functions(module):
    call = module(timeline_simulator())
    entries = family.as_data()
    assert [call("walk", 20, at, step) for at, step in ((0, -1), (19, 1), (4, 1))] == [0, 19, 5]
    for entry in entries:
        assert call("when", entry) == pytest.approx(entry["year"] + (entry["month"] - 0.5) / 12)
    xs = [call("when", entry) * 90 for entry in entries]
    rows = call("lanes", xs, 21)
    for i, a in enumerate(xs):
        assert all(abs(a - b) >= 21 for j, b in enumerate(xs) if j != i and rows[j] == rows[i])


def test_timeline_is_walked_by_keyboard_and_buttons(reader):
    entries = family.as_data()
    page = reader(timeline_simulator(0))
    page.frame.get_by_role("slider").focus()
    for entry in entries:
        card = page.frame.locator("dl").text_content()
        for part in (entry["drafts"], entry["verifies"], entry["keptText"], entry["source"]):
            assert part in card
        assert f"Shown: {entry['name']}, {entry['year']}." in page.description(0)
        page.page.keyboard.press("ArrowRight")
    page.frame.get_by_role("button", name="Earlier").press("Enter")
    assert f"Shown: {entries[-2]['name']}" in page.description(0)
    page.frame.get_by_role("button", name="Later").click()
    page.frame.get_by_role("button", name="Later").click()
    assert f"Shown: {entries[-1]['name']}" in page.description(0)
