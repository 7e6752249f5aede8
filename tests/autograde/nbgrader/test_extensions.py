"""`autograde extend`: more time for a student, and a line about whatever is wrong."""

from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograde.cli import main

CHAPTER = "02_rejection_sampling"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class in which ada has handed in two chapters; one of them has a due date."""
    tmp_path = tmp_path_factory.mktemp("class")
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment(CHAPTER, duedate="2027-02-01 12:00 UTC")
        gradebook.add_assignment("03_whole_block")
        gradebook.add_student("ada")
        for chapter in (CHAPTER, "03_whole_block"):
            gradebook.add_submission(chapter, "ada")
    return tmp_path


def extend(course: Path, *words: str) -> int:
    return main(["extend", *words, "--course", str(course)])


def test_an_extension_is_written_and_the_new_time_said(course: Path, capsys):
    assert extend(course, CHAPTER, "ada", "--days", "1", "--hours", "2") == 0
    said = capsys.readouterr().out
    assert said.startswith(f"ada, {CHAPTER}: until 2027-02-02 14:00 UTC\n")
    assert f"nbgrader autograde {CHAPTER} --force" in said
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        until = gradebook.find_submission(CHAPTER, "ada").duedate
    assert until == datetime(2027, 2, 2, 14)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((CHAPTER, "adda", "--days", "1"), f"adda has no graded {CHAPTER}"),
        (("99_none", "ada", "--days", "1"), "those who have: nobody"),
        (("03_whole_block", "ada", "--days", "1"), "03_whole_block has no due date"),
        ((CHAPTER, "ada"), "an extension needs --days or --hours"),
    ],
)
def test_what_is_wrong_is_one_line(course: Path, capsys, words: tuple[str, ...], line: str):
    assert extend(course, *words) == 2
    said = capsys.readouterr().err
    assert line in said and said.count("\n") == 1


def test_a_folder_without_a_class_is_a_line_and_gets_no_gradebook(tmp_path: Path, capsys):
    assert extend(tmp_path / "corse", CHAPTER, "ada", "--days", "1") == 2
    said = capsys.readouterr().err
    assert f"there is no class in {tmp_path / 'corse'}" in said and said.count("\n") == 1
    assert not (tmp_path / "corse").exists()
