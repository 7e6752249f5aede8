"""Sample classes of any size."""

from pathlib import Path

from classes.submitting import CHAPTER

from autograde.cli import main
from autograde.pool import grade_class
from autograde.tools.samples import KINDS, MIX, submission


def test_a_class_holds_every_kind_no_file_twice_and_always_the_same_bytes():
    files = [submission(kind, CHAPTER, number) for number, kind in enumerate(MIX * 2)]
    assert len(set(files)) == len(files) and set(MIX) == {*KINDS, "broken"}
    assert files[:3] == [submission(kind, CHAPTER, number) for number, kind in enumerate(MIX[:3])]


def test_the_command_makes_a_class_that_is_graded_in_one_go(tmp_path: Path):
    folder = tmp_path / "class"
    assert main(["sample", str(folder), "--students", "20", "--chapter", CHAPTER]) == 0
    results = {name: r[CHAPTER] for name, r in grade_class(folder, CHAPTER).items()}
    scores = {name.split("-")[1]: result["score"] for name, result in results.items()}
    assert len(results) == 20 and scores["right"] == 22.0
    assert 0 < scores["wrong"] < 22 and 0 < scores["half"] < 22 and 0 < scores["crashing"] < 22
    assert scores["blank"] == scores["broken"] == scores["forging"] == 0
    failed = [name for name, result in results.items() if result["status"] == "failed"]
    assert failed == ["s0018-broken"]


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path, capsys):
    (tmp_path / "ada").mkdir()
    assert main(["sample", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["ada"]
