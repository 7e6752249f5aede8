"""What all tests share: one thread a worker, a headless Chromium, and the words of figures.

Tests marked `browser` are left out where there is no Chromium, those marked `cluster` where
dask.distributed is not installed, those marked `hub` where no accounts can be made, those marked
`isolation` where bubblewrap is not installed.
"""

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
from autograde.sandbox.isolation import NO_BUBBLEWRAP, NONE, VARIABLE, find_bubblewrap

# Two workers of two threads each, on two cores, would wait for one another most of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests about grading, not about the sandbox, run the tests' own submissions on any machine.
os.environ.setdefault(VARIABLE, NONE)
# nbgrader, alembic and Jupyter, which tests start, would take 2.5 s longer each.
_PATHS = [str(Path(__file__).with_name("helpers") / "quick_start"), os.environ.get("PYTHONPATH")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, _PATHS))

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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if any(map(item.get_closest_marker, LEFT_OUT))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Keep what is imported by now out of garbage collection, which took a seventh of the time."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for marker, reason in LEFT_OUT.items():
        terminalreporter.write_line(f"{marker} tests were deselected: {reason}", yellow=True)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """A headless Chromium (playwright's sync Browser), one for each test process.

    Tests that use it carry the marker `browser`.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=_chromium(), args=_ARGUMENTS)
        yield chromium
        chromium.close()


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
    from pages.browsing import module_caller

    return partial(module_caller, blank_page)


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
