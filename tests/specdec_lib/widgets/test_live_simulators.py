"""Every simulator of the chapters, live in JupyterLab: its numbers follow the sliders, in the
page and in the kernel, and are the library's.

One notebook holds them all, each as its chapter makes it.
"""

import json

import nbformat
import pytest
from pages.jupyter_lab import RUN, Lab
from pages.simulator_cells import SimulatorCell, simulator_cells
from pages.simulator_numbers import agree, expected

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = simulator_cells()
STATES = "print(json.dumps([each.state for each in shown]))"


def notebook() -> nbformat.NotebookNode:
    """The notebook that shows them all."""
    made = nbformat.v4.new_notebook()
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    sources = ["import json\nshown = []", *map(source_of, CELLS), STATES]
    made.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    return made


def source_of(cell: SimulatorCell) -> str:
    number = CELLS.index(cell)
    return f"# simulator {number:02}\n{cell.above}\nshown.append({cell.expression})\nshown[-1]"


def move(lab: Lab, number: int) -> None:
    """Move every slider of a simulator by some steps; what has none is stepped by its button."""
    inside = lab.simulator(f"# simulator {number:02}")
    sliders = inside.get_by_role("slider").all()
    for slider in sliders:
        at_end = slider.input_value() == slider.get_attribute("max")
        for _ in range(3):
            slider.press("ArrowLeft" if at_end else "ArrowRight")
    if not sliders:
        for _ in range(3):
            inside.get_by_role("button", name="Forward").press("Enter")


def states(lab: Lab) -> list[dict]:
    """Every simulator's state, as the kernel has it now."""
    lab.click_into(STATES)
    lab.page.keyboard.press(RUN)
    lab.wait_until_idle()
    return json.loads(lab.cell(STATES).locator(".jp-OutputArea-output").inner_text())


def test_every_simulator_moves_in_the_page_and_in_the_kernel(lab: Lab, student_server):
    lab.open(student_server.put("live", notebook()))
    lab.run_all()
    assert lab.errors == []
    before = states(lab)
    for number in range(len(CELLS)):
        move(lab, number)
    after = states(lab)
    assert len(before) == len(after) == len(CELLS)
    for number, (cell, old, new) in enumerate(zip(CELLS, before, after, strict=True)):
        assert old != new, cell.simulator
        inside = lab.cell(f"# simulator {number:02}")
        texts = inside.locator(".sd-number").all_text_contents()
        assert agree(texts, cell.simulator, new), (texts, expected(cell.simulator, new))
