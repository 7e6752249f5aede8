"""The cells of the chapters that show a simulator, found by reading the chapters.

Each comes with the statements above it that it needs and no others, so that it runs in a second
and with the very values that the chapter gives it.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from chapter_cases import CHAPTERS

from autograde.builder.source import read_chapter
from autograde.builder.views import solution_view
from autograde.paths import SOLUTIONS
from specdec_lib.lessons import widgets
from specdec_lib.lessons.widgets import Simulator


@dataclass(frozen=True)
class SimulatorCell:
    """A simulator in a chapter: the statements that it needs, and the expression that shows it."""

    chapter: str
    above: str
    expression: str

    @property
    def id(self) -> str:
        return f"{self.chapter}:{self.expression.split('(')[0]}"

    def run(self) -> Simulator:
        """The simulator, as the chapter makes it."""
        names: dict = {}
        exec(self.above, names)
        return eval(self.expression, names)


def simulator_cells() -> list[SimulatorCell]:
    """All of them, in the order of the course."""
    return [cell for chapter in CHAPTERS for cell in _cells_of(chapter)]


def _cells_of(chapter: str) -> Iterator[SimulatorCell]:
    above: list[ast.stmt] = []
    for cell in solution_view(read_chapter(SOLUTIONS / f"{chapter}.py")).cells:
        if cell.cell_type != "code" or cell.id == "colab":
            continue
        statements = ast.parse(cell.source).body
        above += statements
        last = statements[-1] if statements else None
        if isinstance(last, ast.Expr) and _makes_simulator(last.value, above):
            yield SimulatorCell(chapter, _needed(last, above), ast.unparse(last))


def _makes_simulator(value: ast.expr, above: list[ast.stmt]) -> bool:
    """Whether it calls a function that was imported from the package of the simulators."""
    imported = {
        alias.asname or alias.name
        for each in above
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith(widgets.__name__)
        for alias in each.names
    }
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in imported


def _needed(last: ast.stmt, above: list[ast.stmt]) -> str:
    """The statements above `last` that bind what it uses, and what these use in turn."""
    names, kept = _names(last, ast.Load), []
    for statement in reversed(above):
        if statement is not last and names & _bound(statement):
            names |= _names(statement, ast.Load)
            kept.append(statement)
    return "\n".join(map(ast.unparse, reversed(kept)))


def _names(node: ast.AST, kind: type[ast.expr_context]) -> set[str]:
    walk = ast.walk(node)
    return {each.id for each in walk if isinstance(each, ast.Name) and isinstance(each.ctx, kind)}


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return _names(statement, ast.Store)
