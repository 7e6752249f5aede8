"""The checks on a chapter's cells: what nbgrader would refuse, or take silently for granted."""

import ast
import math
from itertools import zip_longest

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
MOVE_TESTS = "Hidden tests stand in autograde/chapters/chNN_tests.py: move these there"
MAX_ID = 64  # nbformat's limit on the id of a cell
# An exercise of such a name would be shadowed: by what a hidden test's `student` has itself, or by
# the id of a cell that the builder or the grader makes.
TAKEN_NAMES = {*dir(Student), *Student.__dataclass_fields__, "colab", "result"}


def check_cells(cells: list[TextCell]) -> None:
    """Raise AuthorError at the first mistake in a chapter's cells."""
    for cell in cells:
        _check_options(cell)
        _check_region(cell)
        if cell.cell_type == "code":
            _check_code(cell)
    _check_names(cells)


def _check_options(cell: TextCell) -> None:
    if "incorrectly_encoded_metadata" in cell.options:
        raise cell.error(
            f"the cell's options cannot be read: {cell.options['incorrectly_encoded_metadata']}",
            'Write them as key=value, text in double quotes, as in test="name" points=3',
        )
    if cell.cell_type not in ("code", "markdown"):
        raise cell.error(
            f"a cell of type {cell.cell_type}", "Use `# %%` for code or `# %% [markdown]` for text"
        )
    unknown = sorted(set(cell.options) - OPTIONS[cell.kind] - {"tags"})
    if unknown:
        allowed = ", ".join(sorted(OPTIONS[cell.kind] | {"tags"}))
        raise cell.error(
            f"unknown option {', '.join(unknown)} for a {cell.kind} cell",
            f"It takes: {allowed}",
        )
    _check_kind(cell)
    if cell.kind in ("test", "written"):
        _check_points(cell)


def _check_kind(cell: TextCell) -> None:
    """A named cell has a name that Python and nbgrader take, and is of the right type."""
    if cell.kind == "plain":
        return
    if not (isinstance(cell.name, str) and cell.name.isascii() and cell.name.isidentifier()):
        raise cell.error(
            f"{cell.kind}={cell.name!r} is not a name",
            "Use letters, digits and underscores, and no digit first",
        )
    if cell.name in TAKEN_NAMES or cell.name.startswith("_"):
        raise cell.error(
            f"the grader uses the name {cell.name} itself",
            "Choose another name",
        )
    if len(f"test_{cell.name}") > MAX_ID:
        raise cell.error(f"the name {cell.name} is too long", f"At most {MAX_ID - 5} characters")
    wanted = "markdown" if cell.kind == "written" else "code"
    if cell.cell_type != wanted:
        marker = "# %% [markdown]" if wanted == "markdown" else "# %%"
        raise cell.error(
            f"a {cell.kind} cell cannot be {cell.cell_type}", f"Begin it with `{marker}`"
        )


def _check_points(cell: TextCell) -> None:
    points = cell.options.get("points")
    if points is None:
        raise cell.error(
            f"the {cell.kind} cell of {cell.name} has no points",
            f'Write {cell.kind}="{cell.name}" points=3',
        )
    number = isinstance(points, int | float) and not isinstance(points, bool)
    if not (number and math.isfinite(points) and points > 0):
        raise cell.error(f"points={points!r} is not a positive number", "Write points=3")


def _check_region(cell: TextCell) -> None:
    """One closed region in a solution cell, none elsewhere, and no reserved word in a line."""
    markers = []
    for number, line in enumerate(cell.source.split("\n"), cell.line + 1):
        _check_line(cell, line, number)
        if line.strip() in REGION:
            markers.append((number, line.strip()))
    if cell.kind != "solution" and markers:
        raise cell.error(
            "a solution region in a cell that is no solution",
            'Give the cell the option solution="name", or take the region out',
            markers[0][0],
        )
    if cell.kind == "solution":
        _check_solution(cell, markers)


def _check_line(cell: TextCell, line: str, number: int) -> None:
    """nbgrader takes any line with these words for a marker, and drops the rest of the line."""
    for word in RESERVED_WORDS:
        if word in line:
            remedy = MOVE_TESTS if word in HIDDEN_WORDS else "Take it out of the text"
            raise cell.error(f"nbgrader acts on `{word}`", remedy, number)
    if any(word in line for word in SOLUTION_WORDS) and line.strip() not in REGION:
        raise cell.error(
            "a line that nbgrader would take for a solution marker",
            f"Write `{BEGIN_SOLUTION}` or `{END_SOLUTION}` alone on its line",
            number,
        )


def _check_solution(cell: TextCell, markers: list[tuple[int, str]]) -> None:
    """The markers, each with its line, are those of one region, which holds code."""
    words = [word for _, word in markers]
    if words != REGION:
        pairs = zip_longest(words, REGION)
        odd = next(i for i, (word, right) in enumerate(pairs) if word != right)
        raise cell.error(
            f"the solution cell of {cell.name} has not one solution region",
            f"Put one `{BEGIN_SOLUTION}` above the answer and one `{END_SOLUTION}` below it",
            markers[min(odd, len(markers) - 1)][0] if markers else None,
        )
    if not code_lines(split_at_region(cell.source)[1]):
        problem = f"the solution region of {cell.name} holds no code"
        raise cell.error(problem, "Write the answer", markers[0][0])


def _check_code(cell: TextCell) -> None:
    """Plain Python; a check is not empty, and a solution defines its name."""
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        line = cell.line + (error.lineno or 1)
        raise cell.error(
            f"syntax error: {error.msg}", "Chapters are plain Python: no magics", line
        ) from error
    if cell.kind == "test" and not tree.body:
        raise cell.error(
            f"the test cell of {cell.name} shows no code",
            "Write the line that calls the check: it is what the student runs",
        )
    if cell.kind == "solution" and cell.name not in _defined(tree):
        raise cell.error(
            f"the solution cell of {cell.name} does not define {cell.name}",
            "Name the cell after the function or the answer in it",
        )


def _defined(tree: ast.Module) -> set[str]:
    """The names that a cell defines or assigns at its top level."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def _check_names(cells: list[TextCell]) -> None:
    """Every name once; every solution with one test below it, every test with its solution."""
    seen: dict[str, TextCell] = {}
    for cell in cells:
        if cell.kind == "plain":
            continue
        if first := seen.get(cell.grade_id):
            problem = f"the {cell.kind} cell {cell.name} is the second of this name"
            raise cell.error(f"{problem}, after line {first.line}", "Rename one of them")
        if cell.kind == "test" and cell.name not in seen:
            raise cell.error(
                f"the test of {cell.name} has no solution cell above it",
                f'Write one above it: # %% solution="{cell.name}"',
            )
        seen[cell.grade_id] = cell
    for cell in cells:
        if cell.kind == "solution" and f"test_{cell.name}" not in seen:
            raise cell.error(
                f"the solution of {cell.name} has no test cell",
                f'Write one below it: # %% test="{cell.name}" points=3',
            )
