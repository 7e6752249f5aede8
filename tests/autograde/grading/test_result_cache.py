"""What a stored result depends on: what can change a mark of the chapter, and nothing else."""

import ast
import copy
from pathlib import Path

import nbformat
import pytest
from classes.submitting import CHAPTER, right

from autograde import cache, chapter
from autograde.chapter import ROOT
from autograde.grade import grade
from autograde.result import Result
from autograde.sandbox import isolation


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "FOLDER", tmp_path)
    return tmp_path


def imported(file: Path) -> set[Path]:
    """The files of autograde that a file of it imports, at its top or in a function."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    files = {ROOT / f"{name.replace('.', '/')}.py" for name in names if "autograde" in name}
    return {path for path in files if path.is_file()}


def test_all_that_grading_imports_is_an_ingredient_and_no_other_chapter_is():
    """Else an edit of it would change marks, and the stored ones would stay."""
    for one in chapter.chapters():
        ingredients = {path for _, path in cache._ingredients(one)}
        waiting, seen = [ROOT / "autograde" / "grade.py", one.tests], set()
        while waiting:
            file = waiting.pop()
            seen.add(file)
            waiting += imported(file) - seen
        assert seen | {one.source, one.release, one.solution} <= ingredients and len(seen) > 20
        others = {other.tests for other in chapter.chapters()} - {one.tests}
        assert not ingredients & others


def test_the_key_covers_answers_and_grader_but_no_output(monkeypatch: pytest.MonkeyPatch):
    key = cache.key(right(), CHAPTER, "bubblewrap")
    printed = copy.deepcopy(right())
    for cell in printed.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="x")]
    assert cache.key(printed, CHAPTER, "bubblewrap") == key
    assert cache.key(right(quiz_02='quiz_02 = "a"'), CHAPTER, "bubblewrap") != key
    monkeypatch.setattr(cache, "grader_fingerprint", lambda chapter: "another")
    assert cache.key(right(), CHAPTER, "bubblewrap") != key


def test_a_result_without_isolation_is_never_taken_for_one_with_it(
    monkeypatch: pytest.MonkeyPatch,
):
    asked: list[str] = []
    for way in ("none", "none", "bubblewrap"):
        monkeypatch.setattr(isolation, "chosen", lambda way=way: way)
        grade(right(), CHAPTER, lambda notebook, chapter, way=way: asked.append(way) or Result({}))
    assert asked == ["none", "bubblewrap"]


def test_what_a_limit_decided_is_never_stored(folder: Path):
    results = [Result({}, limited=True), Result({}, limited=True), Result({}), Result({})]
    limited = [grade(right(), CHAPTER, lambda *_: results.pop(0)).limited for _ in range(4)]
    assert limited == [True, True, False, False] and len(results) == 1


def test_a_damaged_entry_counts_as_none(folder: Path):
    for _ in range(2):
        assert grade(right(), CHAPTER, lambda *_: Result({}, ["why"])).pending == ["why"]
        (entry,) = folder.iterdir()
        entry.write_text('{"exercises": ')


def test_a_cache_that_cannot_be_written_costs_no_mark(folder: Path, monkeypatch):
    (folder / "cache").touch()  # a file where the folder should be
    monkeypatch.setattr(cache, "FOLDER", folder / "cache")
    with pytest.warns(UserWarning, match="results cannot be stored in .*cache"):
        assert grade(right(), CHAPTER, lambda *_: Result({}, ["why"])).pending == ["why"]
