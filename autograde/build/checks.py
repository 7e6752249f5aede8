"""The checks on a chapter's cells: what nbgrader would refuse, or take silently for granted."""

import ast
import math

from autograde.build.text import OPTIONS, TextCell
from autograde.nbgrader.regions import (
    BEGIN_SOLUTION,
    END_SOLUTION,
    HIDDEN_WORDS,
    SOLUTION_WORDS,
    code_lines,
    split_at_region,
)
from autograde.sandbox.student import Student

# nbgrader acts on these words wherever they stand; the builder alone writes the first two.
RESERVED_WORDS = (*HIDDEN_WORDS, "BEGIN MARK SCHEME", "END MARK SCHEME", "AUTOTEST")
REGION = [BEGIN_SOLUTION, END_SOLUTION]
MAX_NAME = 59  # nbformat's limit on the id of a cell is 64, and a test's begins with test_
MARKERS = {"code": "`# %%`", "markdown": "`# %% [markdown]`"}
TYPES = {"written": ["markdown"], "plain": ["code", "markdown"]}  # the other kinds are code
# An exercise of such a name would be shadowed: by what a hidden test's `student` has itself, or by
# the id of a cell that the builder or the grader makes.
TAKEN_NAMES = {*dir(Student), *Student.__dataclass_fields__, "colab", "result"}


def check_cells(cells: list[TextCell]) -> None:
    """Raise AuthorError at the first mistake in a chapter's cells."""
    for cell in cells:
        _check_type(cell)
        if cell.kind != "plain":
            _check_name(cell)
        if cell.kind in ("test", "written"):
            _check_points(cell)
        _check_region(cell)
        if cell.cell_type == "code":
            _check_code(cell)
    _check_pairs(cells)


def _check_type(cell: TextCell) -> None:
    """A cell is code or Markdown, as its kind demands, and has no option that its kind lacks."""
    types = TYPES.get(cell.kind, ["code"])
    if cell.cell_type not in types:
        problem = f"a {cell.kind} cell cannot be {cell.cell_type}"
        raise cell.error(problem, f"Begin it with {' or '.join(MARKERS[each] for each in types)}")
    allowed = OPTIONS[cell.kind] | {"tags"}
    if unknown := sorted(set(cell.options) - allowed):
        problem = f"unknown option {', '.join(unknown)} for a {cell.kind} cell"
        raise cell.error(problem, f"It takes: {', '.join(sorted(allowed))}")
    if not isinstance(cell.options.get("tags", []), list):
        raise cell.error("its tags are no list", 'Write tags=["demo"]')


def _check_name(cell: TextCell) -> None:
    """A name that Python and nbgrader take, and that the grader does not use."""
    name = cell.name
    if not (isinstance(name, str) and name.isascii() and name.isidentifier()):
        remedy = "Use letters, digits and underscores, and no digit first"
        raise cell.error(f"{cell.kind}={name!r} is not a name", remedy)
    if name in TAKEN_NAMES or name.startswith("_"):
        raise cell.error(f"the grader uses the name {name} itself", "Choose another name")
    if len(name) > MAX_NAME:
        raise cell.error(f"the name {name} is too long", f"At most {MAX_NAME} characters")


def _check_points(cell: TextCell) -> None:
    points = cell.options.get("points")
    number = isinstance(points, int | float) and not isinstance(points, bool)
    if not (number and math.isfinite(points) and points > 0):
        problem = f"points={points!r} is not a positive number"
        raise cell.error(problem, f'Write {cell.kind}="{cell.name}" points=3')


def _check_region(cell: TextCell) -> None:
    """One closed region with code in a solution cell, none elsewhere, no reserved word."""
    for number, line in enumerate(cell.source.split("\n"), cell.line + 1):
        _check_line(cell, line, number)
    found = [line.strip() for line in cell.source.split("\n") if line.strip() in REGION]
    if cell.kind != "solution" and found:
        remedy = 'Give the cell the option solution="name", or take the region out'
        raise cell.error("a solution region in a cell that is no solution", remedy)
    if cell.kind == "solution" and found != REGION:
        remedy = f"Put one `{BEGIN_SOLUTION}` above the answer and one `{END_SOLUTION}` below it"
        raise cell.error(f"the solution cell of {cell.name} has not one solution region", remedy)
    if cell.kind == "solution" and not code_lines(split_at_region(cell.source)[1]):
        problem = f"the solution region of {cell.name} holds no code"
        raise cell.error(problem, "Write the answer")


def _check_line(cell: TextCell, line: str, number: int) -> None:
    """nbgrader takes any line with these words for a marker, and drops the rest of the line."""
    if any(word in line for word in HIDDEN_WORDS):
        remedy = "Hidden tests stand in autograde/chapters/chNN_tests.py: move these there"
        raise cell.error("hidden tests in a chapter's text", remedy, number)
    if word := next((word for word in RESERVED_WORDS if word in line), None):
        raise cell.error(f"nbgrader acts on `{word}`", "Take it out of the text", number)
    if any(word in line for word in SOLUTION_WORDS) and line.strip() not in REGION:
        problem = "a line that nbgrader would take for a solution marker"
        remedy = f"Write `{BEGIN_SOLUTION}` or `{END_SOLUTION}` alone on its line"
        raise cell.error(problem, remedy, number)


def _check_code(cell: TextCell) -> None:
    """Plain Python, and in a check some of it."""
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        line = cell.line + (error.lineno or 1)
        remedy = "Chapters are plain Python: no magics, and no `# %%` inside a string"
        raise cell.error(f"syntax error: {error.msg}", remedy, line) from error
    if cell.kind == "test" and not tree.body:
        remedy = "Write the line that calls the check: it is what the student runs"
        raise cell.error(f"the test cell of {cell.name} shows no code", remedy)


def _check_pairs(cells: list[TextCell]) -> None:
    """Every name once; every solution with one test below it, every test with its solution."""
    seen: dict[str, TextCell] = {}
    for cell in [cell for cell in cells if cell.kind != "plain"]:
        if first := seen.get(cell.grade_id):
            problem = f"the {cell.kind} cell {cell.name} is the second of this name"
            raise cell.error(f"{problem}, after line {first.line}", "Rename one of them")
        if cell.kind == "test" and cell.name not in seen:
            problem = f"the test of {cell.name} has no solution cell above it"
            raise cell.error(problem, f'Write one above it: # %% solution="{cell.name}"')
        seen[cell.grade_id] = cell
    for cell in cells:
        if cell.kind == "solution" and f"test_{cell.name}" not in seen:
            problem = f"the solution of {cell.name} has no test cell"
            raise cell.error(problem, f'Write one below it: # %% test="{cell.name}" points=3')
