"""nbgrader's formgrader on a class, in a server of its own, and a page that notes what runs in it."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from autograde.paths import ROOT

PATIENCE = 60  # seconds for anything that loads
# What acts only when somebody points or clicks at it, is pointed and clicked at. Links run in a task
# of their own, so this ends after the tasks that it has caused.
POKE = """async () => {
  for (const element of document.querySelectorAll('body *')) {
    const acts = [...element.attributes].some((a) => a.name.startsWith('on'));
    if (acts) for (const kind of ['mouseover', 'focus']) element.dispatchEvent(new Event(kind));
    if (element.protocol === 'javascript:') element.click();
  }
  for (let i = 0; i < 2; i++) await new Promise((done) => setTimeout(done));
}"""


class Formgrader:
    """A Jupyter server with formgrader, on the class in `course`."""

    def __init__(self, course: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/formgrader"
        self.log = course / "server.log"
        extensions = "{'nbgrader.server_extensions.formgrader': True}"
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
        options += ["--IdentityProvider.token=", f"--ServerApp.jpserver_extensions={extensions}"]
        home = {"JUPYTER_CONFIG_DIR": str(course / "c"), "JUPYTER_RUNTIME_DIR": str(course / "r")}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyter_server", *options],
                cwd=ROOT,
                env=os.environ | home | {"SPECDEC_COURSE": str(course)},
                stdout=log,
                stderr=log,
            )

    def wait_until_it_answers(self) -> None:
        """Return as soon as formgrader answers; fails with the log where it does not."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError):
                urllib.request.urlopen(f"{self.url}/gradebook").close()
                return
            time.sleep(0.1)
        pytest.fail(f"formgrader did not start:\n{self.log.read_text()}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


class Watched:
    """A page that notes which scripts of a student run in it, and which addresses it asks for."""

    def __init__(self, browser, **look) -> None:
        self.page = browser.new_page(**look)
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.add_init_script("window.hits = []")
        self.asked: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        # No name of another machine is looked up, and what asks for one is told at once.
        self.page.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), lambda route: route.abort())

    def visit(self, url: str) -> set[int]:
        """Open a page, wait until it is whole, point and click; the numbers of what ran."""
        self.asked.clear()
        answer = self.page.goto(url, wait_until="load")
        assert answer is None or answer.ok, (url, answer.status)
        self.page.wait_for_function("() => !document.body.innerText.includes('Loading, please')")
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate(POKE)
        asked = [re.search(r"/hit/(\d+)", url) for url in self.asked]
        return {int(found[1]) for found in asked if found} | set(self.page.evaluate("hits"))
