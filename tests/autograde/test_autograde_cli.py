"""`autograde` as an instructor types it: results, messages and exit codes."""

import json
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, FULL, WRITTEN, hand_in, right, text
from data_files import table

from autograde.cli import main
from autograde.course import ROOT, ROOT_VARIABLE, UsageError
from autograde.sandbox import selftest

KEYS = {"status", "reason", "score", "max_score", "pending", "exercises"}
EXERCISE_KEYS = {"score", "max_score", "passed", "total", "messages", "causes", "remarks"}
ODD_NAMES = ("[red]x", ":apple:", "line\nbreak", "\u202exyz", "\udce9")


def test_grade_writes_results_and_a_table_that_no_name_can_spoil(tmp_path: Path, capsys):
    submitted, out = tmp_path / "submitted", tmp_path / "new" / "grades.json"
    hand_in(submitted, "ada", text(right()))
    for name in ODD_NAMES:
        hand_in(submitted, name, "{")
    (submitted / ".hidden").mkdir()
    (submitted / "cleo").mkdir()  # who handed nothing in
    assert main(["grade", str(submitted), "--json", str(out)]) == 1
    students = json.loads(out.read_text())["students"]
    assert list(students) == sorted(["ada", *ODD_NAMES])
    ada = students["ada"][CHAPTER]
    assert set(ada) == KEYS and ada["status"] == "graded" and ada["reason"] is None
    assert ada["score"] == ada["max_score"] == FULL and ada["pending"] == [WRITTEN]
    assert all(set(e) == EXERCISE_KEYS for e in ada["exercises"].values())
    assert students[":apple:"][CHAPTER]["status"] == "failed"
    printed = capsys.readouterr().out
    assert ":apple:: not graded, the file is not valid JSON" in printed
    assert all(name in printed for name in ("ada", "[red]x", "line?break", "?xyz"))


def test_with_a_chapter_who_handed_nothing_in_is_listed(tmp_path: Path):
    (tmp_path / "submitted" / "cleo").mkdir(parents=True)
    out = tmp_path / "grades.json"
    words = ["grade", str(tmp_path / "submitted"), "--chapter", CHAPTER, "--json", str(out)]
    assert main(words) == 1
    cleo = json.loads(out.read_text())["students"]["cleo"][CHAPTER]
    assert (cleo["status"], cleo["score"], cleo["max_score"]) == ("failed", 0.0, FULL)


@pytest.mark.parametrize("line, why", table("commands.toml")["autograde"].items())
def test_two_is_not_started_and_a_line_says_why(line: str, why: str, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT))  # a course, and nothing in this folder
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("autograde: ") and why in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (PermissionError(13, "Permission denied", "a.json"), "a.json: Permission denied"),
        (OSError("disk full"), "disk full"),
        (TimeoutError(), "TimeoutError"),
        (UsageError("there is no chapter 99"), "there is no chapter 99"),
    ],
)
def test_what_the_system_or_the_user_did_is_a_readable_line(error, said: str, capsys, monkeypatch):
    assert _main_that_raises(error, monkeypatch) == 2
    assert capsys.readouterr().err == f"autograde: {said}\n"


@pytest.mark.parametrize("error", [ValueError, UnicodeError, KeyError, RuntimeError])
def test_a_fault_of_the_grader_itself_keeps_its_traceback(error: type[Exception], monkeypatch):
    with pytest.raises(error):
        _main_that_raises(error("a fault"), monkeypatch)


def _main_that_raises(error: Exception, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a command in which `error` happens."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(selftest, "doctor_report", fail)
    return main(["doctor"])
