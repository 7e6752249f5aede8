"""`specdec start` and `specdec update`: a student's copies are made once and never changed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from specdec_lib import cli, workspace
from specdec_lib.workspace import RECORD

FIRST, SECOND = "00_first", "01_second"


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release of two chapters, which the commands take for the real one."""
    folder = tmp_path / "notebooks"
    for name in (FIRST, SECOND):
        put(folder, name, f"{name}, version 1")
    monkeypatch.setattr(workspace.copy_missing, "__defaults__", (folder,))
    monkeypatch.setattr(workspace.changes, "__defaults__", (folder,))
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    folder = tmp_path.resolve() / "a course"  # the space is part of the test
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


class StandIn:
    """JupyterLab's process, as far as `specdec start` sees it."""

    started: list["StandIn"] = []
    ends: list = [0]

    def __init__(self, command: list[str], **options) -> None:
        self.command, self.options = command, options
        self.left = list(self.ends)
        self.started.append(self)

    def wait(self) -> int:
        """The next of `ends`: an exit code, or Ctrl+C."""
        end = self.left.pop(0)
        if isinstance(end, int):
            return end
        raise end


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    """Nothing is opened; what would have been is in `started`."""
    kind = type("Lab", (StandIn,), {"started": []})
    monkeypatch.setattr(subprocess, "Popen", kind)
    return kind


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def words(changes: list[workspace.Change]) -> dict[str, str]:
    return {change.chapter: change.what for change in changes}


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below `folder`, with its bytes and the time of its last change."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_chapters_are_copied_once_and_never_overwritten(release: Path, tmp_path: Path):
    work = tmp_path / "work"
    assert words(workspace.copy_missing(work, release)) == {FIRST: "copied", SECOND: "copied"}
    answer = put(work, FIRST, "my answers")
    put(release, FIRST, "version 2")
    before = content(work)
    assert words(workspace.copy_missing(work, release)) == {FIRST: "kept", SECOND: "kept"}
    assert content(work) == before and answer.read_text() == "my answers"


def test_only_missing_chapters_are_copied(release: Path, tmp_path: Path):
    work = tmp_path / "work"
    workspace.copy_missing(work, release)
    put(release, "02_third", "version 1")
    (work / SECOND).rename(work / "my old copy")
    put(release, SECOND, "version 2")
    said = words(workspace.copy_missing(work, release))
    assert said == {FIRST: "kept", SECOND: "copied", "02_third": "copied"}
    assert (work / SECOND / f"{SECOND}.ipynb").read_text() == "version 2"
    assert (work / "my old copy" / f"{SECOND}.ipynb").read_text() == f"{SECOND}, version 1"
    assert set(words(workspace.changes(work, release)).values()) == {"same"}


def test_nothing_but_chapters_and_the_record_is_left(release: Path, tmp_path: Path):
    workspace.copy_missing(tmp_path / "work", release)
    names = {path.name for path in (tmp_path / "work").rglob("*") if path.is_file()}
    assert names == {f"{FIRST}.ipynb", f"{SECOND}.ipynb", RECORD}


def test_compare_tells_new_same_and_changed_and_touches_nothing(release: Path, tmp_path: Path):
    work = tmp_path / "work"
    workspace.copy_missing(work, release)
    put(work, FIRST, "my answers")  # changes by the student are not changes of the chapter
    put(release, SECOND, "version 2")
    put(release, "02_third", "version 1")
    before = content(tmp_path)
    said = words(workspace.changes(work, release))
    assert said == {FIRST: "same", SECOND: "changed", "02_third": "new"}
    assert content(tmp_path) == before


@pytest.mark.parametrize("record", [None, "", "{", "[]", '"text"'])
def test_a_lost_record_is_said_and_costs_no_work(release: Path, tmp_path: Path, record: str | None):
    work = tmp_path / "work"
    workspace.copy_missing(work, release)
    answer = put(work, FIRST, "my answers")
    (work / RECORD).unlink()
    if record is not None:
        (work / RECORD).write_text(record)
    said = words(workspace.changes(work, release))
    assert said == {FIRST: "unknown", SECOND: "same"}  # the second is the release, letter by letter
    workspace.copy_missing(work, release)
    assert answer.read_text() == "my answers"
    assert set(json.loads((work / RECORD).read_text())) == {SECOND}


def test_an_interrupted_copy_is_made_again(release: Path, tmp_path: Path, monkeypatch):
    def stopped(path: Path, data: bytes) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    work = tmp_path / "work"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "write_bytes", stopped)
        workspace.copy_missing(work, release)
    assert words(workspace.copy_missing(work, release))[FIRST] == "copied"
    assert (work / FIRST / f"{FIRST}.ipynb").read_text() == f"{FIRST}, version 1"


