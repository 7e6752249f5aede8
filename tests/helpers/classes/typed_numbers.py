"""Numbers that hidden tests type themselves, where a file of numbers has the rest."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path


def typed_in(file: Path) -> list[str]:
    """ "line: text" of every typed argument, case and expected value of a file of hidden tests.

    A constant of the file, in capitals, may hold what cannot be changed, if the file's docstring
    names it there and says why. An index, a bound in a comparison and a figure in a formula are
    part of the code. The ranges of a prediction are no numbers of a test.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    told = ast.get_docstring(tree) or ""
    found = [node for part in tree.body for node in _typed_by(part, told)]
    found = sorted(set(found), key=lambda node: (node.lineno, node.col_offset))
    return [f"{node.lineno}: {ast.unparse(node)}" for node in found]


def _typed_by(part: ast.stmt, told: str) -> Iterator[ast.AST]:
    """The numbers and lists that a test, a helper of tests or a constant types."""
    if isinstance(part, ast.Assign) and _numbers(part.value):
        names = {node.id for node in ast.walk(part.targets[0]) if isinstance(node, ast.Name)}
        if any(name.isupper() for name in names - set(re.findall(r"\w+", told))):
            yield part
    if isinstance(part, ast.FunctionDef):
        for mark in part.decorator_list:
            yield from _numbers(mark) if "parametrize" in ast.unparse(mark) else ()
        if part.name.startswith(("test_", "check_")):
            yield from _typed_inside(part)


def _typed_inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Numbers in a list, those that are given a name, and those that an answer is called with."""
    forms = [each for node in ast.walk(function) if _shows_a_form(node) for each in ast.walk(node)]
    for node in ast.walk(function):
        if node not in forms:
            yield from filter(_is_number, _values_of(node))


def _shows_a_form(node: ast.AST) -> bool:
    """Whether it is a call of `in_form_of`, which looks at an example's kind and not its value."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "in_form_of"


def _values_of(node: ast.AST) -> list[ast.AST]:
    """The members of a list, what a name is given, and what an answer or a check is called with."""
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.Assign | ast.NamedExpr):
        return [node.value]
    if not isinstance(node, ast.Call):
        return []
    given = node.args if ast.unparse(node.func).startswith(ASKING) else []
    return [*given, *(each.value for each in node.keywords if each.arg == "gives")]


ASKING = ("expect", "require", "check", "student.", "target", "draft")


def _numbers(node: ast.AST) -> list[ast.AST]:
    """All numbers that stand anywhere in an expression."""
    return [each for each in ast.walk(node) if _is_number(each)]


def _is_number(node: ast.AST) -> bool:
    """Whether it is a typed number, with or without a sign; a truth value is none."""
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)
