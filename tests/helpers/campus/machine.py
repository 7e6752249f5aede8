"""A machine for a hub: real accounts, and folders that stand for those of the page.

Everything is removed at the end: processes of the accounts, the accounts, the folders.
"""

import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from campus.guide import Box

TOOLS = ("useradd", "userdel", "chpasswd", "runuser", "node", "npm", "git", "unzip", "openssl")
PEOPLE = ("kim", "ada", "ben", "learner")  # the last is the one of the image
NOT_HERE = ("apt-get ", "systemctl ")  # what a test must not do to the machine that it runs on
# pip builds the course with the setuptools that is lent, and not with one that it fetches first.
WITH_LENT = {"PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
LIMIT = 300  # seconds for the commands of one box
PATIENCE = 60  # seconds for the hub to answer


def why_not() -> str | None:
    """Why there can be no hub here; None if there can."""
    if sys.platform != "linux" or os.getuid() != 0:
        return "accounts are made by root, on Linux"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"there is no {', '.join(missing)}"
    if find_spec("jupyterhub") is None:
        return "the extra hub is not installed (pip install -e .[hub])"
    return None


class Machine:
    """The folders of the page below `base`, and its people as accounts of other names."""

    def __init__(self, base: Path) -> None:
        self.base, self.hub = base, None
        self.names = {name: f"sd{secrets.token_hex(2)}-{name}" for name in PEOPLE}
        self.ports = {str(port): str(_free_port()) for port in (8000, 8001, 8081)}
        self.addresses: dict[str, str] = {}  # what stands for REPOSITORY and HANDOUT
        self.lent: dict[str, str] = {}  # settings of pip
        for folder in ("opt", "srv", "etc/systemd/system"):
            (base / folder).mkdir(parents=True)

    def here(self, text: str) -> str:
        """The page's words with this machine's folders, accounts, ports and addresses."""
        text = re.sub(r"(?<![\w/.~-])/(?=(opt|srv|etc)\b)", f"{self.base}/", text)
        for word, ours in (self.names | self.ports | self.addresses).items():
            text = re.sub(rf"(?<![\w-]){word}(?!\w)", ours, text)
        return text

    def path(self, name: str) -> Path:
        """A path of the page, on this machine."""
        return Path(self.here(name))

    def home(self, person: str) -> Path:
        return Path("/home", self.names[person])

    def run(self, box: Box) -> str:
        """Run a box as its reader does; returns what it says. A failing command is an error."""
        lines = box.commands.splitlines(keepends=True)
        kept = (line for line in lines if not line.startswith(NOT_HERE))
        return self.shell(box.who, "".join(kept))

    def shell(self, who: str, commands: str, code: int = 0) -> str:
        """What `commands` of the page's words say when `who` runs them, in a home or below `base`.

        Another exit code than `code` is an error.
        """
        path = f"{self.base}/opt/hub/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        become, home, settings = [], self.base, os.environ | {"PATH": path} | self.lent
        if who != "root":
            become, home = ["runuser", "-u", self.names[who], "--"], self.home(who)
            settings = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8"}
        done = subprocess.run(
            [*become, "bash", "-eu"],
            input=self.here(commands),
            cwd=home,
            env=settings,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT,
        )
        assert done.returncode == code, f"{commands}\n{done.stdout[-4000:]}"
        return done.stdout

    @contextmanager
    def meanwhile(self, box: Box) -> Iterator[Future[str]]:
        """Run a box while somebody else works in a browser; what it says is its `result()`."""
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit(self.run, box)

    def lend(self) -> None:
        """Let the page's new environment find what the tests' own environment has.

        pip then installs what is missing, and that is quick. Nothing is lent if the accounts could
        not read it or if it was made by another Python: then pip installs everything.
        """
        ours, theirs = Path(sys.prefix), self.path("/opt/hub")
        libraries = ours / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
        place = theirs / libraries.relative_to(ours) / "site-packages"
        lent = place / "lent.pth"
        if lent.exists() or not place.is_dir() or not _readable_for_all(libraries):
            return
        lent.write_text(f"{libraries / 'site-packages'}\n")
        if (libraries / "site-packages" / "setuptools").is_dir():
            self.lent = WITH_LENT
            for older in place.glob("setuptools*"):  # what the module venv brings
                shutil.rmtree(older)
        # What Jupyter finds its parts in: 7,500 files that nobody changes, and a few for a box.
        shutil.copytree(ours / "share", theirs / "share", copy_function=_link)
        shutil.copytree(ours / "etc", theirs / "etc", dirs_exist_ok=True)
        for script in filter(_is_script, (ours / "bin").iterdir()):
            text = re.sub(r"\A#!.*", f"#!{theirs}/bin/python3", script.read_text())
            target = theirs / "bin" / script.name
            if not target.exists() and not script.name.startswith(("pip", "python")):
                target.write_text(text)
                target.chmod(0o755)

    def start_hub(self) -> str:
        """Start what the page's unit starts; returns the hub's address."""
        unit = self.path("/etc/systemd/system/jupyterhub.service").read_text()
        setting = {key: re.search(rf"^{key}=(.*)$", unit, re.M)[1] for key in _OF_UNIT}
        name, _, value = setting["Environment"].partition("=")
        with (self.base / "hub.log").open("w") as log:
            self.hub = subprocess.Popen(
                setting["ExecStart"].split(),
                cwd=setting["WorkingDirectory"],
                env={name: value, "LANG": "C.UTF-8", "HOME": str(self.base)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        url = f"http://127.0.0.1:{self.ports['8000']}"
        self._wait_for(f"{url}/hub/api/")
        return url

    @contextmanager
    def serve(self, who: str, folder: Path) -> Iterator[str]:
        """The address of the folder's repositories on this machine: what a git host is to people.

        nbgitpuller asks for the last commit alone, which a plain web server cannot give.
        """
        port = _free_port()
        options = ["--export-all", f"--base-path={folder}", "--listen=127.0.0.1", f"--port={port}"]
        become = ["runuser", "-u", self.names[who], "--"]
        server = subprocess.Popen([*become, "git", "daemon", *options], cwd=folder)
        try:
            yield f"git://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(10)

    def _wait_for(self, url: str) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.hub.poll() is None:
            with suppress(OSError):
                urllib.request.urlopen(url).close()
                return
            time.sleep(0.2)
        pytest.fail(f"the hub did not start:\n{self.log()}")

    def log(self) -> str:
        return (self.base / "hub.log").read_text()[-6000:]

    def stop(self) -> None:
        """End what runs for the accounts, then the hub; remove accounts and folders.

        In this order, since the hub would ask every person's JupyterLab to end, and wait for it.
        """
        accounts = [account for account in pwd.getpwall() if account.pw_name in self._mine]
        for account in accounts:
            _end_processes_of(account.pw_uid)
        if self.hub is not None:
            self.hub.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.hub.wait(5)
            with suppress(ProcessLookupError):
                os.killpg(self.hub.pid, signal.SIGKILL)
        for account in accounts:
            _end_processes_of(account.pw_uid)
            subprocess.run(["userdel", "--remove", account.pw_name], capture_output=True)
        shutil.rmtree(self.base, ignore_errors=True)

    @property
    def _mine(self) -> set[str]:
        return set(self.names.values())


_OF_UNIT = ("Environment", "WorkingDirectory", "ExecStart")


@contextmanager
def machine() -> Iterator[Machine]:
    """A machine, and nothing of it afterwards."""
    base = Path(tempfile.mkdtemp(prefix="specdec-hub-"))
    base.chmod(0o755)
    one = Machine(base)
    try:
        yield one
    finally:
        one.stop()
    left = [name for name in one.names.values() if Path("/home", name).exists()]
    assert left == [] and not base.exists()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _readable_for_all(folder: Path) -> bool:
    return all(step.stat().st_mode & 0o005 == 0o005 for step in (folder, *folder.parents))


def _link(source: str, target: str) -> None:
    """A copy that takes neither time nor room, if both are on one file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _is_script(path: Path) -> bool:
    """Whether it is a program of Python's, which begins with the interpreter's path."""
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as file:
        return b"python" in file.readline(200) and path.stat().st_size < 100_000


def _end_processes_of(uid: int) -> None:
    """Kill every process of an account that the test has made."""
    for status in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if status.stat().st_uid == uid:
                os.kill(int(status.name), signal.SIGKILL)
