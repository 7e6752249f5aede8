"""The cells of the chapters that show a simulator, found by reading the chapters.

Each comes with the statements above it that it needs and no others, so that it runs in a second
and with the very values that the chapter gives it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from classes.chapter_cases import CHAPTERS

from autograde.build.source import read_chapter
from autograde.chapter import SOLUTIONS
from autograde.nbgrader.regions import solution_view
from specdec_lib.lessons import widgets


@dataclass(frozen=True)
class SimulatorCell:
    """A simulator's name, the statements that it needs, and the expression that shows it."""

    chapter: str
    simulator: str
    above: str
    expression: str


def simulator_cells() -> list[SimulatorCell]:
    """All of them, in the order of the course."""
    return [cell for chapter in CHAPTERS for cell in _cells_of(chapter)]


def _cells_of(chapter: str) -> Iterator[SimulatorCell]:
    above: list[ast.stmt] = []
    for cell in solution_view(read_chapter(SOLUTIONS / f"{chapter}.py")).cells:
        if cell.cell_type != "code" or cell.id == "colab":
            continue
        statements = ast.parse(cell.source).body
        name = _simulator_in(statements[-1:], [*above, *statements])
        if name:
            *before, last = statements
            yield SimulatorCell(chapter, name, _needed(last, [*above, *before]), ast.unparse(last))
        above += statements


def _simulator_in(last: list[ast.stmt], above: list[ast.stmt]) -> str | None:
    """The simulator's name where `last` calls what comes out of the package of the simulators."""
    modules = {
        alias.asname or alias.name: each.module
        for each in above
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith(widgets.__name__)
        for alias in each.names
    }
    shown = [each.value for each in last if isinstance(each, ast.Expr)]
    called = [value.func for value in shown if isinstance(value, ast.Call)]
    module = next((modules.get(each.id) for each in called if isinstance(each, ast.Name)), None)
    return module and module.rpartition(".")[2]


def _needed(last: ast.stmt, above: list[ast.stmt]) -> str:
    """The statements above `last` that bind what it uses, and what these use in turn.

    A check of a function that is used is kept too: later cells ask whether it has passed.
    """
    names, kept = _names(last, ast.Load), []
    for statement in reversed(above):
        if names & _bound(statement) or _is_check_of(statement, names):
            names |= _names(statement, ast.Load)
            kept.append(statement)
    return "\n".join(map(ast.unparse, reversed(kept)))


def _is_check_of(statement: ast.stmt, names: set[str]) -> bool:
    called = re.fullmatch(r"lesson\.check_(\w+)\(\1\)", ast.unparse(statement))
    return called is not None and called[1] in names


def _names(node: ast.AST, kind: type[ast.expr_context]) -> set[str]:
    walk = ast.walk(node)
    return {each.id for each in walk if isinstance(each, ast.Name) and isinstance(each.ctx, kind)}


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return _names(statement, ast.Store)
