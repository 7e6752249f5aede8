"""Imports go one way, and chapters import the library only."""

import ast
import copy
import tomllib

import pytest
from grimp import build_graph
from importlinter import Contract
from importlinter.cli import lint_imports
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract

from autograde.course import LIBRARY, ROOT

CHAPTERS = sorted((ROOT / "solutions").glob("*.py"))


def test_the_contracts_of_pyproject_hold(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "contract", "imported"),
    [
        ("forbidden", ForbiddenContract, "specdec_lib.theory"),
        ("layers", LayersContract, "autograde.hidden_tests.test_02_rejection_sampling"),
    ],
)
def test_no_module_of_the_grader_may_import_the_library_or_hidden_tests(
    kind: str, contract: type[Contract], imported: str
):
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (options,) = (c for c in linter["contracts"] if "The grader" in c["name"] and c["type"] == kind)
    check = contract("", linter, options).check
    graph = build_graph(*linter["root_packages"])
    assert check(copy.deepcopy(graph), verbose=False).kept
    hidden_tests = graph.find_descendants("autograde.hidden_tests")
    for module in graph.find_descendants("autograde") - hidden_tests - {"autograde.hidden_tests"}:
        changed = copy.deepcopy(graph)
        changed.add_import(importer=module, imported=imported)
        assert not check(changed, verbose=False).kept, module


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_of_our_packages_a_chapter_imports_the_library_only(chapter):
    """The rest is not in what students get."""
    nodes = list(ast.walk(ast.parse(chapter.read_text(encoding="utf-8"))))
    names = {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    assert LIBRARY in {name.partition(".")[0] for name in names}
    assert not any(name.startswith("autograde") for name in names)
