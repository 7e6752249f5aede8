"""What a stored result depends on: every ingredient of the key changes it."""

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from autograde import chapter
from autograde.grading import cache

CHAPTER = "02_topic"
FILES = (
    f"solutions/{CHAPTER}.py",
    f"notebooks/{CHAPTER}/{CHAPTER}.ipynb",
    "autograde/grade.py",
    "autograde/chapters/ch02_tests.py",
    "autograde/chapters/ch02_wrong.py",
    "specdec_lib/sampling.py",
    "specdec_lib/lessons/common/examples.py",
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository in place of this one."""
    for name in (*FILES, "docs/page.md", "solutions/03_other.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    for name in ("SOLUTIONS", "NOTEBOOKS"):
        monkeypatch.setattr(chapter, name, tmp_path / name.lower())
    monkeypatch.setattr(cache, "ROOT", tmp_path)
    monkeypatch.setattr(cache, "library_folders", lambda: [tmp_path / "specdec_lib"])
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


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_results_depend_on(tree: Path, name: str):
    assert changes_the_key(lambda: (tree / name).write_text("changed"))


NOT_READ = ("docs/page.md", "solutions/03_other.py", "autograde/chapters/.pytest_cache/lastfailed")


@pytest.mark.parametrize("name", NOT_READ)
def test_a_file_that_they_do_not_depend_on(tree: Path, name: str):
    (tree / name).parent.mkdir(exist_ok=True)
    assert not changes_the_key(lambda: (tree / name).write_text("changed"))


def test_a_new_file_and_a_moved_one(tree: Path):
    assert changes_the_key(lambda: (tree / "specdec_lib" / "new.py").write_text(""))
    new = tree / "specdec_lib" / "lessons" / "sampling.py"
    assert changes_the_key(lambda: (tree / "specdec_lib" / "sampling.py").rename(new))


def test_the_version_of_python(tree: Path, monkeypatch: pytest.MonkeyPatch):
    change = "platform.python_version"
    assert changes_the_key(lambda: monkeypatch.setattr(change, lambda: "3.99"))


@pytest.mark.parametrize("package", cache.PACKAGES)
def test_the_version_of_a_package(tree: Path, monkeypatch: pytest.MonkeyPatch, package: str):
    real = metadata.version

    def version(name: str) -> str:
        return "99" if name == package else real(name)

    assert changes_the_key(lambda: monkeypatch.setattr(metadata, "version", version))


def test_a_package_may_be_missing(tree: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    assert changes_the_key(lambda: monkeypatch.setattr(metadata, "version", missing))
