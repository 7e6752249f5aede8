"""Simulators on the built site: they move on a reader's own machine, with no kernel behind them.

The pages are found by following the links from the first one.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urldefrag

import pytest
from pages.browsing import Visitor
from pages.looking import frames, look_at, start_of
from pages.serving import served
from pages.simulator_cells import simulator_cells
from pages.simulator_numbers import agree
from pages.simulators import FITS
from pages.site_pages import made_site

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SCREEN = 800  # pixels of height
LINKS = "links => links.map((link) => link.href)"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site, from a server that has its files and nothing else."""
    with served(made_site()) as url:
        yield url


def first_page(browser: Any, address: str, width: int) -> Visitor:
    return Visitor(browser, viewport={"width": width, "height": SCREEN}).visit(address)


def test_the_first_screen_shows_most_of_a_simulator(browser: Any, address: str):
    with first_page(browser, address, 1280) as visitor:
        element = visitor.page.locator("iframe.specdec-simulator")
        frame = element.element_handle().content_frame()
        frame.locator(".sd-chart svg").first.wait_for()
        frame.wait_for_function(FITS)
        box, bars = element.bounding_box(), frame.locator(".sd-bars").bounding_box()
        number = frame.locator(".sd-number").last.bounding_box()
    for part in (bars, number):  # what is dragged, and what moves with it
        assert part["y"] >= box["y"] >= 0 and part["y"] + part["height"] <= SCREEN
    assert SCREEN - box["y"] > box["height"] / 2


@pytest.mark.parametrize("width", [1280, 400])
def test_the_simulator_of_the_first_page_follows_the_keys(browser: Any, address: str, width: int):
    with first_page(browser, address, width) as visitor:
        (frame,) = frames(visitor)
        name, state = start_of(frame)
        assert agree(frame.locator(".sd-number").all_text_contents(), name, state)
        for slider in ("target p of A", "draft q of B"):
            for _ in range(15):
                frame.get_by_role("slider", name=slider, exact=True).press("ArrowRight")
        rest = 0.4 / 0.55  # of what the other tokens had
        state["target"] = [0.6, 0.3 * rest, 0.15 * rest, 0.1 * rest]
        state["draft"] = [0.3 * rest, 0.6, 0.2 * rest, 0.05 * rest]
        assert agree(frame.locator(".sd-number").all_text_contents(), name, state)


def simulators_of_the_site(browser: Any, address: str) -> dict[str, list[str]]:
    """The simulators of every page that a reader gets to by links; each was seen to move."""
    found, places = {}, [f"{address}index.html"]
    for place in places:  # which grows
        with Visitor(browser).visit(place) as visitor:
            found[place.removeprefix(address)] = look_at(visitor)
            links = visitor.page.locator("a[href]").evaluate_all(LINKS)
        pages = dict.fromkeys(urldefrag(link).url for link in links)
        own = (page for page in pages if page.startswith(address) and page.endswith(".html"))
        places += [page for page in own if page not in places]
    return found


def test_every_simulator_of_the_site_moves(browser: Any, address: str):
    want = {"index.html": ["linked"]}
    for cell in simulator_cells():
        want.setdefault(f"chapters/{cell.chapter}.html", []).append(cell.simulator)
    found = simulators_of_the_site(browser, address)
    assert {page: names for page, names in found.items() if names} == want
