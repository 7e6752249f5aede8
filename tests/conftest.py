"""What all tests share: one thread a worker, a headless Chromium, and the words of figures.

Tests marked `browser` are left out where there is no Chromium, those marked `cluster` where
dask.distributed is not installed, those marked `hub` where no accounts can be made, those marked
`isolation` where bubblewrap is not installed.
"""

import asyncio
import gc
import importlib.util
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from classes.hub_programs import why_no_hub

import autograde  # noqa: F401  before nbformat, which then starts faster
from autograde.sandbox.bwrap import NO_BUBBLEWRAP, find_bubblewrap
from autograde.sandbox.isolation import NONE, VARIABLE

# Two workers of two threads each, on two cores, would wait for one another most of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests about grading, not about the sandbox, run the tests' own submissions on any machine.
os.environ.setdefault(VARIABLE, NONE)
# nbgrader, alembic and Jupyter, which tests start, would take 2.5 s longer each.
_PATHS = [str(Path(__file__).with_name("helpers") / "quick_start"), os.environ.get("PYTHONPATH")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, _PATHS))

# Files that one worker takes, since they share what is long in the making: the right answers' cases
# and the outcomes of wrong ones, which a process keeps for each chapter.
_GRADING = (
    *("test_gates.py", "test_causes.py", "test_fair_marks.py", "test_ch08.py", "test_marks.py"),
    "test_follow_through.py",
)

# The files that take longest, whatever their number of tests: they are begun first, for a worker
# that met one at the end would be alone with it. pytest-xdist keeps the order with
# --no-loadscope-reorder.
_LONG = (
    *(*_GRADING, "test_chapters.py", "test_simulators.py"),
    *("test_attacks.py", "test_exactness.py", "test_bad_submissions.py", "test_course.py"),
    *("test_class.py", "test_nbgrader.py", "test_hostile_pages.py"),
)
_PLACE = {name: place for place, name in enumerate(_LONG)}

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def _chromium() -> str | None:
    """The installed Chromium: `$CHROMIUM`, else the first known name on the path."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


def _why_left_out() -> Iterator[tuple[str, str]]:
    """Each marker whose tests cannot run here, and why."""
    if importlib.util.find_spec("playwright") is None:
        yield "browser", "playwright is not installed (pip install -e .[dev])"
    elif _chromium() is None:
        yield "browser", f"no Chromium found ($CHROMIUM, or one of {', '.join(_NAMES)} on the path)"
    if importlib.util.find_spec("distributed") is None:
        yield "cluster", "distributed is not installed (pip install -e .[cluster])"
    if missing := why_no_hub():
        yield "hub", missing
    if not find_bubblewrap():
        yield "isolation", NO_BUBBLEWRAP


LEFT_OUT = dict(_why_left_out())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """With `--dist loadfile`: a file goes to one worker whole, and so does _GRADING."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return _GRADING[0] if file.rpartition("/")[2] in _GRADING else file

    return Together(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _PLACE.get(item.path.name, len(_LONG)))
    left_out = [item for item in items if any(map(item.get_closest_marker, LEFT_OUT))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """What is there now stays to the end, and no collection has to walk it again.

    With torch, transformers and all tests loaded one took half a second, and what is measured
    collects garbage between any two steps.
    """
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for marker, reason in LEFT_OUT.items():
        terminalreporter.write_line(f"{marker} tests were deselected: {reason}", yellow=True)


# Between its calls playwright leaves its event loop marked as running, and asyncio.run then refuses
# to work. So the mark is taken off for tests that use no browser, and put back for those that do.
_loop_of_browser: asyncio.AbstractEventLoop | None = None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if _loop_of_browser is not None:
        asyncio._set_running_loop(_loop_of_browser if item.get_closest_marker("browser") else None)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """A headless Chromium (playwright's sync Browser), one for each test process.

    Tests that use it carry the marker `browser`.
    """
    global _loop_of_browser
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=_chromium(), args=_ARGUMENTS)
        _loop_of_browser = asyncio._get_running_loop()
        yield chromium
        asyncio._set_running_loop(_loop_of_browser)
        chromium.close()
    _loop_of_browser = None


@pytest.fixture(scope="session")
def idle_readers(browser) -> dict[tuple, list]:
    """Pages that no test uses now, by their look.

    A new page costs a second of the processor, another simulator in an old page a third of one.
    """
    return defaultdict(list)


@pytest.fixture
def reader(browser, idle_readers) -> Iterator:
    """`reader(simulator, width=..., scheme=..., motion=...)` opens it as a reader meets it.

    At the end there must be no error on the console and no request.
    """
    from pages.browsing import Reader

    opened = []

    def open_page(simulator, **look):
        idle = idle_readers[tuple(look.items())]
        one = idle.pop() if idle else Reader(browser, **look)
        opened.append((one, idle))
        return one.show(simulator)

    yield open_page
    for one, idle in opened:
        assert (one.errors, one.requests) == ([], [])
        one.page.close() if one.clock_held else idle.append(one)


@pytest.fixture(scope="session")
def blank_page(browser):
    """A page for modules without a simulator around them."""
    return browser.new_page()


@pytest.fixture
def module(blank_page) -> Callable:
    """`module(simulator)` gives `call(name, *arguments)` for what its module exports."""
    from pages.browsing import exported

    return partial(exported, blank_page)


@pytest.fixture(scope="module")
def machine():
    """A machine with the built-in models (built_in_machine), one for a test module."""
    from decoders.built_in_machine import built_in_machine

    return built_in_machine()


@pytest.fixture(scope="session")
def student_server(tmp_path_factory) -> Iterator:
    """The JupyterLab of `specdec start` (jupyter_lab.StudentServer), one for each test process.

    Each test works in a notebook of its own there: `student_server.put(name, notebook)`.
    """
    from pages.jupyter_lab import StudentServer

    with StudentServer(tmp_path_factory.mktemp("lab")).running() as server:
        yield server
    assert "JupyterLab has stopped" in server.log.read_text()


@pytest.fixture
def lab(browser, student_server) -> Iterator:
    """JupyterLab in a fresh browser. At the end nothing may have asked another machine."""
    from pages.jupyter_lab import Lab

    one = Lab(browser, student_server)
    yield one
    one.context.close()
    assert one.outside == []


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The alternative texts of the figures that a test draws."""
    return _words_of_figures(monkeypatch, lambda figure: None)


@pytest.fixture
def painted(monkeypatch) -> list[str]:
    """The same, and every figure is rendered as for a page."""
    return _words_of_figures(monkeypatch, lambda figure: figure.canvas.draw())


def _words_of_figures(monkeypatch: pytest.MonkeyPatch, paint: Callable) -> list[str]:
    import matplotlib.pyplot as plt
    from classes.chapter_cases import CHAPTERS, figure_modules

    from specdec_lib.lessons.drawing import series

    texts: list[str] = []

    def keep(figure, alt: str) -> None:
        paint(figure)
        plt.close(figure)
        texts.append(alt)

    for module in (each for chapter in CHAPTERS for each in figure_modules(chapter)):
        monkeypatch.setattr(module, "show", keep, raising=False)
        for name in ("BLOCKS", "REQUESTS", "STEPS"):  # fewer draws than a student sees
            if hasattr(module, name):
                monkeypatch.setattr(module, name, 100)
    monkeypatch.setattr(series, "show", keep)
    return texts
