"""Every simulator of the course, and what a reader sees of one."""

from typing import Any

from classes.chapter_cases import ACCEPTED, SETTINGS
from pages.browsing import Visitor, script

from specdec_lib.lessons import widgets

TEXT = {
    "drafted": ["return", " x"],
    "p": [0.5, 0.25],
    "q": [0.75, 0.25],
    "accepted": 1,
    "token": "\n" + 40 * " ",
}

# Every simulator, with as much in it as its sliders allow.
MAKERS = {
    "batch": lambda: widgets.batch_simulator(k=16, rows=16),
    "bottleneck": lambda: widgets.bottleneck_simulator(tokens=512),
    "bottleneck, slow": lambda: widgets.bottleneck_simulator(peak_flops=1e9, tokens=512),
    "bottleneck, fast": lambda: widgets.bottleneck_simulator(peak_flops=1e16, tokens=512),
    "draft_tree": lambda: widgets.draft_tree_simulator(ACCEPTED),
    "generation": lambda: widgets.generation_simulator(k=16),
    "linked": widgets.linked_simulator,
    "linked, paths": lambda: widgets.linked_simulator("paths"),
    "linked, speed": lambda: widgets.linked_simulator("speed", c=0.05),
    "paper_rows": lambda: widgets.paper_rows_simulator(SETTINGS),
    "trace": lambda: widgets.trace_picture("def f(x):", 30 * [TEXT]),
}

# Their names, each once.
NAMES = [name for name in MAKERS if "," not in name]

FITS = script("simulator_fits")
VISIBLE = script("simulator_shows")


def move_simulators(visitor: Visitor) -> int:
    """Use the first control of every simulator of the page: each moves; returns how many."""
    elements = visitor.page.locator("iframe.specdec-simulator").all()
    for element in elements:
        element.scroll_into_view_if_needed()
        frame = element.element_handle().content_frame()
        frame.locator(".sd-chart svg").first.wait_for()
        before = frame.evaluate(VISIBLE)
        _move(frame)
        assert frame.evaluate(VISIBLE) != before, element.get_attribute("title")
    return len(elements)


def _move(frame: Any) -> None:
    """A step of the first slider; where there is none, of the button Forward."""
    slider = frame.get_by_role("slider").first
    if slider.count():
        at_end = slider.input_value() == slider.get_attribute("max")
        slider.press("ArrowLeft" if at_end else "ArrowRight")
    else:
        frame.get_by_role("button", name="Forward").press("Enter")
