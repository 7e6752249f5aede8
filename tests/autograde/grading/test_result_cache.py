"""What a stored result depends on: what can change a mark of the chapter, and nothing else."""

import copy
from pathlib import Path

import nbformat
import pytest
from classes.submitting import CHAPTER, right

from autograde import course
from autograde.course import ROOT
from autograde.grading import cache
from autograde.grading.grade import grade
from autograde.grading.result import Result


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "FOLDER", tmp_path)
    return tmp_path


def test_the_key_covers_the_chapters_files_and_no_other_chapters():
    """The import contracts hold that grading imports nothing beside these."""
    for one in course.chapters():
        ingredients = {path for _, path in cache._ingredients(one)}
        grader = {ROOT / "autograde" / name for name in ("grading/grade.py", "sandbox/session.py")}
        assert {one.source, one.release, one.solution, one.tests} | grader <= ingredients
        assert not ingredients & {other.tests for other in course.chapters() if other != one}


def test_the_key_covers_answers_grader_and_isolation_but_no_output(monkeypatch):
    key = cache.key(right(), CHAPTER, "bubblewrap")
    printed = copy.deepcopy(right())
    for cell in printed.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="x")]
    assert cache.key(printed, CHAPTER, "bubblewrap") == key
    assert cache.key(right(), CHAPTER, "none") != key
    assert cache.key(right(quiz_02=""), CHAPTER, "bubblewrap") != key
    monkeypatch.setattr(cache, "grader_fingerprint", lambda chapter: "another")
    assert cache.key(right(), CHAPTER, "bubblewrap") != key


def test_the_key_covers_the_seed_of_the_hidden_cases(monkeypatch):
    fingerprints = set()
    for seed in (2026, 7, 0):
        monkeypatch.setattr(cache, "course_seed", lambda seed=seed: seed)
        fingerprints.add(cache.grader_fingerprint.__wrapped__(CHAPTER))
    assert len(fingerprints) == 3


def test_what_a_limit_decided_is_never_stored():
    results = [Result({}, limited=True), Result({}, limited=True), Result({}), Result({})]
    limited = [grade(right(), CHAPTER, lambda *_: results.pop(0)).limited for _ in range(4)]
    assert limited == [True, True, False, False] and len(results) == 1


def test_a_damaged_entry_counts_as_none(folder: Path):
    for _ in range(2):
        assert grade(right(), CHAPTER, lambda *_: Result({}, ["why"])).pending == ["why"]
        (entry,) = folder.iterdir()
        entry.write_text('{"exercises": ')
