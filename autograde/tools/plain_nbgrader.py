"""What the bench compares the engine with: plain nbgrader, with the hidden tests in its kernel.

It is as good as such a course can be made: the same cases, collected once a kernel, and points by
behaviour. It isolates nothing, explains nothing, and does not count what a call does with torch.
A kernel that asks for points imports little, since every submission pays for it again.
"""

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from autograde.chapter import Chapter
from autograde.runner import HiddenTests, collected
from autograde.sandbox.inside import wire
from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.session import NotDefined, Reply, StudentError
from autograde.sandbox.student import Student

CELL = """### BEGIN HIDDEN TESTS
from autograde.tools.plain_nbgrader import points
points({chapter!r}, {exercises!r}, {name!r}, {most!r}, globals())
### END HIDDEN TESTS"""
CONFIG = """c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.ignore = [".*"]
"""


def write_course(course: Path, chapter: str, submitted: Path) -> None:
    """Make a plain nbgrader course of a chapter and its submissions, without demonstrations."""
    from autograde.grade import exercises_of  # here: no kernel needs it

    def put_tests_in(notebook: Any) -> None:
        points = {f"test_{name}": e.max_score for name, e in exercises_of(notebook).items()}
        names = tuple(name.removeprefix("test_") for name in points)
        for cell in notebook.cells:
            if cell.id in points:
                name, most = cell.id.removeprefix("test_"), points[cell.id]
                cell.source = CELL.format(chapter=chapter, exercises=names, name=name, most=most)

    _copy(Chapter(chapter).solution, course / "source" / chapter, put_tests_in)
    for path in submitted.glob(f"*/{chapter}/{chapter}.ipynb"):
        _copy(path, course / path.relative_to(submitted.parent).parent)
    (course / "nbgrader_config.py").write_text(CONFIG.format(root=str(course)))


def _copy(path: Path, folder: Path, change: Callable[[Any], None] = lambda _: None) -> None:
    """A copy of a notebook in a new folder, its demonstrations left out."""
    import nbformat

    from autograde.submission import is_demo

    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if not is_demo(cell)]
    change(notebook)
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / path.name)


def points(
    chapter: str, exercises: tuple[str, ...], name: str, most: float, namespace: Mapping[str, Any]
) -> float:
    """The points of the exercise `name`, from the functions in a notebook's `namespace`.

    `exercises` are all those of the chapter, `most` is what this one is worth.
    """
    function = namespace.get(name)
    parameters = list(inspect.signature(function).parameters) if callable(function) else []
    student = Student(InKernel(namespace), {name: parameters})
    # Nothing is called again: what a call does is seen here, in the student's own process.
    trials = [replace(trial, proven=False) for trial in _tests(chapter, exercises).trials]
    cases = [trial.run(student) for trial in trials if trial.exercise == name]
    lost = {case.behaviour for case in cases if case.error is not None}
    total = sum(each.weight for each in {case.behaviour for case in cases})
    return most * (total - sum(each.weight for each in lost)) / total


@cache
def _tests(chapter: str, exercises: tuple[str, ...]) -> HiddenTests:
    return collected(Chapter(chapter), exercises)


class InKernel:
    """Stands where a Session does for the hidden tests: calls happen in this very process."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace

    def value(self, name: str) -> Any:
        """The value of a name. Raises NotDefined."""
        if name not in self.namespace:
            raise NotDefined(f"{name} is not defined in the notebook")
        return self.namespace[name]

    def calls(self, name: str, many: list[tuple], *_: object) -> list[Reply | Exception]:
        """What comes of one call after the other, up to the first error, as of a Session's."""
        answers: list[Reply | Exception] = []
        try:
            for args in many:
                answers.append(_reply(self.value(name), args))
        except NotDefined as error:
            answers.append(error)
        except Exception as error:
            parts = {"name": type(error).__name__, "text": str(error), "line": None}
            answers.append(StudentError(parts))
        return answers


def _reply(function: Callable, args: tuple) -> Reply:
    given = tuple(arg.thing if isinstance(arg, RemoteObject) else arg for arg in args)
    before = [wire.encode(arg) for arg in given]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        value = function(*given)
    shares = any(value is arg for arg in given)
    return Reply(value, [str(w.message) for w in seen], wire.changed(before, given), shares)
