"""Imports go one way, and chapters import the library only."""

import ast

import pytest
from importlinter.cli import lint_imports

from autograde.chapter import LIBRARY, ROOT

CHAPTERS = sorted((ROOT / "solutions").glob("*.py"))


def test_the_contracts_of_pyproject_hold(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_of_our_packages_a_chapter_imports_the_library_only(chapter):
    """The rest is not in what students get."""
    nodes = list(ast.walk(ast.parse(chapter.read_text(encoding="utf-8"))))
    names = {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    assert LIBRARY in {name.partition(".")[0] for name in names}
    assert not any(name.startswith("autograde") for name in names)
