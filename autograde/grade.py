"""Grading one submission: run its cells in a worker, run the hidden tests here, add up."""

import ast
import time
from functools import cache
from importlib import import_module

from nbformat import NotebookNode

from autograde.chapter import Chapter
from autograde.grading import cache as results_cache
from autograde.grading.verdict import judge
from autograde.result import Exercise, Result
from autograde.runner import HiddenTests, collected
from autograde.sandbox import selftest
from autograde.sandbox.inside.cells import plain_python
from autograde.sandbox.remote import Student
from autograde.sandbox.session import Cell, Session
from autograde.sandbox.workers import Limits
from autograde.submission import Submission, is_answer, is_demo, release_of
from autograde.wrong import misconceptions_of


def grade_submission(submission: Submission, chapter: str) -> Result:
    """The result of what intake made of a submission; refused ones are failed, with 0 points."""
    result = grade(submission.notebook, chapter)
    result.reason = submission.reason
    return result


def grade(notebook: NotebookNode, chapter: str) -> Result:
    """The result of a rebuilt notebook, from the cache where it was graded before.

    A result that hit a time limit may be the machine's fault: it is repeated once before it is
    stored.
    """
    name = results_cache.key(notebook, chapter)
    result = results_cache.load(name)
    if result is None:
        result = grade_anew(notebook, chapter)
        if result.limited:
            result = grade_anew(notebook, chapter)
        results_cache.store(name, result)
    return result


def grade_anew(notebook: NotebookNode, chapter: str) -> Result:
    """The result of a rebuilt notebook, graded in this process now.

    Raises NoIsolation, AuthorError if the chapter's hidden tests cannot be run, and RuntimeError
    where a worker cannot be started (again).
    """
    selftest.require()
    start = time.monotonic()
    limits, tests = limits_of(chapter), hidden_tests_of(chapter)
    with Session(code_cells(notebook, limits), limits) as session:
        student = Student(session, parameters_of(chapter))
        cases = tests.run(student)
    if session.broken is not None:
        raise session.broken
    exercises = exercises_of(notebook)
    judge(cases, misconceptions_of(chapter), exercises)
    result = Result(exercises, pending_of(notebook), session.reports, session.limited)
    result.seconds = round(time.monotonic() - start, 3)
    return result


def limits_of(chapter: str) -> Limits:
    """What a submission of the chapter may use, and what is loaded before it comes."""
    return Limits(blocklist=own_work_of(chapter), preload=modules_of(chapter))


def code_cells(notebook: NotebookNode, limits: Limits) -> list[Cell]:
    """The cells that the worker runs: all code but grade cells and demonstrations."""
    release_demos = {cell.source.strip() for cell in notebook.cells if is_demo(cell)}
    return [
        Cell(cell.id, cell.source, _seconds(cell, limits))
        for cell in notebook.cells
        if cell.cell_type == "code"
        and not cell.metadata.get("nbgrader", {}).get("grade")
        and cell.source.strip() not in release_demos
    ]


def _seconds(cell: NotebookNode, limits: Limits) -> float:
    own = cell.id.startswith("extra-")
    return limits.extra_cell_seconds if own else limits.cell_seconds


def exercises_of(notebook: NotebookNode) -> dict[str, Exercise]:
    """The exercises with their points, in the notebook's order, from its grade cells."""
    return {
        cell.metadata.nbgrader.grade_id.removeprefix("test_"): Exercise(
            float(cell.metadata.nbgrader.points)
        )
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    }


def pending_of(notebook: NotebookNode) -> list[str]:
    """The written cells: a person gives their points."""
    return [
        cell.metadata.nbgrader.grade_id
        for cell in notebook.cells
        if cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("grade")
    ]


@cache
def hidden_tests_of(chapter: str) -> HiddenTests:
    """The chapter's hidden tests, the same ones for every submission of this process."""
    return collected(Chapter(chapter), exercises_of(release_of(chapter)))


@cache
def own_work_of(chapter: str) -> tuple[str, ...]:
    """The library's functions that answer an exercise of the chapter."""
    number, table = Chapter(chapter).number, import_module("autograde.chapters.own_work").OWN_WORK
    return tuple(name for name, chapters in table.items() if number in chapters.split())


@cache
def modules_of(chapter: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What the release's own cells import, but for demonstrations: modules, and names from them."""
    cells = [c for c in release_of(chapter).cells if c.cell_type == "code" and not is_demo(c)]
    nodes = [n for cell in cells for n in ast.walk(ast.parse(plain_python(cell.source)))]
    wanted = [(alias.name, ()) for n in nodes if isinstance(n, ast.Import) for alias in n.names]
    wanted += [
        (n.module, tuple(alias.name for alias in n.names))
        for n in nodes
        if isinstance(n, ast.ImportFrom) and n.module
    ]
    return tuple(dict.fromkeys(wanted))


@cache
def parameters_of(chapter: str) -> dict[str, list[str]]:
    """The parameter names of every graded function, read off the release's stubs."""
    stubs = [c.source for c in release_of(chapter).cells if c.cell_type == "code" and is_answer(c)]
    functions = [node for source in stubs for node in ast.parse(source).body]
    return {
        node.name: [argument.arg for argument in node.args.args]
        for node in functions
        if isinstance(node, ast.FunctionDef)
    }
