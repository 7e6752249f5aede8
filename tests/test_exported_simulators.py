"""Simulators on exported pages, found by looking and not by a list: they move, their numbers are
the library's, and the page asks nobody for anything.

The quick test exports every simulator that there is, the slow one reads every chapter's page as
`make solutions` leaves it.
"""

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from accessibility import faults, pictures_without_words
from browsing import Visitor
from chapter_cases import CHAPTERS
from simulator_cells import simulator_cells
from simulator_numbers import agree, expected
from site_pages import made_solutions
from test_simulators import MAKERS, SEEN

from autograde.builder.execute import HTML_CONFIG
from autograde.builder.offline import Page
from specdec_lib.lessons.widgets import Simulator


def exported(simulators: list[Simulator]) -> str:
    """A page of a notebook whose cells have shown these."""
    notebook = nbformat.v4.new_notebook()
    for simulator in simulators:
        shown = nbformat.v4.new_output("display_data", simulator._repr_mimebundle_())
        notebook.cells.append(nbformat.v4.new_code_cell(repr(simulator), outputs=[shown]))
    return Page(config=HTML_CONFIG).from_notebook_node(notebook)[0]


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


def test_the_chapters_show_every_simulator_that_there_is():
    assert {cell.simulator for cell in simulator_cells()} == {
        make().name for make in MAKERS.values()
    }


@pytest.mark.parametrize("wrong", [None, 0, 1, 2, 3])
def test_a_number_that_is_not_the_librarys_is_noticed(wrong: int | None):
    state = MAKERS["tradeoff"]().state
    numbers = expected("tradeoff", state)
    texts = [f"{x * (1.03 if i == wrong else 1):.2f}" for i, x in enumerate(numbers)]
    assert agree(texts, "tradeoff", state) is (wrong is None)
    assert not agree(texts[1:], "tradeoff", state)


@pytest.mark.browser
def test_exported_simulators_move_and_have_the_librarys_numbers(browser: Any, tmp_path: Path):
    simulators = {make().name: make() for name, make in MAKERS.items() if "," not in name}
    path = tmp_path / "page.html"
    path.write_text(exported(list(simulators.values())))
    with Visitor(browser).visit(path) as visitor:
        assert look_at(visitor) == list(simulators)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_exported_simulators_are_open_to_everybody(browser: Any, tmp_path: Path, scheme: str):
    path = tmp_path / "page.html"
    path.write_text(exported([make() for name, make in MAKERS.items() if "," not in name]))
    look = {"viewport": {"width": 400, "height": 900}, "color_scheme": scheme}
    with Visitor(browser, **look).visit(path) as visitor:
        assert len(list(frames(visitor))) == len({make().name for make in MAKERS.values()})
        assert faults(visitor.page) == [] and pictures_without_words(visitor.page) == []


@pytest.mark.slow
@pytest.mark.browser
def test_simulators_of_the_executed_chapters(browser: Any):
    found = {}
    for page in made_solutions():
        with Visitor(browser).visit(page) as visitor:
            found[page.stem] = look_at(visitor)
            assert faults(visitor.page) == [] and pictures_without_words(visitor.page) == []
    want = {chapter: [] for chapter in CHAPTERS}
    for cell in simulator_cells():
        want[cell.chapter].append(cell.simulator)
    assert found == want
