"""What the engine is measured against: plain nbgrader, its test cells running pytest in the kernel.

It is as good as such a course can be made: the same hidden cases, collected once a kernel, points
by behaviour, no tracebacks. It isolates nothing, and it explains nothing.
"""

import copy
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograde.grading.engine import parameters_of, tests_of
from autograde.grading.hidden_tests import hidden_tests
from autograde.intake import is_demo
from autograde.paths import SOLUTIONS
from autograde.sandbox.inside import wire
from autograde.sandbox.lending import Lent
from autograde.sandbox.proxy import Student
from autograde.sandbox.session import NotDefined, Reply, StudentError

CELL = """### BEGIN HIDDEN TESTS
from autograde.grading.baseline import points
points("{chapter}", "{name}", {points}, globals())
### END HIDDEN TESTS"""
CONFIG = """c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.ignore = [".*"]
"""


def points(chapter: str, exercise: str, most: float, namespace: Mapping[str, Any]) -> float:
    """The points of one exercise, from the functions in a notebook's `namespace`."""
    student = Student(InKernel(namespace), parameters_of(chapter))
    cases = hidden_tests(tests_of(chapter)).run(student, exercise)
    behaviours = {case.behaviour for case in cases}
    failed = {case.behaviour for case in cases if case.error is not None}
    return most * (len(behaviours) - len(failed)) / len(behaviours)


class InKernel:
    """Stands where a Session does for the hidden tests: calls happen in this very process."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace

    def value(self, name: str) -> Any:
        """The value of a name. Raises NotDefined."""
        if name not in self.namespace:
            raise NotDefined(f"{name} is not defined in the notebook")
        return self.namespace[name]

    def call(self, name: str, args: tuple) -> Reply:
        """Call the student's function. Raises StudentError or NotDefined."""
        function = self.value(name)
        given = tuple(arg.thing if isinstance(arg, Lent) else arg for arg in args)
        before = copy.deepcopy(given)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                value = function(*given)
            except Exception as error:
                raise StudentError({"name": type(error).__name__, "text": str(error)}) from None
        shares = any(value is arg for arg in given)
        return Reply(value, [str(w.message) for w in seen], wire.changed(before, given), shares)


def write_course(course: Path, chapter: str) -> None:
    """Make a plain nbgrader course with this chapter, its demonstrations left out."""
    source = nbformat.read(SOLUTIONS / chapter / f"{chapter}.ipynb", as_version=4)
    source.cells = [_plain(cell, chapter) for cell in source.cells if not is_demo(cell)]
    folder = course / "source" / chapter
    folder.mkdir(parents=True)
    nbformat.write(source, folder / f"{chapter}.ipynb")
    (course / "nbgrader_config.py").write_text(CONFIG.format(root=str(course)))


def _plain(cell: NotebookNode, chapter: str) -> NotebookNode:
    """A grade cell with tests of its own; any other cell as it is."""
    nbgrader = cell.metadata.get("nbgrader", {})
    if cell.cell_type == "code" and nbgrader.get("grade"):
        name = nbgrader["grade_id"].removeprefix("test_")
        cell.source = CELL.format(chapter=chapter, name=name, points=float(nbgrader["points"]))
    return cell
