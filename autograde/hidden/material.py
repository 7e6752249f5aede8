"""What grading a chapter needs beside its hidden tests: read off its two notebooks, once.

The solution runs in the grader's process, without a sandbox: nobody else wrote it.
"""

import ast
import copy
import io
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from nbformat import NotebookNode

from autograde.intake.submission import is_answer, is_demo, release_of, solution_of
from autograde.sandbox.inside import cells, magics, wire
from autograde.sandbox.inside.cells import Cells, plain_python
from autograde.sandbox.remote import RemoteObject, is_proxied
from autograde.sandbox.session import Cell, NotDefined, Reply, StudentError
from autograde.sandbox.student import Student
from autograde.sandbox.workers import Limits

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"


class Reference:
    """Stands where a Session does for the hidden tests, over the cells of a course's notebook."""

    group: object = None  # of the tests, as a Session keeps it

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.notebook = Cells({})
        self.namespace = self.notebook.namespace
        magics.install(self.notebook, for_imports=False)
        for cell in cells:
            self._run(cell.source, self.namespace)

    @contextmanager
    def with_answers(self, answers: Mapping[str, str]) -> Iterator[None]:
        """The notebook with other answers, by exercise, for a while."""
        before = dict(self.namespace)
        try:
            for source in answers.values():
                self._run(source, self.namespace)
            yield
        finally:
            self.namespace.clear()
            self.namespace.update(before)

    def defined(self, name: str, source: str) -> Callable:
        """The function `name` that `source` defines, over the notebook's other functions."""
        namespace = dict(self.namespace)
        self._run(source, namespace)
        return namespace[name]

    def value(self, name: str) -> Any:
        """The value of a name. Raises NotDefined."""
        if name not in self.namespace:
            raise NotDefined(f"{name} is not defined in the notebook")
        return self.namespace[name]

    def call(self, name: str, args: tuple, profile: bool = False) -> Reply:
        """The reply to one call, as a Session gives it."""
        function = self.value(name)
        try:
            return reply_of(function, args, profile)
        except Exception as error:
            raise_if_out_of_memory(error)
            parts = {"name": type(error).__name__, "text": str(error), "where": ""}
            raise StudentError(parts) from None

    def _run(self, source: str, namespace: dict[str, Any]) -> None:
        file = f"<the course's own {zlib.crc32(source.encode()):08x}>"  # each text has its name
        with redirect_stdout(io.StringIO()):
            self.notebook.execute(source, file, namespace)


def raise_if_out_of_memory(error: Exception) -> None:
    """Raise MemoryError if `error` says that the grader has too little memory.

    It says nothing of the function that was called, so nobody must remember it as its answer.
    """
    # torch has no exception of its own for it on a CPU.
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        raise MemoryError(str(error)) from error


def reply_of(function: Callable, args: tuple, profile: bool = False) -> Reply:
    """The reply to a call of `function`: plain data is copied for it, the rest is lent."""
    given = [_lent(arg) if is_proxied(arg) else copy.deepcopy(arg) for arg in args]
    before = [wire.encode_value(arg) for arg in given]
    value, report = cells.instrumented_call(function, given, profile)
    plain = wire.decode_value(wire.encode_value(value))  # as it would come from another process
    return Reply(plain, mutated_args=wire.mutated_positions(before, given), **report)


def _lent(arg: Any) -> Any:
    return arg.obj if isinstance(arg, RemoteObject) else arg


@dataclass(frozen=True)
class Material:
    """A chapter as the grader sees it.

    `limits` say what a submission may use, and what is loaded before it comes. `points` are those
    of each exercise, in the notebook's order, `pending` the written cells, to which a person gives
    their points. `answers` are the right ones by the name of their cell. `parameters` are the
    parameter names of every graded function. `release_functions` has a cell for each function
    that the release defines, `right` the solution's cells by their ids.
    """

    chapter: str
    limits: Limits
    points: dict[str, float]
    pending: list[str]
    answers: dict[str, str]
    parameters: dict[str, list[str]]
    release_functions: dict[str, Cell]
    right: dict[str, Cell]

    @cached_property
    def oracle(self) -> Student:
        """The solution, which says what is expected."""
        # Nobody reads its calls, and one process grades many submissions.
        return Student(Reference(self.right.values()), self.parameters, calls=deque(maxlen=0))

    @cached_property
    def solved(self) -> Reference:
        """The same once more: other answers take the place of its own (see `with_answers`)."""
        return Reference(self.right.values())

    @contextmanager
    def with_answers(self, answers: Mapping[str, str]) -> Iterator[Student]:
        """The solution with other answers in it, by exercise, for a while."""
        with self.solved.with_answers(answers):
            yield Student(self.solved, self.parameters)


