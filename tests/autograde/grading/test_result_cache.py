"""What a stored result depends on: what can change a mark of the chapter, and nothing else."""

import ast
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from classes import submitting
from classes.submitting import right

from autograde import cache, chapter
from autograde.chapter import ROOT
from autograde.grade import job_of
from autograde.result import Result
from autograde.sandbox import isolation

CHAPTER = "02_topic"
INGREDIENTS = (
    f"solutions/{CHAPTER}.py",
    f"solutions/{CHAPTER}/{CHAPTER}.ipynb",
    f"notebooks/{CHAPTER}/{CHAPTER}.ipynb",
    "autograde/grade.py",
    "autograde/sandbox/inside/wire.py",
    "autograde/chapters/ch02_tests.py",
    "autograde/chapters/checks_of_all.py",
    "library/sampling.py",
    "library/lessons/common/examples.py",
)
OTHERS = (
    "docs/page.md",
    "tests/test_grade.py",
    "solutions/03_other.py",
    "autograde/cli.py",
    "autograde/nbgrader/plugin.py",
    "autograde/chapters/ch03_tests.py",
    "autograde/chapters/.pytest_cache/lastfailed",
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository in place of this one."""
    for name in (*INGREDIENTS, *OTHERS):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    for name in ("SOLUTIONS", "NOTEBOOKS"):
        monkeypatch.setattr(chapter, name, tmp_path / name.lower())
    monkeypatch.setattr(cache, "ROOT", tmp_path)
    monkeypatch.setattr(cache, "library_folders", lambda: [tmp_path / "library"])
    return tmp_path


def changes_the_key(change: Callable[[], object]) -> bool:
    cache.grader_fingerprint.cache_clear()
    before = cache.grader_fingerprint(CHAPTER)
    change()
    cache.grader_fingerprint.cache_clear()
    try:
        return cache.grader_fingerprint(CHAPTER) != before
    finally:
        cache.grader_fingerprint.cache_clear()


@pytest.mark.parametrize("name", INGREDIENTS)
def test_an_edit_of_what_can_change_a_mark_grades_anew(tree: Path, name: str):
    assert changes_the_key(lambda: (tree / name).write_text("changed"))


@pytest.mark.parametrize("name", OTHERS)
def test_an_edit_of_anything_else_grades_nobody_anew(tree: Path, name: str):
    assert not changes_the_key(lambda: (tree / name).write_text("changed"))


def test_a_new_file_and_a_moved_one(tree: Path):
    assert changes_the_key(lambda: (tree / "library" / "new.py").write_text(""))
    new = tree / "library" / "lessons" / "sampling.py"
    assert changes_the_key(lambda: (tree / "library" / "sampling.py").rename(new))


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


def test_all_that_grading_imports_is_an_ingredient():
    """Else an edit of it would change marks, and the stored ones would stay."""
    for one in chapter.chapters():
        ingredients = {path for _, path in cache._ingredients(one)}
        waiting, seen = [ROOT / "autograde" / "grade.py", one.tests], set()
        while waiting:
            file = waiting.pop()
            seen.add(file)
            waiting += imported(file) - seen
        assert seen <= ingredients and len(seen) > 20


def test_the_version_of_python(tree: Path, monkeypatch: pytest.MonkeyPatch):
    change = "platform.python_version"
    assert changes_the_key(lambda: monkeypatch.setattr(change, lambda: "3.99"))


@pytest.mark.parametrize("package", cache.PACKAGES)
def test_the_version_of_a_package(tree: Path, monkeypatch: pytest.MonkeyPatch, package: str):
    real = metadata.version

    def version(name: str) -> str:
        return "99" if name == package else real(name)

    assert changes_the_key(lambda: monkeypatch.setattr(metadata, "version", version))


def test_a_result_without_isolation_is_never_taken_for_one_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cache, "FOLDER", tmp_path)
    jobs = []
    for way in ("none", "none", "bubblewrap"):
        monkeypatch.setattr(isolation, "chosen", lambda way=way: isolation.Isolation(way))
        jobs.append(job_of(right(), submitting.CHAPTER))
        cache.store(jobs[0].key, Result({}))
    assert [job.outcome for job in jobs] == [None, Result({}), None]


def test_a_package_may_be_missing(tree: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    assert changes_the_key(lambda: monkeypatch.setattr(metadata, "version", missing))
