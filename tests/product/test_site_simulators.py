"""Simulators on the built site: they move on a reader's own machine, with no kernel behind them."""

from collections.abc import Iterator
from typing import Any

import pytest
from pages.browsing import Visitor
from pages.serving import serve_folder
from pages.simulators import FITS, NAMES, move_simulators
from pages.site_pages import built_site

from autograde.course import chapter_names

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SCREEN = 800  # pixels of height


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site, from a server that has its files and nothing else."""
    with serve_folder(built_site()) as url:
        yield url


def test_the_first_screen_shows_most_of_a_simulator(browser: Any, address: str):
    look = {"viewport": {"width": 1280, "height": SCREEN}}
    with Visitor(browser, **look).visit(address) as visitor:
        element = visitor.page.locator("iframe.specdec-simulator")
        frame = element.element_handle().content_frame()
        frame.locator(".sd-chart svg").first.wait_for()
        frame.wait_for_function(FITS)
        box, bars = element.bounding_box(), frame.locator(".sd-bars").bounding_box()
        number = frame.locator(".sd-number").last.bounding_box()
    for part in (bars, number):  # what is dragged, and what moves with it
        assert part["y"] >= box["y"] >= 0 and part["y"] + part["height"] <= SCREEN
    assert SCREEN - box["y"] > box["height"] / 2


def test_every_simulator_of_the_site_moves(browser: Any, address: str):
    found = 0
    for page in ("index", *(f"chapters/{name}" for name in chapter_names())):
        with Visitor(browser).visit(f"{address}{page}.html") as visitor:
            found += move_simulators(visitor)
    assert found > len(NAMES)
