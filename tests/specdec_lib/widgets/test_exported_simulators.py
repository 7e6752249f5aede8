"""Simulators on exported pages, found by looking and not by a list: they move, their numbers are
the library's, the page asks nobody for anything, and everybody can use them.
"""

from pathlib import Path
from typing import Any

import pytest
from pages.accessibility import faults, pictures_without_words
from pages.browsing import Visitor
from pages.looking import look_at
from pages.simulator_cells import simulator_cells
from pages.simulators import MAKERS, NAMES

# Each once, and of the linked picture every view.
SIMULATORS = [make() for name, make in MAKERS.items() if name in NAMES or "linked" in name]


def test_the_chapters_show_every_simulator_that_there_is():
    assert {cell.simulator for cell in simulator_cells()} == set(NAMES)


@pytest.mark.browser
def test_exported_simulators_move_have_the_librarys_numbers_and_are_open_to_everybody(
    browser: Any, tmp_path: Path
):
    shown = "".join(simulator._repr_mimebundle_()["text/html"] for simulator in SIMULATORS)
    page = tmp_path / "page.html"
    page.write_text(f'<!DOCTYPE html><html lang="en"><title>All</title><main>{shown}</main></html>')
    look = {"viewport": {"width": 400, "height": 900}, "color_scheme": "dark"}
    with Visitor(browser, **look).visit(page) as visitor:
        assert look_at(visitor) == [simulator.name for simulator in SIMULATORS]
        assert faults(visitor.page) == [] and pictures_without_words(visitor.page) == []
