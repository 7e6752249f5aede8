"""Chapter 02 in a real JupyterLab, started by `specdec start`, as a student meets it.

One server for the module, on a free port of this machine. It has configuration, data and runtime
folders of its own, so that nothing of the user's is read or changed.
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
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from submitting import CHAPTER, right

from autograde.grading.misconceptions import misconceptions_of
from autograde.intake import release_of

pytestmark = pytest.mark.browser

PATIENCE = 90  # seconds for anything that loads
EXERCISES = [
    "acceptance_probability",
    "speculative_accept",
    "residual_distribution",
    "correct_token",
    "speculative_step",
]
RELEASE = release_of(CHAPTER)
TABLE, FORMULA, FIGURE = r"^\| ---", r"\$\$.+?\$\$", r"^figures\.\w+\("


class Server:
    """A JupyterLab that `specdec start` opened on the folder `work`."""

    def __init__(self, folder: Path) -> None:
        self.work, self.log = folder / "work", folder / "log"
        self.workspaces = itertools.count()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "specdec_lib.cli", "start", "--work", str(self.work)]
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
        options += ["--ServerApp.port_retries=0", "--IdentityProvider.token="]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *options],
                cwd=folder,
                env=_own_folders(folder),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                # In a background job Ctrl+C is ignored, and children inherit that.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def wait_until_it_answers(self) -> None:
        """Return as soon as a page comes back; fails with the log where none does."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api").close()
                return
            time.sleep(0.1)
        pytest.fail(f"JupyterLab did not start:\n{self.log.read_text()}")

    def stop(self) -> int:
        """What Ctrl+C does; returns the exit code. What is left of the group then is killed."""
        try:
            os.killpg(self.process.pid, signal.SIGINT)
            return self.process.wait(30)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _own_folders(folder: Path) -> dict[str, str]:
    """This process's environment without its Jupyter settings, and with a home in `folder`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    return kept | {name: str(folder / "home" / name.lower()) for name in places}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("lab"))
    try:
        server.wait_until_it_answers()
        yield server
    finally:
        code = server.stop()
    assert code == 0 and "JupyterLab has stopped" in server.log.read_text()


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
        parts = urlsplit(url)
        here = parts.scheme in ("data", "blob") or parts.hostname in ("127.0.0.1", "localhost")
        if not here:
            self.outside.append(url)

    def open(self, path: str) -> None:
        """Open a notebook of the work folder, and wait for its kernel; reloads once."""
        from playwright.sync_api import TimeoutError as TooLong

        try:
            self._open(path)
        except TooLong:
            self._open(path)

    def _open(self, path: str) -> None:
        # In a workspace of its own no tab of an earlier test comes back.
        workspace = f"{self.server.url}/lab/workspaces/{next(self.server.workspaces)}"
        self.page.goto(f"{workspace}/tree/{path}")
        self.page.get_by_role("button", name="Validate").wait_for()
        # The notebook's own indicator says idle before there is a kernel; the status bar does not.
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()

    def choose(self, menu: str, command: str) -> None:
        """A command of the menu bar."""
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=command, exact=True).click()

    def run_all(self) -> None:
        """Run all cells and wait until none is waiting any more."""
        self.choose("Run", "Run All Cells")
        prompts = "[...document.querySelectorAll('.jp-InputPrompt')].map(p => p.textContent)"
        done = f"() => {{ const p = {prompts}; return p.includes('[1]:') && !p.includes('[*]:'); }}"
        self.page.wait_for_function(done)

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
        """The code cell whose input holds `text`, scrolled into view."""
        code = self.page.locator(".jp-InputArea-editor", has_text=text)
        cell = self.panel.locator(".jp-CodeCell", has=code)
        cell.evaluate("cell => cell.scrollIntoView({ block: 'center' })")
        return cell

    def wait_for_output(self, text: str, said: str | re.Pattern) -> None:
        """Wait until `said` can be read under the cell whose input holds `text`."""
        self.cell(text).locator(".jp-OutputArea-output", has_text=said).wait_for()

    @property
    def errors(self) -> list[str]:
        """The error outputs; a cell that wrote to stderr counts, as it does for nbgrader."""
        outputs = "[data-mime-type='application/vnd.jupyter.stderr']"
        return self.panel.locator(f".jp-OutputArea-output{outputs}").all_text_contents()


@pytest.fixture
def lab(browser, server) -> Iterator[Lab]:
    """JupyterLab in a fresh browser. At the end nothing may have asked another machine."""
    one = Lab(browser, server)
    yield one
    one.context.close()
    assert one.outside == []


def in_release(pattern: str) -> int:
    """How often `pattern` occurs in the chapter."""
    flags = re.MULTILINE | re.DOTALL
    return sum(len(re.findall(pattern, cell.source, flags)) for cell in RELEASE.cells)


def put(server: Server, name: str, **changes: str) -> str:
    """Write a solved notebook, with `changes` to its answers, into the work folder."""
    path = server.work / name / f"{CHAPTER}.ipynb"
    path.parent.mkdir()
    nbformat.write(right(**changes), path)
    return f"{name}/{CHAPTER}.ipynb"


def test_the_blank_chapter_opens_and_fails_validation_by_name(lab):
    lab.open(f"{CHAPTER}/{CHAPTER}.ipynb")
    lab.read()
    tables, formulas = in_release(TABLE), in_release(FORMULA)
    assert lab.count(".jp-RenderedMarkdown table", tables) == tables > 0
    assert lab.count("mjx-container[display=true]", formulas) == formulas > 0
    assert lab.panel.locator("mjx-merror, [data-mjx-error]").count() == 0
    # No question about news, and none of nbgrader's tools for instructors.
    assert lab.page.locator(".Toastify__toast, .jp-Dialog").count() == 0
    assert lab.page.get_by_text("Create Assignment").count() == 0
    said = lab.validate()
    assert "The following cell failed" in said and "Success" not in said
    assert all(f"lesson.check_{name}({name})" in said for name in EXERCISES)
    assert all(f"{name}: not written yet" in said for name in EXERCISES)
    assert "quiz_02: no answer yet" in said and "prediction_02: no guess yet" in said


def test_right_answers_run_to_the_end_and_pass_validation(lab, server):
    lab.open(put(server, "right"))
    lab.run_all()
    assert lab.errors == []
    assert lab.panel.locator(".jp-OutputArea img[alt]").count() == in_release(FIGURE) > 0
    for name in EXERCISES:
        lab.wait_for_output(f"lesson.check_{name}", f"{name}: all ")
    hint = lab.cell("hints(speculative_accept)").locator("details").first
    assert not hint.locator("p").is_visible()
    hint.locator("summary").click()
    assert hint.locator("p").is_visible()
    assert "Success! Your notebook passes all the tests." in lab.validate()


def test_a_wrong_answer_stops_at_its_check_with_the_call(lab, server):
    wrong = misconceptions_of(CHAPTER).of("speculative_accept")
    code = next(answer.code for answer in wrong if answer.name == "no_stop")
    lab.open(put(server, "wrong", speculative_accept=code))
    lab.run_all()
    message = re.compile(  # it may be broken into lines
        r"speculative_accept\(draft_tokens=\[3, 1, 2\],.*\)\s+returned\s+\[3, 2\],"
        r"\s+expected\s+\[3\]\.",
        re.DOTALL,
    )
    assert len(lab.errors) == 1 and message.search(lab.errors[0])
    lab.wait_for_output("lesson.check_speculative_accept", message)
    lab.cell("lesson.check_residual_distribution").get_by_text("[ ]:").wait_for()
    said = lab.validate()
    assert "lesson.check_speculative_accept(speculative_accept)" in said and message.search(said)
    assert "lesson.check_residual_distribution" not in said and "Success" not in said


def test_the_simulator_moves_and_is_there_when_the_notebook_is_opened_again(lab, server):
    path = put(server, "moved")
    lab.open(path)
    lab.run_all()
    assert _numbers(lab) == ["1.00", "0.80", "0.20"]
    slider = lab.page.get_by_role("slider", name="q draft probability of the drafted token")
    slider.focus()
    for _ in range(40):
        lab.page.keyboard.press("ArrowRight")
    assert _numbers(lab) == ["0.75", "0.80", "0.20"]
    lab.page.keyboard.press("Control+s")
    lab.page.locator(".jp-mod-dirty").wait_for(state="detached")
    lab.choose("Kernel", "Shut Down Kernel")
    lab.open(path)
    assert _numbers(lab) == ["0.75", "0.80", "0.20"]
    assert lab.page.get_by_text("Error displaying widget").count() == 0


def _numbers(lab: Lab) -> list[str]:
    """The simulator's three large numbers. It draws nothing before it is scrolled to."""
    lab.cell("acceptance_simulator(")
    lab.panel.locator(".sd-chart svg").first.wait_for()
    return lab.panel.locator(".sd-number").all_text_contents()
