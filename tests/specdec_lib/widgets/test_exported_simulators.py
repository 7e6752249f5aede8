"""Simulators on exported pages, found by looking and not by a list: they move, their numbers are
the library's, and the page asks nobody for anything.

The quick test exports every simulator that there is, the slow one reads every chapter's page as
`make solutions` leaves it.
"""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from classes.chapter_cases import CHAPTERS
from pages.accessibility import faults, pictures_without_words
from pages.browsing import Visitor
from pages.looking import frames, look_at
from pages.simulator_cells import simulator_cells
from pages.simulator_numbers import agree, expected
from pages.simulators import MAKERS, NAMES
from pages.site_pages import made_solutions

from autograde.report.offline import Page

# Each once, and of the linked picture every view.
SIMULATORS = [make() for name, make in MAKERS.items() if name in NAMES or "linked" in name]


def exported(folder: Path) -> Path:
    """A page of a notebook whose cells have shown every simulator."""
    notebook = nbformat.v4.new_notebook()
    for simulator in SIMULATORS:
        shown = nbformat.v4.new_output("display_data", simulator._repr_mimebundle_())
        notebook.cells.append(nbformat.v4.new_code_cell(repr(simulator), outputs=[shown]))
    page = folder / "page.html"
    page.write_text(Page().from_notebook_node(notebook)[0])
    return page


def test_the_chapters_show_every_simulator_that_there_is():
    assert {cell.simulator for cell in simulator_cells()} == set(NAMES)


@pytest.mark.parametrize("wrong", [None, 0, 1, 2, 3])
def test_a_number_that_is_not_the_librarys_is_noticed(wrong: int | None):
    state = MAKERS["linked"]().state
    numbers = expected("linked", state)
    texts = [f"{x * (1.03 if i == wrong else 1):.3g}" for i, x in enumerate(numbers)]
    assert agree(texts, "linked", state) is (wrong is None)
    assert not agree(texts[1:], "linked", state)


@pytest.mark.browser
def test_exported_simulators_move_and_have_the_librarys_numbers(browser: Any, tmp_path: Path):
    with Visitor(browser).visit(exported(tmp_path)) as visitor:
        assert look_at(visitor) == [simulator.name for simulator in SIMULATORS]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_exported_simulators_are_open_to_everybody(browser: Any, tmp_path: Path, scheme: str):
    look = {"viewport": {"width": 400, "height": 900}, "color_scheme": scheme}
    with Visitor(browser, **look).visit(exported(tmp_path)) as visitor:
        assert len(list(frames(visitor))) == len(SIMULATORS)
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
