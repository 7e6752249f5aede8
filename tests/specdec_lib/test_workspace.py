"""`specdec start` and `specdec update`: a student's copies are made once and never changed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

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
    for function in (workspace.copy_missing, workspace.changes):
        monkeypatch.setattr(function, "__defaults__", (folder,))
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    folder = tmp_path.resolve() / "a course"  # the space is part of the test
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Nothing is opened; what would have been is in here. It ends after two Ctrl+C."""
    started = Mock()
    started.return_value.wait.side_effect = [KeyboardInterrupt, KeyboardInterrupt, 7]
    monkeypatch.setattr(subprocess, "Popen", started)
    return started


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [text], "metadata": {}}))
    return path


def text_of(folder: Path, name: str) -> str:
    (text,) = json.loads((folder / name / f"{name}.ipynb").read_text())["cells"]
    return text


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below `folder`, with its bytes and the time of its last change."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_chapters_are_copied_once_and_never_overwritten(release: Path, tmp_path: Path):
    work = tmp_path / "work"
    assert workspace.copy_missing(work, release) == {FIRST: "copied", SECOND: "copied"}
    names = {path.name for path in work.rglob("*") if path.is_file()}
    assert names == {f"{FIRST}.ipynb", f"{SECOND}.ipynb", RECORD}
    put(work, FIRST, "my answers")
    put(release, FIRST, "version 2")
    before = content(work)
    assert workspace.copy_missing(work, release) == {FIRST: "kept", SECOND: "kept"}
    assert content(work) == before


def test_only_missing_chapters_are_copied(release: Path, tmp_path: Path):
    work = tmp_path / "work"
    workspace.copy_missing(work, release)
    put(release, "02_third", "version 1")
    (work / SECOND).rename(work / "my old copy")
    put(release, SECOND, "version 2")
    found = workspace.copy_missing(work, release)
    assert found == {FIRST: "kept", SECOND: "copied", "02_third": "copied"}
    assert text_of(work, SECOND) == "version 2"
    assert (work / "my old copy" / f"{SECOND}.ipynb").is_file()


def test_changes_are_those_of_the_release_and_no_file_is_touched(release: Path, tmp_path: Path):
    work = tmp_path / "work"
    workspace.copy_missing(work, release)
    put(work, FIRST, "my answers")  # changes by the student are not changes of the chapter
    put(release, SECOND, "version 2")
    put(release, "02_third", "version 1")
    before = content(tmp_path)
    found = workspace.changes(work, release)
    assert found == {FIRST: "same", SECOND: "changed", "02_third": "new"}
    assert content(tmp_path) == before


@pytest.mark.parametrize("record", [None, "{", "[]"])
def test_a_lost_record_is_said_and_costs_no_work(release: Path, tmp_path: Path, record: str | None):
    work = tmp_path / "work"
    workspace.copy_missing(work, release)
    answer = put(work, FIRST, "my answers")
    (work / RECORD).unlink()
    if record is not None:
        (work / RECORD).write_text(record)
    # The second one is as it was copied.
    assert workspace.changes(work, release) == {FIRST: "unknown", SECOND: "same"}
    workspace.copy_missing(work, release)
    assert "my answers" in answer.read_text()
    assert set(json.loads((work / RECORD).read_text())) == {SECOND}


def test_an_interrupted_copy_is_made_again(release: Path, tmp_path: Path, monkeypatch):
    def stopped(path: Path, data: bytes) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    work = tmp_path / "work"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "write_bytes", stopped)
        workspace.copy_missing(work, release)
    assert workspace.copy_missing(work, release)[FIRST] == "copied"
    assert text_of(work, FIRST) == f"{FIRST}, version 1"


def test_start_copies_and_opens_lab_in_work(release, here, lab, capsys, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/theirs")
    assert cli.main(["start", "--no-browser", "--port", "8890"]) == 7
    [((command,), how)] = lab.call_args_list
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={here / 'work'}" in command
    assert command[-3:] == ["--no-browser", "--port", "8890"]
    assert how["cwd"] == here / "work"
    paths = how["env"]["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert paths == [str(cli.LAB_DEFAULTS), "/theirs"]
    out = capsys.readouterr().out
    assert f"  {FIRST}: copied\n" in out and f"Your work is in {here / 'work'}" in out
    assert "exit code 7" in out


def test_newer_versions_are_named_and_how_to_take_them(release, here, lab, capsys):
    cli.main(["start", "--no-lab"])
    put(release, SECOND, "version 2")
    before = content(here)
    cli.main(["start", "--no-lab"])
    assert "`specdec update` names them" in capsys.readouterr().out
    assert cli.main(["update"]) == 0
    assert f"rename the folder {SECOND} and run `specdec start`" in capsys.readouterr().out
    assert content(here) == before


def test_a_command_inside_the_work_folder_means_that_folder(release, here, monkeypatch):
    cli.main(["start", "--no-lab"])
    monkeypatch.chdir(here / "work")
    assert cli.main(["start", "--no-lab"]) == 0 and cli.main(["update"]) == 0
    assert not (here / "work" / "work").exists()
    assert cli.main(["start", "--no-lab", "--work", "mine"]) == 0
    assert (here / "work" / "mine" / FIRST / f"{FIRST}.ipynb").is_file()


@pytest.mark.parametrize("command", ["start", "update"])
def test_a_missing_release_is_one_clear_line(release, here, lab, capsys, command):
    release.rename(release.with_name("elsewhere"))
    assert cli.main([command]) == 2
    said = capsys.readouterr().err
    assert str(release) in said and 'pip install -e ".[course]"' in said and said.count("\n") == 1
    assert list(here.iterdir()) == [] and not lab.called
