"""Both sandboxes: the self-test sees each missing layer, and nothing is graded without them."""

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from classes.sessions import call, session
from classes.submitting import CHAPTER, hand_in, right, text

from autograde.chapter import LIBRARY, ROOT
from autograde.cli import main
from autograde.nbgrader.plugin import Grade
from autograde.sandbox import isolation, mounts, selftest, workers
from autograde.sandbox.inside import filter as calls
from autograde.sandbox.isolation import COMMANDS, NONE, TRIAL, VARIABLE, Isolation, NoIsolation
from autograde.sandbox.workers import Limits, SandboxError

WAYS = isolation.ways()
FORKING = [name for name in WAYS if not Isolation(name).cold]


def forget() -> None:
    """Let the next test find out anew which isolation there is."""
    isolation.chosen.cache_clear()
    selftest.require.cache_clear()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch):
    """Sets $SPECDEC_ISOLATION for one test, and forgets what was chosen before and after."""

    def ask(name: str) -> None:
        monkeypatch.setenv(VARIABLE, name)
        forget()

    for name in (VARIABLE, selftest.EXAMINED):
        monkeypatch.setenv(name, "")  # put back in the end, whatever the test sets
        monkeypatch.delenv(name)
    forget()
    yield ask
    forget()


@pytest.fixture
def new_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Other servers than those that run already."""
    servers = workers.Servers()
    monkeypatch.setattr(workers, "SERVERS", servers)
    yield
    servers.stop()


@pytest.mark.parametrize("name", WAYS)
def test_every_attack_is_stopped_and_honest_work_goes_on(name: str):
    examination = selftest.examine(Isolation(name))
    assert examination.wrong == []
    assert len(examination.findings) >= 12


# What leaves a layer out of a copy of inside/sandbox.py: texts in it, and what replaces them.
LAYERS = {
    "user": {
        "kernel.NEW_USER | kernel.NEW_NETWORK": "kernel.NEW_NETWORK",
        "rootfs.map_ids(proc, USER, USER, SERVER, SERVER)": "pass",
        "_limit(resource.RLIMIT_NPROC, threads)": "pass",
    },
    "processes": {'kernel.unshare(kernel.NEW_PIDS, "a process namespace")': "pass"},
    "network": {" | kernel.NEW_NETWORK": ""},
    "messages": {" | kernel.NEW_IPC": ""},
    "scratch": {" | kernel.NEW_MOUNTS": "", "rootfs.mount_scratch(path, mib)": "pass"},
    "limits": {"resource.setrlimit(what, (value, value))": "pass"},
    "privileges": {
        "kernel.drop_capabilities()": "pass",
        "kernel.no_new_privileges()": "pass",
        "kernel.set_dumpable(False)": "pass",
    },
    "landlock": {"kernel.landlock(readable, writable)": "pass"},
    "calls": {"kernel.filter_calls(program())": "pass"},
}


@pytest.fixture
def patched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_servers: None):
    """Runs workers from a copy of inside/ in which texts of sandbox.py are replaced."""

    def patch(changes: dict[str, str]) -> None:
        folder = shutil.copytree(mounts.PROGRAM, tmp_path / "inside")
        source = (folder / "sandbox.py").read_text()
        for old, new in changes.items():
            assert source.count(old) == 1
            source = source.replace(old, new)
        (folder / "sandbox.py").write_text(source)
        root = replace(mounts.rootfs(), program=str(folder))
        monkeypatch.setattr(mounts, "rootfs", lambda: root)

    return patch


@pytest.mark.parametrize("name", FORKING)
@pytest.mark.parametrize("layer", LAYERS)
def test_a_missing_layer_is_named(name: str, layer: str, patched):
    patched(LAYERS[layer])
    assert layer in {finding.layer for finding in selftest.examine(Isolation(name)).wrong}


@pytest.mark.parametrize("name", FORKING)
def test_a_gap_in_the_outer_sandbox_is_named(name: str, monkeypatch, new_servers, tmp_path: Path):
    """The self-test's decoy becomes visible, though landlock still keeps it from being read."""
    tmp_path.chmod(0o755)
    monkeypatch.setattr(selftest.tempfile, "tempdir", str(tmp_path))
    root = mounts.rootfs()
    links = [(link, target) for link, target in root.links if link != "/tmp"]  # where tmp_path is
    open_root = replace(root, binds=[*root.binds, str(tmp_path)], links=links)
    monkeypatch.setattr(mounts, "rootfs", lambda: open_root)
    assert [f.layer for f in selftest.examine(Isolation(name)).wrong] == ["outer"]


@pytest.mark.parametrize("name", FORKING)
def test_a_failed_step_is_a_failed_start_with_its_name(name: str, patched):
    patched({'root["inside"]]': '"/no/such/place"]'})
    with pytest.raises(SandboxError, match="/no/such/place"):
        Isolation(name).start(TRIAL)


