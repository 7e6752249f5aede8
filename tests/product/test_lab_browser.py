"""Chapter 02 in a real JupyterLab, started by `specdec start`, as a student meets it."""

import re
from collections.abc import Iterator

import nbformat
import pytest
from classes.submitting import CHAPTER, right
from pages.jupyter_lab import Lab, StudentServer

from autograde.intake.submission import release_of
from autograde.tools.samples import functions_of
from specdec_lib.lessons.widgets import linked_simulator

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXERCISES = functions_of(CHAPTER)
SIMULATOR = "linked_simulator("
RELEASE = release_of(CHAPTER)
TABLE, FORMULA, BOX = r"^\| ---", r"\$\$.+?\$\$", '<div class="alert'
BOXES = r"""boxes => boxes.map(box => {
  const [own, around] = [box, box.parentElement].map(each => getComputedStyle(each));
  return own.color === around.color && own.backgroundColor.startsWith("rgba(") })"""
# real_text and beside_the_paper write a page.
PICTURE = re.compile(r"^figures\.(?!real_text|beside_the_paper)\w+\(", re.MULTILINE)
FIGURES = sum(len(PICTURE.findall(cell.source)) for cell in RELEASE.cells)


@pytest.fixture(scope="module")
def student_server(tmp_path_factory) -> Iterator[StudentServer]:
    """The JupyterLab of `specdec start`; each test works in a notebook of its own there."""
    with StudentServer(tmp_path_factory.mktemp("lab")).running() as server:
        yield server
    assert "JupyterLab has stopped" in server.log.read_text()


@pytest.fixture
def lab(browser, student_server: StudentServer) -> Iterator[Lab]:
    """JupyterLab in a fresh browser. At the end nothing may have asked another machine."""
    opened = Lab(browser, student_server)
    yield opened
    opened.context.close()
    assert opened.outside == []


def in_release(pattern: str) -> int:
    """How often `pattern` occurs in the chapter."""
    flags = re.MULTILINE | re.DOTALL
    return sum(len(re.findall(pattern, cell.source, flags)) for cell in RELEASE.cells)


def test_what_a_student_gets_can_be_read_and_validate_says_what_is_not_written(lab):
    lab.open(f"{CHAPTER}/{CHAPTER}.ipynb")
    lab.read()
    tables, formulas, boxes = map(in_release, (TABLE, FORMULA, BOX))
    assert lab.count(".jp-RenderedMarkdown table", tables) == tables > 0
    assert lab.count("mjx-container[display=true]", formulas) == formulas > 0
    assert lab.panel.locator("mjx-merror, [data-mjx-error]").count() == 0
    # JupyterLab keeps the boxes' tint, on which its own text can be read in the dark too.
    assert lab.count(".alert", boxes) == boxes > 0
    assert all(lab.panel.locator(".alert").evaluate_all(BOXES))
    # No question about news, none of nbgrader's tools for instructors, and nothing unsaved.
    assert lab.page.locator(".Toastify__toast, .jp-Dialog").count() == 0
    assert lab.page.get_by_text(re.compile("Create Assignment|^Nbgrader$")).count() == 0
    assert lab.page.locator(".jp-mod-dirty").count() == 0
    said = lab.validate()
    assert EXERCISES and all(f"{name}: not written yet" in said for name in EXERCISES)
    assert "quiz_02: no answer yet" in said and "prediction_02: no guess yet" in said
    assert "Success" not in said


def test_right_answers_run_to_the_end_and_pass_validation(lab, student_server):
    notebook = right()
    notebook.cells = [cell for cell in notebook.cells if "show_race(" not in cell.source]  # long
    lab.open(student_server.put("right", notebook))
    lab.run_all()
    assert lab.errors == []
    assert lab.panel.locator(".jp-OutputArea img[alt]").count() == FIGURES > 0
    for name in EXERCISES:
        lab.wait_for_output(f"lesson.check_{name}", f"{name}: all ")
    hint = lab.page.locator("details", has_text="Hint 1 for speculative_accept")
    assert not hint.locator("p").is_visible()
    hint.locator("summary").click()
    assert hint.locator("p").is_visible()
    assert "Success! Your notebook passes all the tests." in lab.validate()


def test_the_simulator_moves_and_is_there_when_the_notebook_is_opened_again(lab, student_server):
    path = student_server.put("moved", _simulator_alone())
    lab.open(path)
    lab.run_all()
    assert lab.numbers(SIMULATOR) == ["0.80", "0.20"]
    slider = lab.page.get_by_role("slider", name="draft q of B")
    for _ in range(35):
        slider.press("ArrowUp")
    moved = ["0.50", "0.50"]
    assert lab.numbers(SIMULATOR) == moved
    lab.page.keyboard.press("Control+s")
    lab.page.locator(".jp-mod-dirty").wait_for(state="detached")
    # Under another name it has no kernel yet: what is seen then comes from the file.
    saved = nbformat.read(student_server.work / path, as_version=4)
    assert "widgets" in saved.metadata
    lab.open(student_server.put("again", saved))
    assert lab.numbers(SIMULATOR) == moved
    assert lab.page.get_by_text("Error displaying widget").count() == 0


def test_a_simulator_from_elsewhere_says_what_to_do_until_it_is_trusted(lab, student_server):
    lab.open(student_server.put("elsewhere", _run_elsewhere()))
    lab.wait_for_output(SIMULATOR, "Run this cell to see the simulator.")
    assert lab.cell(SIMULATOR).locator("iframe").count() == 0
    _choose_in_palette(lab, "Trust Notebook")
    lab.page.locator(".jp-Dialog").get_by_role("button", name="Trust").click()
    assert lab.numbers(SIMULATOR) == ["0.80", "0.20"]


def _choose_in_palette(lab: Lab, command: str) -> None:
    """Search the command palette for a command and take it, by keyboard.

    The palette may draw its list anew at any time, and a click on a line of it would be lost.
    """
    lab.page.keyboard.press("ControlOrMeta+Shift+c")
    lab.page.locator(".lm-CommandPalette-input").fill(command)
    lab.page.locator(".lm-CommandPalette-item.lm-mod-active", has_text=command).wait_for()
    lab.page.keyboard.press("Enter")


def _simulator_alone() -> nbformat.NotebookNode:
    """A notebook of one cell, the chapter's simulator."""
    source = f"from {linked_simulator.__module__} import linked_simulator\n"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cell = nbformat.v4.new_code_cell(f"{source}linked_simulator()")
    return nbformat.v4.new_notebook(cells=[cell], metadata=kernel)


def _run_elsewhere() -> nbformat.NotebookNode:
    """The same with its output and state as another machine has saved them."""
    notebook, simulator = _simulator_alone(), linked_simulator()
    shown = nbformat.v4.new_output("display_data", simulator._repr_mimebundle_())
    notebook.cells[0].outputs = [shown]
    state = simulator.widget.get_manager_state()
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": state}
    return notebook
