"""`autograde` as an instructor types it: results, messages and exit codes."""

import json
import re
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, hand_in, right, text

from autograde import pool as classroom
from autograde.cli import main

KEYS = {"status", "reason", "score", "max_score", "pending", "exercises"}
EXERCISE_KEYS = {"score", "max_score", "passed", "total", "messages", "causes", "remarks"}

OPTIONS = {
    "doctor": "",
    "new": "",
    "build": "--check --solutions",
    "gates": "",
    "bundle": "--chapter --quizzes --self-study",
    "collect": "--format --chapter --course",
    "grade": "--chapter --json --workers --scheduler --unsafe-no-isolation",
    "feedback": "--format --chapter --out --course",
    "report": "--out --course",
    "extend": "--days --hours --course",
    "export": "--format --chapter --lms --out --column",
    "sample": "--students --chapter",
}


@pytest.mark.parametrize("command", OPTIONS)
def test_the_commands_have_the_options_that_scripts_use(command: str, capsys):
    assert main([command, "--help"]) == 0
    named = re.findall(r"^  (--[\w-]+)", capsys.readouterr().out.split("Options:")[1], re.M)
    assert named == [*OPTIONS[command].split(), "--help"]


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    hand_in(tmp_path / "submitted", "ada", text(right()))
    hand_in(tmp_path / "submitted", "ben", "{")
    (tmp_path / "submitted" / ".hidden").mkdir()
    return tmp_path / "submitted"


def test_grade_writes_the_machine_readable_result(submitted: Path, tmp_path: Path, capsys):
    out = tmp_path / "new" / "grades.json"
    assert main(["grade", str(submitted), "--json", str(out), "--chapter", CHAPTER]) == 0
    students = json.loads(out.read_text())["students"]
    assert list(students) == ["ada", "ben"]
    ada = students["ada"][CHAPTER]
    assert set(ada) == KEYS and ada["status"] == "graded" and ada["reason"] is None
    assert ada["score"] == ada["max_score"] == 22.0 and ada["pending"] == ["why_residual"]
    assert all(set(e) == EXERCISE_KEYS for e in ada["exercises"].values())
    assert students["ben"][CHAPTER]["status"] == "failed"
    printed = capsys.readouterr().out
    assert "ada" in printed and "ben: not graded, the file is not valid JSON" in printed


def test_names_of_students_cannot_spoil_the_table(tmp_path: Path, capsys):
    for name in ("[red]x", ":apple:", "line\nbreak", "\u202exyz", "\udce9"):
        hand_in(tmp_path, name, "{")
    assert main(["grade", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("[red]x", ":apple:", "line?break", "?xyz"))


def test_without_a_chapter_only_what_was_handed_in_is_graded(submitted: Path):
    (submitted / "cleo").mkdir()
    assert [t.student for t in classroom.tasks_in(submitted, None)] == ["ada", "ben"]
    assert [t.student for t in classroom.tasks_in(submitted, CHAPTER)] == ["ada", "ben", "cleo"]


def test_a_folder_that_begins_with_a_dot_is_named_in_every_step(submitted, tmp_path, capsys):
    hand_in(submitted, ".eve", text(right()))
    out, page = tmp_path / "grades.json", tmp_path / "page.html"
    assert main(["grade", str(submitted), "--json", str(out)]) == 0
    assert ".eve: not graded, the folder's name begins with a dot" in capsys.readouterr().out
    eve = json.loads(out.read_text())["students"][".eve"][CHAPTER]
    assert (eve["status"], eve["score"], eve["max_score"]) == ("failed", 0.0, 22.0)
    assert main(["report", str(out), "--out", str(page), "--course", str(tmp_path)]) == 0
    assert ".eve" in page.read_text() and "begins with a dot" in page.read_text()
