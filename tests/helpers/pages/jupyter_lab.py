"""A real JupyterLab for the browser tests: the server, and its pages as a person works with them.

A server has configuration, data and runtime folders of its own, so that nothing of the user's is
read or changed.
"""

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import nbformat
import pytest
from nbformat import NotebookNode
from pages.browsing import leaves_machine

from autograde.course import ROOT

PATIENCE = 90  # seconds for anything that loads
# What is read of a cell's code: a folded cell shows the first line alone.
CODE = ".jp-InputArea-editor, .jp-InputPlaceholder"


def free_port() -> int:
    """A port of this machine where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """A JupyterLab on a free port of this machine, started by `command` in the folder `at`."""

    def __init__(self, folder: Path, command: list[str], at: Path, **variables: str) -> None:
        self.log, self.workspaces = folder / "log", itertools.count()
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
        options += ["--ServerApp.port_retries=0", "--IdentityProvider.token="]
        options += ["--ServerApp.answer_yes=True"]  # nobody is there to be asked at Ctrl+C
        # JupyterLab listens for Ctrl+C at a terminal only: elsewhere it may be lost in a request.
        self.terminal, stdin = os.openpty()
        with self.log.open("w") as log, os.fdopen(stdin):
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command, *options],
                cwd=at,
                env=_own_folders(folder) | variables,
                stdin=stdin,
                stdout=log,
                stderr=log,
                start_new_session=True,
                # In a background job Ctrl+C is ignored, and children inherit that.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    @contextmanager
    def running(self) -> Iterator[Self]:
        """The server from its first answer on; at the end it must stop without an error."""
        try:
            self._wait_until_it_answers()
            yield self
        finally:
            code = self._stop()
        assert code == 0

    def _wait_until_it_answers(self) -> None:
        """Return as soon as a page comes back; fails with the log where none does."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api").close()
                return
            time.sleep(0.1)
        pytest.fail(f"JupyterLab did not start:\n{self.log.read_text()}")

    def _stop(self) -> int:
        """What Ctrl+C does; returns the exit code. What is left of the group then is killed."""
        try:
            os.killpg(self.process.pid, signal.SIGINT)
            return self.process.wait(30)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            os.close(self.terminal)


class StudentServer(Server):
    """What `specdec start` opens, on the folder `work`."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        super().__init__(folder, ["specdec_lib.cli", "start", "--work", str(self.work)], folder)

    def put(self, name: str, notebook: NotebookNode) -> str:
        """Write NAME.ipynb into the work folder; returns its path for `Lab.open`."""
        nbformat.write(notebook, self.work / f"{name}.ipynb")
        return f"{name}.ipynb"


class InstructorServer(Server):
    """What `make grader` opens, with the class in `course`."""

    def __init__(self, folder: Path, course: Path) -> None:
        defaults = str(ROOT / "autograde" / "jupyter")
        variables = {"SPECDEC_COURSE": str(course), "JUPYTER_CONFIG_PATH": defaults}
        super().__init__(folder, ["jupyterlab"], ROOT, **variables)


def _own_folders(folder: Path) -> dict[str, str]:
    """This process's environment without its Jupyter settings, and with a home in `folder`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    return kept | {name: str(folder / "home" / name.lower()) for name in places}


