"""Check a chapter's cells for mistakes that nbgrader would refuse, or would not notice."""

import ast
import keyword
from dataclasses import fields
from textwrap import dedent

from autograde.build import colab
from autograde.build.text import CELL_OPTIONS, TextCell
from autograde.course import current_course
from autograde.nbgrader.regions import (
    BEGIN_SOLUTION,
    END_SOLUTION,
    HIDDEN_WORDS,
    SOLUTION_WORDS,
    split_at_region,
)
from autograde.report.folding import SUMMARY_ID
from autograde.sandbox.student import Student

# Names that the grader uses itself: the attributes of `student`, and ids of its own cells.
_GRADERS_NAMES = (
    {f.name for f in fields(Student)} | vars(Student).keys() | {colab.CELL_ID, SUMMARY_ID}
)
RESERVED_NAMES = sorted(name for name in _GRADERS_NAMES if not name.startswith("_"))


def check_cells(cells: list[TextCell]) -> None:
    """Raise AuthorError at the first mistake in a chapter's cells."""
    for cell in cells:
        _check_options(cell)
        if cell.kind in ("solution", "written"):
            _check_name(cell)
        if cell.kind in ("test", "written"):
            _check_points(cell)
        _check_regions(cell)
        if cell.cell_type == "code":
            _check_code(cell)
    _check_pairs(cells)


def _check_options(cell: TextCell) -> None:
    allowed = CELL_OPTIONS[cell.kind] | {"tags"}
    if unknown := sorted(set(cell.options) - allowed):
        problem = f"unknown option {', '.join(unknown)} for a {cell.kind} cell"
        raise cell.error(problem, f"It takes: {', '.join(sorted(allowed))}")


def _check_name(cell: TextCell) -> None:
    """A name that a hidden test can use as `student.NAME`, and that the grader does not use."""
    name = cell.name
    valid = name.isidentifier() and name.isascii()
    if not valid or keyword.iskeyword(name) or name.startswith(("_", "test_")):
        remedy = "Take a Python name of ASCII letters that begins with neither `_` nor `test_`"
        raise cell.error(f"no {cell.kind} cell can be called {name!r}", remedy)
    if name in RESERVED_NAMES:
        remedy = f"Rename it. Names of the grader's are: {', '.join(RESERVED_NAMES)}"
        raise cell.error(f"the {cell.kind} cell has a name of the grader's, {name}", remedy)


def _check_points(cell: TextCell) -> None:
    points = cell.options.get("points")
    if not (isinstance(points, int | float) and points > 0):
        problem = f"points={points!r} is not a positive number"
        raise cell.error(problem, f'Write {cell.kind}="{cell.name}" points=3')


def _check_regions(cell: TextCell) -> None:
    """One region in a solution cell and none elsewhere.

    nbgrader takes any line that holds its words for a marker, and drops the rest of the line.
    """
    lines = [line.strip() for line in cell.source.split("\n")]
    if any(word in line for line in lines for word in HIDDEN_WORDS):
        folder = current_course().hidden_tests
        remedy = f"Hidden tests stand in {folder}/test_NN_topic.py: move these there"
        raise cell.error("hidden tests in a chapter's text", remedy)
    markers = [line for line in lines if any(word in line for word in SOLUTION_WORDS)]
    if cell.kind != "solution" and markers:
        remedy = 'Give the cell the option solution="name", or take the region out'
        raise cell.error("a solution region in a cell that is no solution", remedy)
    if cell.kind == "solution" and markers != [BEGIN_SOLUTION, END_SOLUTION]:
        remedy = f"Put one `{BEGIN_SOLUTION}` above the answer and one `{END_SOLUTION}` below it"
        raise cell.error(f"the solution cell of {cell.name} has not one solution region", remedy)


def _check_code(cell: TextCell) -> None:
    """Plain Python, and whole statements in a region, since the stub replaces them."""
    before, region, _ = split_at_region(cell.source)
    try:
        ast.parse(cell.source)
        ast.parse("\n" * (len(before) + 1) + dedent("\n".join(region)))
    except SyntaxError as error:
        line = cell.line + (error.lineno or 1)
        remedy = "Write plain Python: no magics, no `# %%` in a text, whole statements in a region"
        raise cell.error(f"syntax error: {error.msg}", remedy, line) from error


def _check_pairs(cells: list[TextCell]) -> None:
    """Every name once; every solution with one test below it, every test with its solution."""
    cells_by_id: dict[str, TextCell] = {}
    for cell in [cell for cell in cells if cell.kind != "plain"]:
        if first := cells_by_id.get(cell.grade_id):
            problem = f"the {cell.kind} cell {cell.name} is the second of this name"
            raise cell.error(f"{problem}, after line {first.line}", "Rename one of them")
        if cell.kind == "test" and cell.name not in cells_by_id:
            problem = f"the test of {cell.name} has no solution cell above it"
            raise cell.error(problem, f'Write one above it: # %% solution="{cell.name}"')
        cells_by_id[cell.grade_id] = cell
    for cell in cells:
        if cell.kind == "solution" and f"test_{cell.name}" not in cells_by_id:
            problem = f"the solution of {cell.name} has no test cell"
            raise cell.error(problem, f'Write one below it: # %% test="{cell.name}" points=3')
