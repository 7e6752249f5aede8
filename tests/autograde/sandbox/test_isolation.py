"""The two fences: the doctor sees each missing layer, and nothing is graded without them."""

import contextlib
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, hand_in, right, text

from autograde.chapter import ROOT
from autograde.cli import main
from autograde.nbgrader.plugin import Grade
from autograde.sandbox import jail, outer, selftest, workers
from autograde.sandbox.inside import filter as calls
from autograde.sandbox.jail import (
    NONE,
    TRIAL,
    VARIABLE,
    Isolation,
    Limits,
    NoIsolation,
    Process,
    why_not,
)
from autograde.sandbox.workers import LAYERS, FenceError

FORKING = [name for name in jail.ways() if not name.endswith("-cold")]
COLD = [name for name in jail.ways() if name.startswith(("bubble", "names")) and "-" in name]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch):
    """Sets $SPECDEC_ISOLATION for one test, and forgets what was found out before and after."""

    def ask(name: str) -> None:
        monkeypatch.setenv(VARIABLE, name)
        jail.chosen.cache_clear()
        selftest.require.cache_clear()

    for name in (VARIABLE, selftest.EXAMINED):
        monkeypatch.setenv(name, "")  # put back in the end, whatever the test sets
        monkeypatch.delenv(name)
    jail.chosen.cache_clear()
    selftest.require.cache_clear()
    yield ask
    jail.chosen.cache_clear()
    selftest.require.cache_clear()


@pytest.mark.parametrize("name", [*FORKING, *COLD])
def test_every_attack_is_stopped_and_honest_work_goes_on(name: str):
    verdict = selftest.examine(Isolation(name))
    assert verdict.wrong == []
    assert len(verdict.findings) >= 12


@pytest.mark.parametrize("name", FORKING)
@pytest.mark.parametrize("layer", LAYERS)
def test_a_missing_layer_is_named(name: str, layer: str):
    kept = tuple(other for other in LAYERS if other != layer)
    verdict = selftest.examine(Isolation(name, kept))
    assert layer in {finding.layer for finding in verdict.wrong}


@pytest.mark.parametrize("name", FORKING)
def test_a_gap_in_the_outer_fence_is_named(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path):
    """The decoy of the doctor becomes visible, though landlock still keeps it from being read."""
    tmp_path.chmod(0o755)
    monkeypatch.setattr(selftest.tempfile, "tempdir", str(tmp_path))
    room = outer.plan()
    links = [(link, target) for link, target in room.links if link != "/tmp"]  # where tmp_path is
    open_plan = replace(room, binds=[*room.binds, str(tmp_path)], links=links)
    monkeypatch.setattr(outer, "plan", lambda: open_plan)
    layers = tuple(reversed(LAYERS))  # another server than those that run already
    assert [f.layer for f in selftest.examine(Isolation(name, layers)).wrong] == ["outer"]


def test_a_worker_that_is_not_ended_is_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(selftest, "END_SECONDS", 0.2)
    end = workers.Forked.end
    monkeypatch.setattr(workers.Forked, "end", lambda self: None)
    started = []
    fork = Isolation.start

    def start(self: Isolation, kind: workers.Kind) -> tuple:
        started.append(fork(self, kind))
        return started[-1]

    monkeypatch.setattr(Isolation, "start", start)
    try:
        wrong = selftest.examine(Isolation(FORKING[0])).wrong
    finally:
        for _, worker in started:
            end(worker)
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
def test_a_setting_that_forbids_namespaces_is_named(setting: str, monkeypatch):
    bad = {name: value for name, value, _ in selftest._SETTINGS if name == setting}
    monkeypatch.setattr(selftest, "_setting", bad.get)
    advice = " ".join(selftest.advice())
    assert setting.split("/")[1] in advice and "sysctl" in advice


