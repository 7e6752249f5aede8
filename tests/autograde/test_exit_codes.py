"""Exit codes are what the help and the guide say, for both commands."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, hand_in, right, text

from autograde import cli as autograde
from autograde.build import release
from autograde.chapter import ROOT
from autograde.sandbox import selftest
from specdec_lib import cli as specdec

GUIDE = ROOT / "docs" / "instructor.md"
ROW = re.compile(r"^\| (\d+) \| (.*?) \| (.*?) \|$", re.MULTILINE)


def code_of(main: Callable[[list[str]], int], *arguments: str) -> int:
    """What the process would end with."""
    try:
        return main(list(arguments))
    except SystemExit as end:  # argparse
        return int(end.code or 0)


@pytest.mark.parametrize("command", [autograde, specdec], ids=["autograde", "specdec"])
def test_the_help_and_the_guide_name_the_same_codes(command, capsys):
    assert code_of(command.main, "--help") == 0
    told = re.findall(r"\b\d+\b", " ".join(capsys.readouterr().out.split("Exit codes:")[1:]))
    column = 2 if command is autograde else 3
    rows = ROW.finditer(GUIDE.read_text())
    assert told == [row[1] for row in rows if row[column] != "never"] and "0" in told


def test_zero_is_all_done(tmp_path: Path):
    hand_in(tmp_path / "submitted", "ben", "{")  # cannot be graded, which is a result
    assert code_of(autograde.main, "grade", str(tmp_path / "submitted")) == 0
    assert code_of(autograde.main, "build", "--check") == 0
    assert code_of(specdec.main, "update", "--work", str(tmp_path)) == 0


def test_one_is_something_to_look_at(tmp_path: Path, monkeypatch, capsys):
    ada = hand_in(tmp_path, "ada", text(right()))
    other = hand_in(tmp_path, "ben", text(right(quiz_02='quiz_02 = "d"')))
    receipt = tmp_path / "receipt.json"
    assert code_of(autograde.main, "receipt", str(ada), "--out", str(receipt)) == 0
    verify = ("receipt", "verify", str(receipt))
    assert code_of(autograde.main, *verify, str(ada)) == 0
    assert code_of(autograde.main, *verify, str(other)) == 1
    assert "quiz_02" in capsys.readouterr().out
    monkeypatch.setattr(selftest, "report", lambda: (["no isolation"], False))
    assert code_of(autograde.main, "doctor") == 1
    monkeypatch.setattr(release, "check", lambda chapters: ["a notebook: out of date"])
    assert code_of(autograde.main, "build", "--check") == 1


def test_export_ends_with_one_for_a_mark_without_a_row_only(tmp_path: Path, capsys):
    """A row without a mark is somebody who handed nothing in: named, and nothing to mend."""
    mark = {"score": 1.0, "max_score": 2.0, "status": "graded", "exercises": {}}
    (tmp_path / "grades.json").write_text(json.dumps({"students": {"ada": {CHAPTER: mark}}}))
    words = ["export", str(tmp_path / "grades.json"), "--chapter", CHAPTER, "--format", "canvas"]
    words += ["--lms", str(tmp_path / "lms.csv"), "--out", str(tmp_path / "out.csv")]
    for rows, code in (("Ada,ada\nBen,ben\n", 0), ("Ben,ben\n", 1), ("Ada,ada\nA.,ada\n", 1)):
        (tmp_path / "lms.csv").write_text(f"Student,ID,{CHAPTER}\n" + rows.replace("\n", ",\n"))
        assert code_of(autograde.main, *words) == code
        assert "in the table, and without a mark" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("main", "arguments"),
    [
        (autograde.main, ["grades"]),
        (autograde.main, ["grade", "no/such/folder"]),
        (autograde.main, ["grade", ".", "--workers", "0"]),
        (autograde.main, ["build", "99_none"]),
        (autograde.main, ["bundle", "x.zip", "--chapter", "99_none"]),
        (autograde.main, ["report", "no-such.json"]),
        (autograde.main, ["export", "no.db", "--chapter", CHAPTER, "--out", "x.csv"]),
        (autograde.main, ["collect", "no.zip", "--format", "canvas", "--chapter", CHAPTER]),
        (specdec.main, ["begin"]),
        (specdec.main, ["update", "--fast"]),
        (specdec.main, ["start", "--no-lab", "--work", "/dev/null/work"]),
        (specdec.main, ["generate", "x", "--pair", "no such pair"]),
        (specdec.main, ["compare", "no.json", "no.json"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_two_is_not_started_and_says_why(main, arguments: list[str], capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert code_of(main, *arguments) == 2
    told = capsys.readouterr()
    assert told.err.strip() and "Traceback" not in told.err
    assert not list(tmp_path.iterdir())