@cache
def material_of(chapter: str) -> Material:
    """The material of a chapter. Raises FileNotFoundError if it is not built."""
    release, solution = release_of(chapter), solution_of(chapter)
    limits = Limits(preload=_modules(release))
    return Material(
        chapter=chapter,
        limits=limits,
        points=_points(release),
        pending=[each.grade_id for each in _graded(release, "markdown")],
        answers={
            cell.metadata.nbgrader.grade_id: without_marks(cell.source)
            for cell in solution.cells
            if is_answer(cell)
        },
        parameters=_parameters(release),
        release_functions=_release_functions(release),
        right={cell.key: cell for cell in code_cells(solution, limits)},
    )


def code_cells(notebook: NotebookNode, limits: Limits) -> list[Cell]:
    """The cells that the worker runs: all code but grade cells and demonstrations."""
    demos = {cell.source.strip() for cell in notebook.cells if is_demo(cell)}
    return [
        Cell(cell.id, cell.source, _seconds(cell, limits))
        for cell in notebook.cells
        if cell.cell_type == "code"
        and not cell.metadata.get("nbgrader", {}).get("grade")
        and cell.source.strip() not in demos
    ]


def without_marks(source: str) -> str:
    """The source of a cell less the lines that mark its solution region."""
    marks = (BEGIN_SOLUTION, END_SOLUTION)
    return "\n".join(line for line in source.split("\n") if line.strip() not in marks)


def _seconds(cell: NotebookNode, limits: Limits) -> float:
    own = cell.id.startswith("extra-")
    return limits.extra_cell_seconds if own else limits.cell_seconds


def _points(notebook: NotebookNode) -> dict[str, float]:
    """The points of each exercise, from its grade cell."""
    tests = _graded(notebook, "code")
    return {each.grade_id.removeprefix("test_"): float(each.points) for each in tests}


def _graded(notebook: NotebookNode, kind: str) -> list[NotebookNode]:
    """What nbgrader knows of each graded cell of this kind."""
    cells = [cell for cell in notebook.cells if cell.cell_type == kind]
    marked = [cell.metadata.get("nbgrader", {}) for cell in cells]
    return [nbgrader for nbgrader in marked if nbgrader.get("grade")]


def _modules(release: NotebookNode) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What the release's own cells import, but for demonstrations: modules, and names from them."""
    cells = [cell for cell in release.cells if cell.cell_type == "code" and not is_demo(cell)]
    nodes = [node for cell in cells for node in ast.walk(ast.parse(plain_python(cell.source)))]
    wanted = [(alias.name, ()) for n in nodes if isinstance(n, ast.Import) for alias in n.names]
    wanted += [
        (n.module, tuple(alias.name for alias in n.names))
        for n in nodes
        if isinstance(n, ast.ImportFrom) and n.module
    ]
    return tuple(dict.fromkeys(wanted))


def _parameters(release: NotebookNode) -> dict[str, list[str]]:
    """The parameter names of every graded function, read off the release's stubs."""
    stubs = [cell for cell in release.cells if is_answer(cell)]
    return {
        function.name: [argument.arg for argument in function.args.args]
        for function in _functions(stubs)
    }


def _release_functions(release: NotebookNode) -> dict[str, Cell]:
    """A cell for each function that the release's own cells define."""
    own = [cell for cell in release.cells if not is_answer(cell)]
    return {
        function.name: Cell(function.name, ast.unparse(function), Limits.cell_seconds)
        for function in _functions(own)
    }


def _functions(cells: list[NotebookNode]) -> Iterator[ast.FunctionDef]:
    """The functions that code cells define at their top level."""
    for cell in cells:
        if cell.cell_type == "code":
            nodes = ast.parse(plain_python(cell.source)).body
            yield from (node for node in nodes if isinstance(node, ast.FunctionDef))
