"""Exit codes are what the help and the guide say, for both commands."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, hand_in

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
    except SystemExit as end:  # argparse, in specdec
        return int(end.code or 0)


@pytest.mark.parametrize("command", [autograde, specdec], ids=["autograde", "specdec"])
def test_the_help_and_the_guide_name_the_same_codes(command, capsys):
    assert code_of(command.main, "--help") == 0
    codes = re.findall(r"\b\d+\b", " ".join(capsys.readouterr().out.split("Exit codes:")[1:]))
    column = 2 if command is autograde else 3
    rows = ROW.finditer(GUIDE.read_text())
    assert codes == [row[1] for row in rows if row[column] != "never"] and "0" in codes


def test_zero_is_all_done(tmp_path: Path, capsys):
    hand_in(tmp_path / "submitted", "ben", "{")  # cannot be graded, which is a result
    assert code_of(autograde.main, "grade", str(tmp_path / "submitted")) == 0
    assert code_of(specdec.main, "update", "--work", str(tmp_path)) == 0
    assert code_of(autograde.main, "build", "--check") == 0
    assert "every notebook is up to date" in capsys.readouterr().out


def test_one_is_something_to_look_at(monkeypatch, capsys):
    monkeypatch.setattr(selftest, "report", lambda: (["no isolation"], False))
    assert code_of(autograde.main, "doctor") == 1
    monkeypatch.setattr(release, "check", lambda chapters: ["a notebook: out of date"])
    assert code_of(autograde.main, "build", "--check") == 1
    assert "a notebook: out of date" in capsys.readouterr().out


def test_export_ends_with_one_for_a_mark_without_a_row_only(tmp_path: Path, capsys):
    """A row without a mark is somebody who handed nothing in: named, and nothing to mend."""
    mark = {"score": 1.0, "max_score": 2.0, "status": "graded", "exercises": {}}
    (tmp_path / "grades.json").write_text(json.dumps({"students": {"ada-1": {CHAPTER: mark}}}))
    words = ["export", str(tmp_path / "grades.json"), "--chapter", CHAPTER, "--format", "canvas"]
    words += ["--lms", str(tmp_path / "lms.csv"), "--out", str(tmp_path / "out.csv")]
    for rows, code in (("Ada,1\nBen,2\n", 0), ("Ben,2\n", 1)):
        (tmp_path / "lms.csv").write_text(f"Student,ID,{CHAPTER}\n" + rows.replace("\n", ",\n"))
        assert code_of(autograde.main, *words) == code
        assert "in the table, and without a mark" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("grades", "grades"),
        ("grade no/such/folder", "no folder of submissions at no/such/folder"),
        ("grade . --workers 0", "--workers"),
        ("grade . --workers 2 --scheduler tcp://x:1", "give one"),
        ("build 99_none", "There are: 00_bottleneck, 01_"),
        (f"bundle x.zip --chapter {CHAPTER} --chapter 99_none", "there is no chapter 99_none"),
        ("report no-such.json", "no-such.json"),
        (f"collect no.zip --format canvas --chapter {CHAPTER}", "no.zip"),
        (f"collect no.zip --format word --chapter {CHAPTER}", "word"),
    ],
)
def test_two_is_not_started_and_a_line_says_why(
    line: str, why: str, capsys, tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert autograde.main(line.split()) == 2
    *isolation, said = capsys.readouterr().err.splitlines()
    assert said.startswith("autograde: ") and why in said and len(isolation) <= 1
    assert not list(tmp_path.iterdir())