def test_start_copies_and_opens_lab_in_work(release, here, lab, capsys):
    assert cli.main(["start", "--no-browser", "--port", "8890"]) == 0
    out = capsys.readouterr().out
    assert f"Your chapters are in {here / 'work'}\n" in out and f"  {FIRST}: copied\n" in out
    [opened] = lab.started
    assert opened.command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={here / 'work'}" in opened.command
    assert opened.command[-3:] == ["--no-browser", "--port", "8890"]
    assert opened.options["cwd"] == here / "work"
    assert f"Your work is in {here / 'work'}" in out


def test_start_adds_its_settings_and_keeps_the_students(release, here, lab, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/theirs")
    cli.main(["start"])
    paths = lab.started[0].options["env"]["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert paths == [str(cli.LAB_DEFAULTS), "/theirs"]
    settings = cli.LAB_DEFAULTS / "labconfig" / "default_setting_overrides.json"
    assert json.loads(settings.read_text())["@jupyter-widgets/jupyterlab-manager:plugin"] == {
        "saveState": True
    }


def test_start_waits_through_ctrl_c_and_gives_labs_exit_code(release, here, lab, capsys):
    lab.ends = [KeyboardInterrupt(), KeyboardInterrupt(), 0]
    assert cli.main(["start"]) == 0
    assert "JupyterLab has stopped." in capsys.readouterr().out
    lab.ends = [7]
    assert cli.main(["start"]) == 7
    assert "exit code 7" in capsys.readouterr().out


def test_start_without_lab_only_copies(release, here, lab, capsys, monkeypatch):
    assert cli.main(["start", "--no-lab"]) == 0 and lab.started == []
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None)
    assert cli.main(["start"]) == 2 and lab.started == []
    assert "pip install -e .[course]" in capsys.readouterr().err


def test_start_says_that_there_are_newer_versions(release, here, lab, capsys):
    cli.main(["start", "--no-lab"])
    assert "newer" not in capsys.readouterr().out
    put(release, FIRST, "version 2")
    cli.main(["start", "--no-lab"])
    assert "`specdec update` names them" in capsys.readouterr().out


def test_update_says_what_changed_and_changes_nothing(release, here, capsys):
    assert cli.main(["update"]) == 0
    assert f"{FIRST}: new: `specdec start` copies it" in capsys.readouterr().out
    assert list(here.iterdir()) == []
    cli.main(["start", "--no-lab"])
    put(release, SECOND, "version 2")
    before = content(here)
    capsys.readouterr()
    assert cli.main(["update"]) == 0
    out = capsys.readouterr().out
    assert f"{FIRST}: no change since you started" in out
    assert f"{SECOND}: changed since you started. Your copy is kept." in out
    assert f"rename the folder {SECOND} and run `specdec start`" in out
    assert content(here) == before


def test_commands_inside_the_work_folder_mean_that_folder(release, here, capsys, monkeypatch):
    cli.main(["start", "--no-lab"])
    monkeypatch.chdir(here / "work")
    assert cli.main(["start", "--no-lab"]) == 0 and cli.main(["update"]) == 0
    assert not (here / "work" / "work").exists()
    assert str(here / "work" / "work") not in capsys.readouterr().out


def test_another_work_folder(release, here, lab, capsys):
    assert cli.main(["start", "--work", "elsewhere/mine"]) == 0
    assert f"--ServerApp.root_dir={here / 'elsewhere' / 'mine'}" in lab.started[0].command
    assert not (here / "work").exists()


@pytest.mark.parametrize("command", ["start", "update"])
def test_a_missing_release_is_one_clear_line(tmp_path, here, lab, capsys, monkeypatch, command):
    empty = tmp_path / "notebooks"
    for function in (workspace.copy_missing, workspace.changes):
        monkeypatch.setattr(function, "__defaults__", (empty,))
    assert cli.main([command]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"specdec: there are no chapters in {empty}. ")
    assert "pip install -e .[course]" in said and said.count("\n") == 1
    assert list(here.iterdir()) == [] and lab.started == []


def test_a_file_in_the_way_is_one_clear_line(release, here, lab, capsys):
    (here / "work").write_text("")
    assert cli.main(["start"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"specdec: {here / 'work'}") and "Errno" not in said


@pytest.mark.parametrize("arguments", [[], ["begin"], ["update", "--port", "8890"]])
def test_a_wrong_command_line_is_an_error(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2 and "specdec: error" in capsys.readouterr().err
