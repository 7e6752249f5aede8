"""The sandbox: the self-test sees what is open, and nothing is graded without isolation."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from classes.sessions import value_of
from classes.submitting import CHAPTER, hand_in, right, text

from autograde.cli import main
from autograde.course import LIBRARY, ROOT
from autograde.nbgrader.plugin import Grade
from autograde.sandbox import isolation, selftest, workers
from autograde.sandbox.isolation import BUBBLEWRAP, NONE, VARIABLE, NoIsolation
from autograde.sandbox.workers import Limits

needs_isolation = pytest.mark.isolation


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets $SPECDEC_ISOLATION for one test, and forgets what was chosen before and after."""

    def ask(name: str) -> None:
        monkeypatch.setenv(VARIABLE, name)
        forget()

    def forget() -> None:
        isolation.mode.cache_clear()
        selftest.require_isolation.cache_clear()

    ask("")
    yield ask
    forget()


@needs_isolation
@pytest.mark.parametrize("root", [True, False])
def test_every_attack_of_the_doctor_is_stopped(root: bool, monkeypatch):
    if not root:  # as with an ordinary account
        monkeypatch.setattr(isolation, "is_root", lambda: False)
    probes = selftest.run_probes(BUBBLEWRAP)
    assert len(probes) == 5 and not any(probes.values()), probes


def test_the_self_test_sees_what_is_open():
    probes = selftest.run_probes(NONE)
    for attack in ("files and names of the machine", "the network", "forbidden system calls"):
        assert probes[attack]


@needs_isolation
def test_a_process_ends_with_its_sandbox(monkeypatch):
    """With an ordinary account it could ask to outlive it, and the grader would wait for it."""
    monkeypatch.setattr(isolation, "is_root", lambda: False)
    worker = workers.start_worker(Limits(), isolated=True)
    code = "import ctypes, time\nctypes.CDLL(None).prctl(1, 0)\ntime.sleep(1e9)"
    with pytest.raises(TimeoutError):
        worker.ask({"do": "cell", "source": code, "key": ""}, 0.5)
    worker.end()


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch, asked, tmp_path: Path) -> None:
    """A system without bubblewrap; one on the account's own path is not the system's."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bwrap").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(os, "defpath", str(tmp_path))


def test_grading_refuses_without_isolation(no_bubblewrap, tmp_path: Path, capsys):
    hand_in(tmp_path / "submitted", "ada", text(right()))
    out = tmp_path / "grades.json"
    assert main(["grade", str(tmp_path / "submitted"), "--json", str(out)]) == 2
    stderr = capsys.readouterr().err
    assert "apt install bubblewrap" in stderr and "--unsafe-no-isolation" in stderr
    assert not out.exists()
    assert main(["doctor"]) == 1
    assert "apt install bubblewrap" in capsys.readouterr().out
    assert main(["grade", str(tmp_path / "submitted"), "--unsafe-no-isolation"]) == 0
    assert "isolation: none" in capsys.readouterr().err


def test_nbgrader_gets_no_mark_without_isolation(no_bubblewrap):
    with pytest.raises(RuntimeError, match="could not be graded: .* cannot be isolated"):
        Grade().preprocess(right(), {"nbgrader": {"assignment": CHAPTER}})


@needs_isolation
def test_an_isolation_that_leaks_is_refused(monkeypatch, asked):
    monkeypatch.setitem(selftest.PROBES, "the network", "print('a socket')")
    with pytest.raises(NoIsolation, match="does not hold:\n.*network: a socket"):
        selftest.require_isolation()


@needs_isolation
def test_the_doctor_says_why_root_cannot_become_nobody():
    """As in a container that knows user 0 alone."""
    alone = ["--unshare-user", "--uid", "0", "--gid", "0", *("--bind", "/", "/", "--dev", "/dev")]
    command = [isolation.find_bubblewrap(), *alone, sys.executable, "-m", "autograde", "doctor"]
    options = {"env": os.environ | {VARIABLE: BUBBLEWRAP}, "cwd": ROOT, "text": True}
    done = subprocess.run(command, stdout=subprocess.PIPE, **options)
    assert done.returncode == 1 and "root cannot become nobody, user and group" in done.stdout


@needs_isolation
def test_a_step_that_fails_is_a_failed_start(monkeypatch, asked):
    isolation.mounts()  # of the true place
    monkeypatch.setattr(isolation, "SCRATCH", "/no/such/place")
    with pytest.raises(NoIsolation, match="did not start: .*/no/such/place"):
        selftest.require_isolation()


def test_an_installed_autograde_is_masked(tmp_path: Path, monkeypatch):
    (tmp_path / "autograde").mkdir()
    monkeypatch.setattr(isolation, "_packages", lambda: [str(tmp_path)])
    assert f"--tmpfs {tmp_path}/autograde" in " ".join(isolation.mounts.__wrapped__())


@needs_isolation
def test_of_the_repository_the_library_alone_is_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(isolation, "mode", lambda: BUBBLEWRAP)
    code = f"""
import os, {LIBRARY} as library
def f(root):
    beside = os.path.dirname(os.path.dirname(library.__file__))
    names = ("autograde", "solutions", "tests", "docs", ".git")
    return [n for n in names for place in (beside, root) if os.path.exists(place + "/" + n)]
"""
    assert value_of(code, str(ROOT)) == []
