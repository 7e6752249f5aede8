"""Imports go one way, and chapters import the library only."""

import ast
import tomllib

import pytest
from grimp import build_graph
from importlinter.cli import lint_imports
from importlinter.contracts.protected import ProtectedContract

from autograde.course import LIBRARY, ROOT

CHAPTERS = sorted((ROOT / "solutions").glob("*.py"))


def test_the_contracts_of_pyproject_hold(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


def test_no_module_of_the_grader_may_import_the_library_or_hidden_tests():
    """All but the site, which shows the simulators: none is forgotten when it is new."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (options,) = (each for each in linter["contracts"] if each["type"] == "protected")
    contract, graph = ProtectedContract("", {}, options), build_graph(*linter["root_packages"])
    grader = graph.find_descendants("autograde") - graph.find_descendants("autograde.hidden_tests")
    held = set()
    for module in grader:
        for imported in ("specdec_lib.theory", "autograde.hidden_tests.test_02_rejection_sampling"):
            graph.add_import(importer=module, imported=imported)
            held |= set() if contract.check(graph, verbose=False).kept else {module}
            graph.remove_import(importer=module, imported=imported)
    assert grader - held == {"autograde.hidden_tests", "autograde.tools.site"}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_of_our_packages_a_chapter_imports_the_library_only(chapter):
    """The rest is not in what students get."""
    nodes = list(ast.walk(ast.parse(chapter.read_text(encoding="utf-8"))))
    names = {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    assert LIBRARY in {name.partition(".")[0] for name in names}
    assert not any(name.startswith("autograde") for name in names)
