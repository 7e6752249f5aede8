"""Chapter 07's simulator: its JavaScript in Chromium."""

import numpy as np
import pytest
from classes.chapter_cases import ACCEPTED, functions_of
from classes.trees import tree_speedup, tree_tokens

from specdec_lib.lessons.ch07 import lesson
from specdec_lib.lessons.widgets import draft_tree_simulator

pytestmark = pytest.mark.browser

FUNCTIONS = functions_of("07_connections")


def random_trees() -> list[list[int]]:
    rng = np.random.default_rng(2)
    return [[int(rng.integers(-1, i)) for i in range(size)] for size in (1, 2, 5, 9, 14)]


def test_tree_numbers_are_the_librarys(module):
    call = module(draft_tree_simulator(ACCEPTED))
    for parents in [*lesson.SHAPES.values(), *random_trees()]:
        assert call("mask", parents) == FUNCTIONS["tree_attention_mask"](parents).tolist()
        for shares in ACCEPTED.values():
            assert call("tokens", parents, shares) == pytest.approx(
                tree_tokens(parents, shares), abs=1e-12
            )
            assert call("speed", parents, shares, 0.2) == pytest.approx(
                tree_speedup(parents, shares, 0.2), abs=1e-12
            )


def test_tree_is_stepped_clicked_and_compared(reader):
    page = reader(draft_tree_simulator(ACCEPTED))
    assert page.numbers() == ["2.63", "1.88"]
    page.frame.get_by_role("slider", name="c").fill("0")
    assert page.numbers() == ["2.63", "2.63"]
    assert "Node 4 sees the text, 1, and itself." in page.verdict()
    page.frame.get_by_role("slider", name="node").focus()
    page.page.keyboard.press("ArrowRight")
    assert "Node 5 sees" in page.verdict()
    page.frame.get_by_role("radio", name="chain of six").check()
    assert page.numbers() == ["3.95", "3.95"]
    assert "5 sees 0, 1, 2, 3, 4, 5" in page.description(1)
    page.frame.get_by_role("radio", name="poor").check()
    assert page.numbers() == ["1.81", "1.81"]
    stars = [text for text in page.texts("td") if "★" in text]
    assert stars == ["★ 3.95, 3.95x", "★ 1.94, 1.94x"]
    page.frame.get_by_role("radio", name="good").check()
    page.frame.get_by_role("slider", name="c").fill("0.2")
    assert page.numbers() == ["3.95", "1.80"]
    assert "★ 2.65, 1.89x" in page.texts("td")
    page.frame.locator(".sd-chart svg").first.locator("g.sd-area").nth(2).click()
    assert "Node 2 sees the text, 0, then 1, and itself." in page.verdict()
