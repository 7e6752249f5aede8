"""What all tests share: one thread a worker, and a headless Chromium.

Tests marked `browser` are left out where there is no Chromium.
"""

import asyncio
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache

import pytest

# Two workers of two threads each, on two cores, would wait for one another most of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Only Linux has the fences; elsewhere the tests' own submissions are graded without.
if sys.platform != "linux":
    os.environ.setdefault("SPECDEC_ISOLATION", "none")

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@cache
def _chromium() -> str | None:
    """The installed Chromium: `$CHROMIUM`, else the first known name on the path."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


def _why_no_browser() -> str | None:
    """Why the browser tests cannot run here, or None where they can."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed (pip install -e .[dev])"
    if _chromium() is None:
        return f"no Chromium found ($CHROMIUM, or one of {', '.join(_NAMES)} on the path)"
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _why_no_browser() is None:
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reason = _why_no_browser()
    if reason:
        terminalreporter.write_line(f"browser tests were deselected: {reason}", yellow=True)


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