def test_the_advice_on_apparmor_is_what_the_security_page_says(monkeypatch):
    """The profile that Ubuntu brings is named by both as the one that does not do."""
    monkeypatch.setattr(selftest, "_setting", lambda name: "1" if "apparmor" in name else None)
    advice = " ".join(" ".join(selftest.advice()).split())
    page = (ROOT / "docs" / "security.md").read_text()
    for words in (
        "a profile with the rule `userns,`",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        "takes all rights from what runs inside, so the inner fence cannot be put up",
    ):
        assert words in advice and words in page
    assert "bwrap-userns-restrict that Ubuntu brings does not do" in advice
    assert "bwrap-userns-restrict` that Ubuntu brings takes all rights" in page


def test_macos_is_told_that_isolation_needs_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(selftest.platform, "system", lambda: "Darwin")
    assert jail.ways() == []
    with pytest.raises(NoIsolation, match="--unsafe-no-isolation"):
        jail.strongest(jail.ways())
    assert "Isolation needs Linux" in selftest.advice()[0]


# --- the decision -------------------------------------------------------------------------------


@pytest.fixture
def no_fence(monkeypatch: pytest.MonkeyPatch, asked):
    """A machine on which every way fails."""
    monkeypatch.setattr(jail, "why_not", lambda how: "not permitted")


def test_the_strongest_that_works_is_taken(monkeypatch, asked):
    monkeypatch.setattr(jail, "why_not", lambda how: None if how.cold else "no user namespace")
    assert jail.chosen().cold
    assert "slower" in jail.chosen().describe()


def test_grading_refuses_without_isolation(no_fence, tmp_path: Path, capsys):
    hand_in(tmp_path / "submitted", "ada", text(right()))
    out = tmp_path / "grades.json"
    assert main(["grade", str(tmp_path / "submitted"), "--json", str(out)]) == 2
    told = capsys.readouterr().err
    assert "cannot be isolated" in told and "--unsafe-no-isolation" in told
    assert not out.exists()


def test_nbgrader_gets_no_mark_without_isolation(no_fence):
    with pytest.raises(RuntimeError, match="could not be graded: .* cannot be isolated"):
        Grade().preprocess(right(), {"nbgrader": {"assignment": CHAPTER}})


def test_an_isolation_that_leaks_is_refused(monkeypatch, asked):
    leak = selftest.Verdict(
        Isolation(FORKING[0]), [selftest.Finding("network", "sockets", "a socket")]
    )
    monkeypatch.setattr(selftest, "examine", lambda how: leak)
    with pytest.raises(NoIsolation, match="does not hold:\n.*network.*a socket"):
        selftest.require()


def test_it_can_be_left_out_by_name_only(no_fence, tmp_path: Path, capsys):
    (tmp_path / "submitted").mkdir()
    assert main(["grade", str(tmp_path / "submitted"), "--unsafe-no-isolation"]) == 0
    assert "isolation: none" in capsys.readouterr().err


def test_what_the_first_process_found_holds_for_those_that_it_starts(asked, monkeypatch):
    assert "13 tries" in selftest.require()
    selftest.require.cache_clear()
    jail.chosen.cache_clear()
    monkeypatch.setattr(selftest, "examine", None)  # a second examination would fail
    assert FORKING[0] in selftest.require()


def test_an_unknown_name_lists_the_known_ones(asked):
    asked("chroot")
    with pytest.raises(ValueError, match="'chroot'; it can be bubblewrap, namespaces"):
        jail.chosen()


def test_a_failed_step_is_a_failed_start_with_its_name(monkeypatch):
    monkeypatch.setattr(outer.Plan, "readable", property(lambda self: ["/no/such/place"]))
    layers = ("user", "processes", "scratch", "landlock")
    assert "/no/such/place" in why_not(Isolation(FORKING[0], layers))


# --- servers ------------------------------------------------------------------------------------


def below(process: int) -> list[int]:
    """The processes that descend from `process`, children after their parents."""
    found = []
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            found += [child, *below(child)]
    return found


def server_of(name: str) -> workers.Server:
    return workers.SERVERS.get(jail._COMMANDS[name], TRIAL, LAYERS)


