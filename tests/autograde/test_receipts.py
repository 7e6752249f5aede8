"""Receipts: what they cover, and that a change of answer or result changes them."""

import copy
import hashlib
import json
from pathlib import Path

import nbformat
import pytest
from classes.submitting import CHAPTER, hand_in, right, text, with_cell_source

from autograde.cli import main
from autograde.receipt import answer_hashes, sha256
from autograde.submission import take_in

WRONG = "def correct_token(p, q, token, r, u):\n    return token, True"


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    hand_in(tmp_path / "submitted", "ada", text(right()))
    hand_in(tmp_path / "submitted", "ben", "{")
    return tmp_path / "submitted"


@pytest.fixture
def receipts(submitted: Path, tmp_path: Path) -> Path:
    assert main(["grade", str(submitted), "--receipts", str(tmp_path / "receipts")]) == 0
    return tmp_path / "receipts"


def test_receipt_of_a_graded_submission(receipts: Path, submitted: Path, tmp_path: Path):
    receipt = json.loads((receipts / "ada" / f"{CHAPTER}.json").read_text())
    assert receipt["result"]["score"] == 22.0 and receipt["unreadable"] is None
    assert receipt["answers"] == sha256(receipt["by_answer"])
    assert sum(receipt["result"]["by_exercise"].values()) == 22.0
    out = tmp_path / "again.json"
    notebook = submitted / "ada" / CHAPTER / f"{CHAPTER}.ipynb"
    assert main(["receipt", str(notebook), "--out", str(out)]) == 0
    assert json.loads(out.read_text()) == receipt
    unread = json.loads((receipts / "ben" / f"{CHAPTER}.json").read_text())
    assert "not valid JSON" in unread["unreadable"] and unread["result"]["score"] == 0


def test_a_changed_answer_changes_its_hash_and_the_results(receipts: Path, tmp_path: Path):
    before = json.loads((receipts / "ada" / f"{CHAPTER}.json").read_text())
    hand_in(tmp_path / "other", "ada", text(right(correct_token=WRONG)))
    assert main(["grade", str(tmp_path / "other"), "--receipts", str(tmp_path / "after")]) == 0
    after = json.loads((tmp_path / "after" / "ada" / f"{CHAPTER}.json").read_text())
    assert before["answers"] != after["answers"]
    assert before["result"]["hash"] != after["result"]["hash"]
    changed = {n for n, h in before["by_answer"].items() if after["by_answer"][n] != h}
    assert changed == {"correct_token"}


def hashes(tmp_path: Path, name: str, changed: nbformat.NotebookNode) -> dict[str, str]:
    path = hand_in(tmp_path, name, text(changed))
    return answer_hashes(take_in(path.parent, Path(path.name), CHAPTER).notebook)


def test_outputs_order_and_text_of_the_chapter_do_not_count(tmp_path: Path):
    changed = copy.deepcopy(right())
    changed.cells.reverse()
    for cell in changed.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="x")]
    prose = next(
        c.id for c in changed.cells if c.cell_type == "markdown" and "nbgrader" not in c.metadata
    )
    changed = with_cell_source(changed, prose, "other words")
    before, after = hashes(tmp_path, "a", right()), hashes(tmp_path, "b", changed)
    assert {name for name in before if before[name] != after[name]} <= {"the student's own cells"}


def test_every_answer_counts_and_so_do_cells_that_were_added(tmp_path: Path):
    before = hashes(tmp_path, "a", right())
    for name in before:
        if name != "the student's own cells":
            after = hashes(tmp_path, name, right(**{name: "changed = 1"}))
            assert {n for n in before if before[n] != after[n]} == {name}
    more = copy.deepcopy(right())
    more.cells.append(nbformat.v4.new_code_cell("x = 1"))
    after = hashes(tmp_path, "more", more)
    assert {n for n in before if before[n] != after[n]} == {"the student's own cells"}


def test_hashes_are_sha256_of_canonical_json():
    text = b'{"a":"x","b":[1,0.5]}'
    assert sha256({"b": [1, 0.5], "a": "x"}) == hashlib.sha256(text).hexdigest()


def test_before_grading_there_is_no_result(tmp_path: Path, capsys):
    path = hand_in(tmp_path, "ada", text(right(quiz_02=f'quiz_02 = "b"  # {tmp_path}')))
    out = tmp_path / "receipt.json"
    assert main(["receipt", str(path), "--out", str(out)]) == 0
    assert json.loads(out.read_text())["result"] is None
    assert main(["receipt", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(out.read_text())


@pytest.mark.parametrize(
    "words, said",
    [
        (["nothing.ipynb"], "not named after a chapter"),
        ([f"{CHAPTER}.ipynb"], "there is no file"),
        (["a", "--chapter", "99_none"], "there is no chapter 99_none"),
    ],
)
def test_what_cannot_be_done_is_said(words: list[str], said: str, capsys):
    assert main(["receipt", *words]) == 2
    assert said in capsys.readouterr().err
