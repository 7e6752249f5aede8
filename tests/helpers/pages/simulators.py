"""Every simulator of the course, and what a reader sees of one."""

from typing import Any

from classes.chapter_cases import ACCEPTED, SETTINGS
from pages.browsing import Visitor

from specdec_lib.lessons.widgets import (
    batch_simulator,
    bottleneck_simulator,
    draft_tree_simulator,
    generation_simulator,
    linked_simulator,
    paper_rows_simulator,
    trace_picture,
)

TEXT = {
    "drafted": ["return", " x"],
    "p": [0.5, 0.25],
    "q": [0.75, 0.25],
    "accepted": 1,
    "token": "\n" + 40 * " ",
}

# Every simulator, with as much in it as its sliders allow.
MAKERS = {
    "batch": lambda: batch_simulator(k=16, rows=16),
    "bottleneck": lambda: bottleneck_simulator(tokens=512),
    "bottleneck, slow": lambda: bottleneck_simulator(peak_flops=1e9, tokens=512),
    "bottleneck, fast": lambda: bottleneck_simulator(peak_flops=1e16, tokens=512),
    "draft_tree": lambda: draft_tree_simulator(ACCEPTED),
    "generation": lambda: generation_simulator(k=16),
    "linked": linked_simulator,
    "linked, paths": lambda: linked_simulator("paths"),
    "linked, speed": lambda: linked_simulator("speed", c=0.05),
    "paper_rows": lambda: paper_rows_simulator(SETTINGS),
    "trace": lambda: trace_picture("def f(x):", 30 * [TEXT]),
}

# Their names, each once.
NAMES = [name for name in MAKERS if "," not in name]

# Inside a simulator's frame: whether nothing scrolls, it is as high as its body, and no drawing is
# wider than its place.
FITS = """() => {
  const page = document.documentElement;
  const body = Math.ceil(document.body.getBoundingClientRect().height);
  const drawings = [...document.querySelectorAll(".sd-chart svg[role=img]")];
  return page.scrollWidth <= innerWidth && innerHeight === body && page.scrollHeight === body &&
    drawings.every((each) => each.clientWidth <= each.parentElement.clientWidth + 1);
}"""

# What a reader sees of a simulator, in words and numbers.
VISIBLE = """() =>
  [...document.querySelectorAll(".sd-number, output, [aria-label], .sd-verdict, pre")]
  .map((each) => `${each.textContent}|${each.getAttribute("aria-label")}`).join("\\n")"""


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
