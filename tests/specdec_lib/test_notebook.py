"""A cell that takes long says so below itself, once, and the line is gone when it has ended."""

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from specdec_lib import notebook
from specdec_lib.measure.core.progress import Progress
from specdec_lib.notebook import LONG, RUNNING, LongCells


class Place:
    """An output that remembers what it showed."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, text: str) -> None:
        self.shown.append(text)


class Fires:
    """A timer that fires when it is told to."""

    def __init__(self, seconds: float, function, arguments) -> None:
        self.seconds, self.fire, self.cancelled = seconds, lambda: function(*arguments), False

    def start(self) -> None:
        self.started = True

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def cell():
    """A cell that has begun, its timer, and the place of its line."""
    place, timers = Place(), []
    cells = LongCells(lambda: place, lambda *given: timers.append(Fires(*given)) or timers[-1])
    cells.begins()
    return cells, timers[0], place


def test_a_long_cell_says_that_it_runs_until_it_has_ended(cell):
    cells, timer, place = cell
    assert timer.seconds == LONG and timer.started and timer.daemon
    timer.fire()
    assert place.shown == [RUNNING]
    cells.told()
    cells.told()
    assert place.shown == [RUNNING, ""]


def test_a_short_cell_says_nothing(cell):
    cells, timer, place = cell
    cells.told()
    timer.fire()  # it was on its way
    assert timer.cancelled and place.shown == []


def test_progress_takes_the_place_of_the_line(cell, monkeypatch):
    cells, timer, place = cell
    timer.fire()
    monkeypatch.setattr("specdec_lib.measure.core.progress.long_cells", cells)
    line = Place()
    Progress(lambda: line, after=0).say("3 of 8 layers")
    assert place.shown == [RUNNING, ""] and line.shown == ["3 of 8 layers"]


def test_outside_a_kernel_nothing_is_registered():
    notebook.tell_long_cells()
    assert notebook.shell() is None


def test_in_a_kernel_the_line_stands_below_its_cell_and_is_gone_at_the_end():
    setup = "from specdec_lib import notebook; notebook.LONG = 0.1; import specdec_lib.lessons"
    long = "import time; time.sleep(0.6)"
    book = new_notebook(cells=[new_code_cell(setup), new_code_cell(long), new_code_cell("1")])
    seen = []
    client = NotebookClient(book, timeout=60)
    process = client.process_message

    def noted(message, cell, index):
        if message["msg_type"] in ("display_data", "update_display_data"):
            seen.append((index, message["content"]["data"]["text/plain"]))
        return process(message, cell, index)

    client.process_message = noted
    done = client.execute()
    assert seen == [(1, ""), (1, RUNNING), (1, "")]
    nbformat.validate(done)
    assert not done.cells[2].outputs[1:]
