"""Looking at the simulators of a page: their numbers, and that they move."""

import html
import json
from collections.abc import Iterator
from typing import Any

from pages.browsing import Visitor
from pages.simulator_numbers import agree, expected
from pages.simulators import MAKERS, SEEN


def frames(visitor: Visitor) -> Iterator[Any]:
    """The frames with a simulator, each once it is drawn."""
    for element in visitor.page.locator("iframe.specdec-simulator").all():
        element.scroll_into_view_if_needed()
        frame = element.element_handle().content_frame()
        frame.locator(".sd-chart svg").first.wait_for()
        yield frame


def start_of(frame: Any) -> tuple[str, dict]:
    """The simulator's name and its first state, as they stand in the frame's page."""
    source = html.unescape(frame.frame_element().get_attribute("srcdoc"))
    name = next(make().name for make in MAKERS.values() if make().module in source)
    values = json.JSONDecoder().raw_decode(source.split("const values = ")[1])[0]
    return name, values["state"]


def moved(frame: Any) -> tuple[str, str]:
    """What it says before and after its first slider, or else its button Forward, was used."""
    before = frame.evaluate(SEEN)
    slider = frame.get_by_role("slider").first
    if slider.count():
        at_end = slider.input_value() == slider.get_attribute("max")
        slider.press("ArrowLeft" if at_end else "ArrowRight")
    else:
        frame.get_by_role("button", name="Forward").press("Enter")
    return before, frame.evaluate(SEEN)


def look_at(visitor: Visitor) -> list[str]:
    """Look at every simulator of the page: its numbers, and that it moves; returns their names."""
    names = []
    for frame in frames(visitor):
        name, state = start_of(frame)
        names.append(name)
        numbers = frame.locator(".sd-number").all_text_contents()
        assert agree(numbers, name, state), (name, numbers, expected(name, state))
        before, after = moved(frame)
        assert before != after, name
    return names