@pytest.mark.parametrize("name", FORKING)
def test_a_server_that_was_killed_is_started_again(name: str):
    assert why_not(Isolation(name)) is None
    server = server_of(name)
    for process in reversed(below(server.popen.pid)):
        with contextlib.suppress(ProcessLookupError):  # it ends with the one above it
            os.kill(process, signal.SIGKILL)
    server.popen.wait(10)
    assert why_not(Isolation(name)) is None
    assert server_of(name) is not server


def test_a_server_ends_with_its_socket():
    server = workers.Server(outer.namespaces, TRIAL)
    server.control.close()
    assert server.popen.wait(10) is not None


def test_a_command_that_fails_is_quoted():
    def broken(settings: dict, handles: list[int]) -> list[str]:
        return ["sh", "-c", "echo no user namespace >&2; exit 3"]

    with pytest.raises(FenceError, match="did not start: no user namespace"):
        workers.Server(broken, TRIAL)


def test_no_thread_runs_in_a_server_that_has_loaded_torch():
    """A fork keeps the calling thread only: another's lock would stay taken for ever."""
    kind = replace(TRIAL, preload=(("torch", ()), ("numpy", ())))
    server = workers.Server(outer.namespaces, kind)
    try:
        counts = [len(list(Path(f"/proc/{p}/task").iterdir())) for p in below(server.popen.pid)]
        assert counts and set(counts) == {1}
    finally:
        server.stop()


def test_nothing_of_the_grader_is_bound():
    plan = outer.plan()
    for place in (outer.PROGRAM.parent.parent, Path.home(), Path("/etc"), Path.cwd()):
        assert not any(place == Path(p) or Path(p) in place.parents for p in plan.binds)


def test_an_installed_autograde_is_masked(tmp_path: Path, monkeypatch):
    (tmp_path / "site-packages" / "autograde").mkdir(parents=True)
    monkeypatch.setattr(outer, "_packages", lambda: [str(tmp_path / "site-packages")])
    plan = outer.plan.__wrapped__()
    assert plan.masks == [str(tmp_path / "site-packages" / "autograde")]


def test_the_containers_command_shuts_everything(tmp_path: Path):
    settings = workers.settings_of(TRIAL, True, workers.COLD_LAYERS)
    command = outer.container(settings, "docker", str(tmp_path), "specdec-x")
    line = " ".join(command)
    for part in ("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges"):
        assert part in line
    volumes = [command[i + 1] for i, word in enumerate(command) if word == "--volume"]
    assert volumes and all(volume.endswith(":ro") for volume in volumes)
    assert command[-5:-1] == [sys.executable, "-I", "-B", "/specdec-worker/server.py"]


def test_a_worker_speaks_over_a_named_socket(tmp_path: Path):
    """What a container's worker does, with a plain process in its place."""
    from autograde.sandbox import containers
    from autograde.sandbox.inside import wire

    with containers.named_socket(str(tmp_path)) as listener:
        settings = workers.settings_of(TRIAL, True, ("limits",))
        settings |= {"connect": str(tmp_path / "worker"), "become_nobody": False, "home": "/"}
        worker = workers.Cold(outer.program(settings, str(outer.PROGRAM)), [], None)
        with containers.accepted(listener, worker) as link:
            assert wire.receive(link) == {"ready": True}
        worker.end()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_well_formed(machine: str):
    program = calls.program(machine)
    assert len(program) % 8 == 0 and len(program) // 8 < 4096
    with pytest.raises(OSError, match="no table of system calls for m68k"):
        calls.program("m68k")


def test_no_program_is_started_for_a_submission():
    """The grader only sends and receives; the server makes the process."""
    limits = Limits()
    Process(limits).end()
    before = os.times()
    for _ in range(20):
        process = Process(limits)
        process.wait_until_ready(30)
        process.end()
    after = os.times()
    assert after.children_user == before.children_user
