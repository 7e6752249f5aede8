"""Simulators on exported pages, found by looking and not by a list: they move, their numbers are
the library's, and the page asks nobody for anything.
"""

from pathlib import Path
from typing import Any

import pytest
from pages.accessibility import faults, pictures_without_words
from pages.browsing import Visitor
from pages.looking import frames, look_at
from pages.simulator_cells import simulator_cells
from pages.simulator_numbers import agree, expected
from pages.simulators import MAKERS, NAMES

# Each once, and of the linked picture every view.
SIMULATORS = [make() for name, make in MAKERS.items() if name in NAMES or "linked" in name]


def exported(folder: Path) -> Path:
    """A page with every simulator, each in the form that it has without a kernel."""
    shown = "".join(simulator._repr_mimebundle_()["text/html"] for simulator in SIMULATORS)
    page = folder / "page.html"
    page.write_text(f'<!DOCTYPE html><html lang="en"><title>All</title><main>{shown}</main></html>')
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