def test_a_worker_that_is_not_ended_is_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(selftest, "END_SECONDS", 0.2)
    end, handles = workers.Forked.end, []
    monkeypatch.setattr(workers.Forked, "end", lambda self: handles.append(self))
    try:
        wrong = selftest.examine(Isolation(FORKING[0])).wrong
    finally:
        for forked in handles:
            end(forked)
    assert [finding.layer for finding in wrong] == ["end"]


def test_the_doctor_names_each_finding_and_says_that_it_is_safe(capsys, asked):
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert "Landlock: version" in printed and "every attack was stopped" in printed
    for layer in ("outer", "landlock", "network", "processes", "calls", "honest work"):
        assert f"  {layer}" in printed


def test_the_doctor_is_red_without_isolation(capsys, asked):
    asked(NONE)
    assert main(["doctor"]) == 1
    assert "Unset it to be protected" in capsys.readouterr().out


@pytest.mark.parametrize("setting", [name for name, _, _ in selftest._SETTINGS])
def test_a_setting_that_forbids_namespaces_is_named(setting: str, monkeypatch, tmp_path: Path):
    """Also in a new course, which has no docs/."""
    monkeypatch.setattr(selftest, "ROOT", tmp_path)
    bad = {name: value for name, value, _ in selftest._SETTINGS if name == setting}
    monkeypatch.setattr(selftest, "_setting", bad.get)
    advice = " ".join(selftest.advice())
    assert setting.split("/")[1] in advice and "sysctl" in advice


def test_macos_is_told_that_isolation_needs_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(selftest.platform, "system", lambda: "Darwin")
    assert isolation.ways() == []
    with pytest.raises(NoIsolation, match="--unsafe-no-isolation"):
        isolation.strongest(isolation.ways())
    assert "Isolation needs Linux" in selftest.advice()[0]


def not_permitted(how: Isolation, limits: Limits) -> workers.Worker:
    """In place of Isolation.start: no worker can be had."""
    raise SandboxError("not permitted")


@pytest.fixture
def no_isolation(monkeypatch: pytest.MonkeyPatch, asked):
    """A machine on which every way fails."""
    monkeypatch.setattr(Isolation, "start", not_permitted)


def test_the_strongest_that_works_is_taken(monkeypatch):
    start = Isolation.start

    def no_bubblewrap(how: Isolation, limits: Limits) -> workers.Worker:
        return (not_permitted if how.name == "bubblewrap" else start)(how, limits)

    monkeypatch.setattr(Isolation, "start", no_bubblewrap)
    assert isolation.strongest(["bubblewrap", "namespaces"]).name == "namespaces"


def test_grading_refuses_without_isolation(no_isolation, tmp_path: Path, capsys):
    hand_in(tmp_path / "submitted", "ada", text(right()))
    out = tmp_path / "grades.json"
    assert main(["grade", str(tmp_path / "submitted"), "--json", str(out)]) == 2
    told = capsys.readouterr().err
    assert "cannot be isolated" in told and "--unsafe-no-isolation" in told
    assert not out.exists()


def test_nbgrader_gets_no_mark_without_isolation(no_isolation):
    with pytest.raises(RuntimeError, match="could not be graded: .* cannot be isolated"):
        Grade().preprocess(right(), {"nbgrader": {"assignment": CHAPTER}})


def test_an_isolation_that_leaks_is_refused(monkeypatch, asked):
    finding = selftest.Finding("network", "sockets", "a socket")
    leak = selftest.Examination(Isolation(FORKING[0]), [finding])
    monkeypatch.setattr(selftest, "examine", lambda how: leak)
    with pytest.raises(NoIsolation, match="does not hold:\n.*network.*a socket"):
        selftest.require()


def test_it_can_be_left_out_by_name_only(no_isolation, tmp_path: Path, capsys):
    (tmp_path / "submitted").mkdir()
    assert main(["grade", str(tmp_path / "submitted"), "--unsafe-no-isolation"]) == 0
    assert "isolation: none" in capsys.readouterr().err


def test_what_the_first_process_found_holds_for_those_that_it_starts(asked, monkeypatch):
    assert "13 tries" in selftest.require()
    forget()
    monkeypatch.setattr(selftest, "examine", None)  # a second examination would fail
    assert FORKING[0] in selftest.require()


def test_an_unknown_name_lists_the_known_ones(asked):
    asked("chroot")
    with pytest.raises(ValueError, match="'chroot'; it can be bubblewrap, namespaces"):
        isolation.chosen()


def below(process: int) -> list[int]:
    """The processes that descend from `process`, children after their parents."""
    found = []
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            found += [child, *below(child)]
    return found


