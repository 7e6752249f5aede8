"""Receipts: what they cover, and that a change of answer or result is named."""

import copy
import hashlib
import json
from pathlib import Path

import nbformat
import pytest
from classes.submitting import CHAPTER, hand_in, right, text, with_cell_source

from autograde.cli import main
from autograde.grading.receipts import answer_hashes, read_receipt, sha256
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


def notebook(submitted: Path, student: str) -> Path:
    return submitted / student / CHAPTER / f"{CHAPTER}.ipynb"


def verify(receipt: Path, submission: Path) -> int:
    return main(["receipt", "verify", str(receipt), str(submission)])


def test_receipt_of_a_graded_submission_holds(receipts: Path, submitted: Path, capsys):
    assert verify(receipts / "ada" / f"{CHAPTER}.json", notebook(submitted, "ada")) == 0
    assert "is the receipt of" in capsys.readouterr().out


def test_an_unreadable_submission_has_one_too(receipts: Path, submitted: Path):
    receipt = json.loads((receipts / "ben" / f"{CHAPTER}.json").read_text())
    assert "not valid JSON" in receipt["unreadable"] and receipt["result"]["score"] == 0
    assert verify(receipts / "ben" / f"{CHAPTER}.json", notebook(submitted, "ben")) == 0


def test_what_differs_is_named(receipts: Path, submitted: Path, capsys):
    notebook(submitted, "ada").write_text(text(right(correct_token=WRONG)))
    assert verify(receipts / "ada" / f"{CHAPTER}.json", notebook(submitted, "ada")) == 1
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert first == "correct_token: the answer differs"
    assert second.startswith("the result differs: 22 points then, ")
    assert "correct_token: points differ, 4 then, 0 now" in rest


def test_a_changed_mark_is_named(receipts: Path, submitted: Path, capsys):
    path = receipts / "ada" / f"{CHAPTER}.json"
    receipt = json.loads(path.read_text())
    receipt["result"] |= {"score": 23.0, "hash": "0"}
    receipt["result"]["by_exercise"]["quiz_02"] = 2.0
    path.write_text(json.dumps(receipt))
    assert verify(path, notebook(submitted, "ada")) == 1
    assert "quiz_02: points differ, 2 then, 1 now" in capsys.readouterr().out


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"score": 24.0}, "the result differs: 24 points then, 22 now"),
        ({"by_exercise": {"quiz_02": 2.0}}, "quiz_02: points differ, 2 then, 1 now"),
        ({"by_exercise": {"bonus\n": 2.0}}, "bonus?: points differ"),
    ],
)
def test_a_mark_changed_beside_the_right_hash_is_named(receipts, submitted, capsys, changes, said):
    path = receipts / "ada" / f"{CHAPTER}.json"
    receipt = json.loads(path.read_text())
    marks = receipt["result"]["by_exercise"] | changes.get("by_exercise", {})
    receipt["result"] |= changes | {"by_exercise": marks}
    path.write_text(json.dumps(receipt))
    assert verify(path, notebook(submitted, "ada")) == 1
    assert capsys.readouterr().out.splitlines() == [said]


def test_answers_that_do_not_fit_their_hash_are_named(receipts: Path, submitted: Path, capsys):
    path = receipts / "ada" / f"{CHAPTER}.json"
    receipt = json.loads(path.read_text())
    path.write_text(json.dumps(receipt | {"answers": sha256("others")}))
    assert verify(path, notebook(submitted, "ada")) == 1
    assert "its hash 'answers' is not that of its 'by_answer'" in capsys.readouterr().out
    others = receipt["by_answer"] | {"correct_token": sha256(WRONG)}
    path.write_text(json.dumps(receipt | {"by_answer": others}))
    assert verify(path, notebook(submitted, "ada")) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("the receipt was changed") and second.startswith("correct_token: ")
    path.write_text(json.dumps(receipt | {"unreadable": "the file is empty"}))
    assert verify(path, notebook(submitted, "ada")) == 1
    assert "says that the submission cannot be read, and it can" in capsys.readouterr().out


RESULT = {"hash": "0", "score": 1, "by_exercise": {}}


@pytest.mark.parametrize(
    "changes",
    [
        {"chapter": None},
        {"unreadable": 5},
        {"answers": 5},
        {"by_answer": []},
        {"by_answer": {"quiz_02": 5}},
        {"result": 5},
        {"result": {}},
        {"result": RESULT | {"score": "5"}},
        {"result": RESULT | {"score": True}},
        {"result": RESULT | {"score": 10**400}},
        {"result": RESULT | {"by_exercise": {"quiz_02": None}}},
        {"result": RESULT | {"hash": 5}},
    ],
)
def test_a_part_of_another_type_is_named(changes: dict):
    whole = {"receipt": 1, "chapter": CHAPTER, "unreadable": None, "answers": "", "by_answer": {}}
    whole["result"] = RESULT
    assert read_receipt(json.dumps(whole), "x.json") == whole
    (part,) = changes
    with pytest.raises(ValueError, match=rf"^x\.json is not .*of another type: {part}$"):
        read_receipt(json.dumps(whole | changes), "x.json")
    del whole[part]
    with pytest.raises(ValueError, match=f"missing .*: {part}$"):
        read_receipt(json.dumps(whole), "x.json")


def test_bytes_that_are_no_text_and_nests_without_end_are_no_receipt(tmp_path: Path, capsys):
    for data in (b"\xff\xfe", b"[" * 100_000, b"[1]", b"9" * 5000):
        (tmp_path / "r.json").write_bytes(data)
        assert verify(tmp_path / "r.json", tmp_path / f"{CHAPTER}.ipynb") == 2
        assert "r.json is not a receipt" in capsys.readouterr().err


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
    assert verify(out, path) == 0
    assert main(["receipt", str(path)]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 1)[1]) == json.loads(out.read_text())


@pytest.mark.parametrize(
    "words, said",
    [
        (["nothing.ipynb"], "not named after a chapter"),
        ([f"{CHAPTER}.ipynb"], "there is no file"),
        (["verify", "README.md", f"{CHAPTER}.ipynb"], "README.md is not a receipt"),
        (["verify", "one.json"], "name one notebook"),
        (["a", "b", "c"], "name one notebook"),
        (["a", "--chapter", "99_none"], "there is no chapter 99_none"),
    ],
)
def test_what_cannot_be_done_is_said(words: list[str], said: str, capsys):
    assert main(["receipt", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_receipt_for_another_chapter_and_another_version(receipts: Path, submitted: Path, capsys):
    path = receipts / "ada" / f"{CHAPTER}.json"
    receipt = json.loads(path.read_text())
    path.write_text(json.dumps(receipt | {"chapter": "03_lossless"}))
    assert verify(path, notebook(submitted, "ada")) == 1
    assert "the receipt is for 03_lossless" in capsys.readouterr().out
    path.write_text(json.dumps(receipt | {"receipt": 2}))
    assert verify(path, notebook(submitted, "ada")) == 2
    assert "version 2" in capsys.readouterr().err
