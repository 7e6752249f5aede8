"""What every simulator keeps: plain state, no network, no motion, labelled sliders, its width."""

import html
import json
import re

import pytest
from classes.chapter_cases import CHAPTERS, text_of
from pages.accessibility import faults, pictures_without_words
from pages.browsing import Visitor
from pages.simulators import FITS, MAKERS, NAMES, VISIBLE, move_simulators

from specdec_lib.lessons.widgets import simulators
from specdec_lib.lessons.widgets.simulator import WIDGETS, simulator_css

NETWORK = r"^\s*import\b|\bfetch\b|XMLHttpRequest|WebSocket|@import|<link"
PLAYING = [name for name in NAMES if "player(" in (WIDGETS / f"{name}.js").read_text()]


def test_every_simulator_is_here_and_a_chapter_shows_it():
    named = {path.stem for path in WIDGETS.glob("*.js")}
    assert {make().name for make in MAKERS.values()} == set(NAMES) == named
    chapters = "".join(map(text_of, CHAPTERS))
    makers = [name for name in vars(simulators) if name.endswith(("_simulator", "_picture"))]
    assert len(makers) == len(NAMES)
    assert all(f"lessons.widgets import {maker}" in chapters for maker in makers)


@pytest.mark.slow
@pytest.mark.browser
def test_on_an_exported_page_all_move_and_are_open_to_everybody(browser, tmp_path):
    shown = "".join(make()._repr_mimebundle_()["text/html"] for make in MAKERS.values())
    page = tmp_path / "page.html"
    page.write_text(f'<!DOCTYPE html><html lang="en"><title>All</title><main>{shown}</main></html>')
    look = {"viewport": {"width": 400, "height": 900}, "color_scheme": "dark"}
    with Visitor(browser, **look).visit(page) as visitor:
        assert move_simulators(visitor) == len(MAKERS)
        assert faults(visitor.page) == [] and pictures_without_words(visitor.page) == []


@pytest.mark.parametrize("name", MAKERS)
def test_both_renderings_run_one_module_that_asks_nobody_for_anything(name):
    simulator = MAKERS[name]()
    json.dumps(simulator.state)
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', simulator.frame())[1])
    assert simulator.module in page and simulator.widget._esm == simulator.module
    assert page.count("</script>") == 1
    delivered = simulator_css() + simulator.module
    assert set(re.findall(r"\w+://[^\"'\s]*", delivered)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(NETWORK, delivered, re.MULTILINE)
    assert not re.search(r"transition|animation:|requestAnimationFrame|<animate", delivered)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("width", [320, 900])
def test_it_fits_its_width_and_takes_its_height(reader, name, width):
    page = reader(MAKERS[name](), width=width)
    if name == "generation":
        page.press("To the end")
    page.page.frames[1].wait_for_function(FITS)
    for drawing in page.frame.locator(".sd-chart svg[role=img]").all():
        assert "NaN" not in drawing.inner_html() and drawing.get_attribute("aria-label").strip()


@pytest.mark.browser
@pytest.mark.parametrize("name", NAMES)
def test_every_slider_has_a_name_and_follows_the_arrow_keys(reader, name):
    sliders = reader(MAKERS[name]()).frame.get_by_role("slider")
    assert sliders.count()
    for slider in sliders.all():
        assert slider.evaluate("input => input.labels[0].textContent.trim()")
        before = slider.get_attribute("aria-valuetext")
        at_end = slider.input_value() == slider.get_attribute("max")
        slider.press("ArrowLeft" if at_end else "ArrowRight")
        assert slider.get_attribute("aria-valuetext") != before


@pytest.mark.browser
def test_a_layout_in_the_making_is_not_drawn_in(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(MAKERS["linked"]().page())
    with Visitor(browser, viewport={"width": 120, "height": 900}).visit(path) as visitor:
        visitor.page.locator(".sd-chart").first.wait_for(state="attached")
        visitor.page.evaluate("() => new Promise(requestAnimationFrame)")
        assert visitor.page.locator(".sd-chart svg").count() == 0
        visitor.page.set_viewport_size({"width": 400, "height": 900})
        visitor.page.locator(".sd-chart svg").first.wait_for()


def moves_by_itself(page) -> bool:
    """Whether anything changes in ten seconds after one of its buttons was pressed."""
    page.hold_clock()
    for button in page.frame.get_by_role("button").all():
        button.press("Enter")
        before = page.evaluate(VISIBLE)
        page.page.clock.run_for(10_000)
        if page.evaluate(VISIBLE) != before or page.evaluate("document.getAnimations().length"):
            return True
    return False


@pytest.mark.browser
@pytest.mark.parametrize("name", PLAYING)
def test_what_plays_moves_by_itself_but_not_with_reduced_motion(reader, name):
    assert moves_by_itself(reader(MAKERS[name]()))
    assert not moves_by_itself(reader(MAKERS[name](), motion="reduce"))
