"""`autograde` as an instructor types it: results, messages and exit codes."""

import json
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest
from classes.submitting import CHAPTER, FULL, WRITTEN, hand_in, right, text
from data_files import table

from autograde.cli import main
from autograde.course import ROOT, ROOT_VARIABLE, AuthorError, UsageError
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
    ("error", "code", "said"),
    [
        (OSError(28, "No space left on device"), 2, "autograde: No space left on device"),
        (PermissionError(13, "denied", "a.json"), 2, "autograde: a.json: denied"),
        (OSError("disk full"), 2, "autograde: disk full"),
        (TimeoutError(), 2, "autograde: TimeoutError"),
        (UsageError("there is no chapter 99"), 2, "autograde: there is no chapter 99"),
        (AuthorError("02.py, line 3: two cells are f"), 1, "02.py, line 3: two cells are f"),
        *((fault("a fault"), None, "") for fault in (ValueError, UnicodeError, KeyError)),
        (RuntimeError("a fault"), None, ""),
    ],
)
def test_what_the_system_the_user_or_an_author_did_is_a_line_and_no_fault_of_ours(
    error: Exception, code: int | None, said: str, capsys, monkeypatch
):
    """A fault of the grader itself keeps its traceback."""
    monkeypatch.setattr(selftest, "doctor_report", Mock(side_effect=error))
    with nullcontext() if code else pytest.raises(type(error)):
        assert main(["doctor"]) == code
    assert capsys.readouterr().err.strip() == said