@pytest.mark.parametrize("name", FORKING)
def test_a_server_that_was_killed_is_started_again(name: str):
    Isolation(name).start(TRIAL).end()
    server = workers.SERVERS.get(COMMANDS[name], TRIAL)
    for process in reversed(below(server.popen.pid)):
        with contextlib.suppress(ProcessLookupError):  # it ends with the one above it
            os.kill(process, signal.SIGKILL)
    server.popen.wait(10)
    Isolation(name).start(TRIAL).end()
    assert workers.SERVERS.get(COMMANDS[name], TRIAL) is not server


def test_limits_of_requests_alone_have_one_server():
    """What a request may take is counted outside; a server that loads torch takes a second."""
    command, servers = COMMANDS["namespaces"], workers.SERVERS
    server = servers.get(command, TRIAL)
    assert servers.get(command, replace(TRIAL, call_seconds=0.1, total_seconds=9.0)) is server
    assert servers.get(command, replace(TRIAL, slowness=2.0)) is not server


@pytest.mark.parametrize("name", FORKING)
def test_a_server_ends_with_its_socket(name: str):
    server = workers.Server(COMMANDS[name], TRIAL)
    server.control.close()
    assert server.popen.wait(10) is not None


def test_a_command_that_fails_is_quoted(monkeypatch):
    command = ["sh", "-c", "echo no user namespace >&2; exit 3"]
    monkeypatch.setitem(COMMANDS, "namespaces", lambda settings: command)
    with pytest.raises(SandboxError, match="did not start: no user namespace"):
        Isolation("namespaces").start(TRIAL)


def test_no_thread_runs_in_a_server_that_has_loaded_torch(new_servers):
    """A fork keeps the calling thread only: another's lock would stay taken for ever."""
    limits = replace(TRIAL, preload=(("torch", ()), ("numpy", ())))
    Isolation("namespaces").start(limits).end()
    server = workers.SERVERS.get(COMMANDS["namespaces"], limits)
    counts = [len(list(Path(f"/proc/{p}/task").iterdir())) for p in below(server.popen.pid)]
    assert counts and set(counts) == {1}


def test_nothing_of_the_grader_is_bound():
    binds = list(map(Path, mounts.rootfs().binds))
    for place in (mounts.PROGRAM.parent.parent, Path.home(), Path("/etc"), Path.cwd()):
        assert not any(place == bind or bind in place.parents for bind in binds)


def test_an_installed_autograde_is_masked(tmp_path: Path, monkeypatch):
    (tmp_path / "site-packages" / "autograde").mkdir(parents=True)
    monkeypatch.setattr(mounts, "_packages", lambda: [str(tmp_path / "site-packages")])
    masks = mounts.rootfs.__wrapped__().masks
    assert masks == [str(tmp_path / "site-packages" / "autograde")]


@pytest.mark.parametrize("way", WAYS)
def test_of_the_repository_the_library_alone_is_there(way: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(isolation, "chosen", lambda: Isolation(way))
    code = f"""
import os, {LIBRARY} as library
def f(root):
    beside = os.path.dirname(os.path.dirname(library.__file__))
    names = ("autograde", "solutions", "tests", "docs", ".git")
    return [n for n in names for place in (beside, root) if os.path.exists(place + "/" + n)]
def g():
    from {LIBRARY}.theory import expected_tokens
    return expected_tokens(0.5, 2)
"""
    with session(code) as s:
        assert call(s, "f", (str(ROOT),)).value == []
        assert call(s, "g", ()).value == 1.75


def test_bubblewrap_is_what_the_system_has_not_what_the_account_names(tmp_path: Path, monkeypatch):
    """It is started with the system's path, so a program elsewhere would be named and not run."""
    (tmp_path / "bwrap").write_text("#!/bin/sh\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert mounts.find_bubblewrap() != str(tmp_path / "bwrap")
    assert ("bubblewrap" in isolation.ways()) == (mounts.find_bubblewrap() is not None)


@pytest.mark.parametrize("name", ["bubblewrap", "bubblewrap-cold"])
def test_bubblewrap_that_the_system_lacks_is_said_to_be_missing_and_nothing_else(
    name: str, tmp_path: Path, asked, monkeypatch
):
    real = shutil.which("bwrap")
    if real:  # on the account's path, not on the system's
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "bwrap").symlink_to(real)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(os, "defpath", str(tmp_path))
    asked(name)
    lines, safe = selftest.report()
    assert not safe and f"{VARIABLE} asks for {name}: there is no program bwrap" in "\n".join(lines)
    assert not [line for line in lines if line.startswith("Isolation:") or "tries in" in line]
    with pytest.raises(NoIsolation, match="there is no program bwrap"):
        selftest.require()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_well_formed(machine: str):
    program = calls.program(machine)
    assert len(program) % 8 == 0 and len(program) // 8 < 4096
    with pytest.raises(OSError, match="no table of system calls for m68k"):
        calls.program("m68k")
