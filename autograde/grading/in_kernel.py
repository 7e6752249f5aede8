"""The hidden tests on functions of this very process: what the bench's plain nbgrader runs.

It imports little, since every kernel pays for it again.
"""

import copy
import inspect
import warnings
from collections.abc import Mapping
from typing import Any

from autograde.grading.hidden_tests import hidden_tests, tests_of
from autograde.sandbox.inside import wire
from autograde.sandbox.lending import Lent
from autograde.sandbox.proxy import Student
from autograde.sandbox.session import NotDefined, Reply, StudentError


def points(chapter: str, exercise: str, most: float, namespace: Mapping[str, Any]) -> float:
    """The points of one exercise, from the functions in a notebook's `namespace`."""
    function = namespace.get(exercise)
    names = list(inspect.signature(function).parameters) if callable(function) else []
    student = Student(InKernel(namespace), {exercise: names})
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