class Lab:
    """One reader's JupyterLab, and the requests of its pages that would leave this machine."""

    def __init__(self, browser, server: Server) -> None:
        self.server, self.outside = server, []
        self.context = browser.new_context(viewport={"width": 1300, "height": 1000})
        self.context.set_default_timeout(PATIENCE * 1000)
        self.context.on("request", lambda request: self._note(request.url))
        self.page = self.context.new_page()
        self.page.on("websocket", lambda channel: self._note(channel.url))
        self.panel = self.page.locator(".jp-NotebookPanel")

    def _note(self, url: str) -> None:
        if leaves_machine(url):
            self.outside.append(url)

    def open(self, path: str) -> None:
        """Open a notebook of the work folder, and wait for its kernel; reloads once."""
        from playwright import sync_api

        try:
            self._open(path)
        except sync_api.TimeoutError:
            self._open(path)

    def _open(self, path: str) -> None:
        # In a workspace of its own no tab of an earlier test comes back.
        workspace = f"{self.server.url}/lab/workspaces/{next(self.server.workspaces)}"
        self.page.goto(f"{workspace}/tree/{path}")
        self.page.get_by_role("button", name="Validate").wait_for()
        self._wait_for_kernel()

    def choose(self, menu: str, command: str) -> None:
        """A command of the menu bar."""
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=command, exact=True).click()

    def run_all(self) -> None:
        """Run all cells and wait until none is waiting any more."""
        self.choose("Run", "Run All Cells")
        # The first cell that ran may be folded, and then it shows no number.
        prompts = self.panel.locator(".jp-InputPrompt", has_text=re.compile(r"\[\d+\]:"))
        prompts.first.wait_for(state="attached")
        # No cell is running or waiting; a folded one shows no star.
        prompts = "[...document.querySelectorAll('.jp-InputPrompt')].map(p => p.textContent)"
        # Not at every frame, as it is done by default: the kernel needs the processor.
        self.page.wait_for_function(f"() => !{prompts}.includes('[*]:')", polling=100)
        self._wait_for_kernel()

    def _wait_for_kernel(self) -> None:
        # The notebook's own indicator says idle before there is a kernel; the status bar does not.
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()

    def read(self) -> None:
        """Look at every text from top to bottom: JupyterLab renders what comes into view."""
        for cell in self.panel.locator(".jp-MarkdownCell").all():
            cell.evaluate("cell => cell.scrollIntoView({ block: 'center' })")
            cell.locator(".jp-RenderedMarkdown").first.wait_for(state="attached")

    def count(self, selector: str, at_least: int) -> int:
        """How many there are of `selector`, once there are `at_least` so many."""
        found = self.panel.locator(selector)
        found.nth(at_least - 1).wait_for(state="attached")
        return found.count()

    def validate(self) -> str:
        """Press Validate; returns what its window says, and closes it."""
        self.page.get_by_role("button", name="Validate").click()
        window = self.page.locator(".jp-Dialog", has_text="Validation Results")
        said = window.inner_text()
        window.get_by_role("button", name="Ok", exact=True).click()
        return said

    def cell(self, text: str):
        """The code cell that shows `text` in its input, scrolled into view."""
        code = self.page.locator(CODE, has_text=text)
        cell = self.panel.locator(".jp-CodeCell", has=code)
        cell.evaluate("cell => cell.scrollIntoView({ block: 'center' })")
        return cell

    def numbers(self, text: str) -> list[str]:
        """The large numbers of the simulator under the cell whose input holds `text`.

        Reloads once: ipywidgets gives a saved state up if a new kernel is slow to answer.
        """
        from playwright import sync_api

        drawing = self.cell(text).locator(".sd-chart svg").first
        try:
            drawing.wait_for(timeout=PATIENCE * 1000 / 3)
        except sync_api.TimeoutError:
            self.page.reload()
            self._wait_for_kernel()
            drawing = self.cell(text).locator(".sd-chart svg").first
            drawing.wait_for()
        return self.cell(text).locator(".sd-number").all_text_contents()

    def wait_for_output(self, text: str, said: str) -> None:
        """Wait until `said` can be read under the cell whose input holds `text`, once or more."""
        self.cell(text).locator(".jp-OutputArea-output", has_text=said).first.wait_for()

    @property
    def errors(self) -> list[str]:
        """The error outputs; a cell that wrote to stderr counts, as it does for nbgrader."""
        outputs = "[data-mime-type='application/vnd.jupyter.stderr']"
        return self.panel.locator(f".jp-OutputArea-output{outputs}").all_text_contents()
