"""docs/jupyterhub.md: a student fetches and hands in on a real hub, the instructor grades.

The page's boxes are run as they stand, with accounts, folders and a port of this test. It needs
root, JupyterHub and its proxy: `pip install -e .[hub]`, `npm install --global
configurable-http-proxy`.
"""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
import requests
from classes.hub_programs import PATH
from classes.submitting import CHAPTER, FULL, right
from pages.jupyter_lab import free_port

from autograde.course import ROOT

PAGE = ROOT / "docs" / "jupyterhub.md"
PATIENCE = 60  # seconds for the hub, and for somebody's JupyterLab, to answer


class Machine:
    """The page's folders below `base`, and its people as accounts of other names."""

    def __init__(self, base: Path) -> None:
        self.base, self.password = base, secrets.token_hex(8)
        self.names = {name: f"sd{secrets.token_hex(2)}-{name}" for name in ("kim", "ada")}
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def here(self, text: str) -> str:
        """The page's words with this machine's programs, folders, accounts and port."""
        # The folders first: this clone may be in /srv itself, and so may its programs.
        text = re.sub(r"(?<!\S)(\"?)/(srv|opt/hub/etc)\b", rf"\1{self.base}/\2", text)
        for program in ("configurable-http-proxy", "jupyterhub-singleuser"):
            text = text.replace(f"/opt/hub/bin/{program}", str(shutil.which(program, path=PATH)))
        for name, ours in self.names.items():
            text = re.sub(rf"(?<![\w.-]){name}\b", ours, text)
        return text.replace(":8000", f":{self.port}")

    def home(self, person: str) -> Path:
        return Path("/home", self.names[person])

    def settings(self, home: Path) -> dict[str, str]:
        """The environment of a process on this machine, where Jupyter finds its settings."""
        ours = Path(sys.prefix, "etc", "jupyter")
        return {
            "PATH": PATH,
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "JUPYTER_CONFIG_PATH": f"{self.base}/opt/hub/etc/jupyter:{ours}",
            "SPECDEC_ISOLATION": "" if shutil.which("bwrap") else "none",
        }

    def run(self, first_line: str) -> None:
        """Run every box of the page that begins with this line, as who it names."""
        found = re.findall(rf"^```bash\n# {first_line}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
        who = first_line.split(",")[0]
        become, home = [], self.base
        if who != "root":
            become, home = ["runuser", "-u", self.names[who], "--"], self.home(who)
        how = {"cwd": home, "env": self.settings(home), "text": True, "timeout": 300}
        how |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        for box in found:
            done = subprocess.run([*become, "bash", "-eu"], input=self.here(box), **how)
            assert done.returncode == 0, f"{box}\n{done.stdout[-3000:]}"

    def start_hub(self) -> subprocess.Popen:
        """JupyterHub with the page's settings; others for what this machine's folders need."""
        config = self.base / "srv" / "hub" / "jupyterhub_config.py"
        with config.open("a") as file:
            passed = {"JUPYTER_CONFIG_PATH": self.settings(self.base)["JUPYTER_CONFIG_PATH"]}
            file.write(f"c.Spawner.environment = {passed}\n")
            file.write(f"c.JupyterHub.hub_port = {free_port()}\n")
            api = f"http://127.0.0.1:{free_port()}"
            file.write(f"c.ConfigurableHTTPProxy.api_url = {api!r}\n")
        with (self.base / "hub.log").open("w") as log:
            how = {"cwd": config.parent, "env": self.settings(self.base), "start_new_session": True}
            return subprocess.Popen(["jupyterhub"], stdout=log, stderr=log, **how)


class Student(requests.Session):
    """Who logs in to the hub, and asks their own server what nbgrader's buttons ask it."""

    def __init__(self, url: str, name: str, password: str) -> None:
        super().__init__()
        self.server = f"{url}/user/{name}"
        eventually(lambda: self.get(f"{url}/hub/login").ok)
        token = self.cookies.get("_xsrf", path="/hub/")
        words = {"username": name, "password": password, "_xsrf": token}
        assert self.post(f"{url}/hub/login", data=words).ok
        # A page asks the hub who this is; the server's own addresses only refuse a stranger.
        eventually(
            lambda: self.get(f"{self.server}/lab").ok and self.get(f"{self.server}/api/status").ok
        )

    def press(self, button: str) -> list[dict]:
        """Press a button of the list; returns the list as it is then."""
        token = self.cookies.get("_xsrf", path=f"/user/{self.server.rpartition('/')[2]}/")
        answer = self.post(
            f"{self.server}/assignments/{button}",
            data={"course_id": "specdec", "assignment_id": CHAPTER},
            headers={"X-XSRFToken": token},
        )
        answer.raise_for_status()
        return answer.json()["value"]


def eventually(is_so) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(requests.ConnectionError):
            if is_so():
                return
        time.sleep(0.3)
    pytest.fail(f"not so after {PATIENCE} s")


@pytest.fixture
def place() -> Iterator[Machine]:
    """A machine with its accounts and a hub that runs; nothing of it afterwards."""
    base = Path(tempfile.mkdtemp(prefix="specdec-hub-"))
    base.chmod(0o755)
    machine, hub = Machine(base), None
    try:
        machine.run("root")
        lines = "".join(f"{name}:{machine.password}\n" for name in machine.names.values())
        subprocess.run(["chpasswd"], input=lines, text=True, check=True)
        clone = machine.home("kim") / "specdec-course"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        subprocess.run(["chown", "-R", machine.names["kim"], str(clone)], check=True)
        hub = machine.start_hub()
        yield machine
    finally:
        if hub:
            hub.terminate()
            with suppress(subprocess.TimeoutExpired):
                hub.wait(10)
            with suppress(ProcessLookupError):
                os.killpg(hub.pid, signal.SIGKILL)
        for name in machine.names.values():
            subprocess.run(["userdel", "--remove", "--force", name], capture_output=True)
        shutil.rmtree(base, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.hub
def test_a_student_fetches_and_hands_in_and_the_instructor_grades(place: Machine):
    place.run("kim, releases")
    ada = Student(place.url, place.names["ada"], place.password)
    (listed,) = ada.press("fetch")
    assert listed["status"] == "fetched"
    nbformat.write(right(), place.home("ada") / CHAPTER / f"{CHAPTER}.ipynb")
    assert "submitted" in [each["status"] for each in ada.press("submit")]
    place.run("kim, grades")
    shown = place.home("kim") / "specdec-course" / "course" / "grades.json"
    assert f'"score": {FULL}' in shown.read_text()
