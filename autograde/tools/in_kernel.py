"""The hidden tests on functions of this very process: what the bench's plain nbgrader runs.

It imports little, since every kernel pays for it again.
"""

import inspect
import warnings
from collections.abc import Mapping
from typing import Any

from autograde.grade import hidden_tests_of
from autograde.sandbox.inside import wire
from autograde.sandbox.inside.operations import counted
from autograde.sandbox.remote import RemoteObject, Student
from autograde.sandbox.session import NotDefined, Reply, StudentError

NOT_COUNTED = {"operators": 0, "waits": ()}


def points(chapter: str, exercise: str, most: float, namespace: Mapping[str, Any]) -> float:
    """The points of one exercise, from the functions in a notebook's `namespace`."""
    function = namespace.get(exercise)
    names = list(inspect.signature(function).parameters) if callable(function) else []
    student = Student(InKernel(namespace), {exercise: names})
    tests = hidden_tests_of(chapter).trials
    cases = [test.run(student) for test in tests if test.behaviour.exercise.name == exercise]
    weights = {case.behaviour: case.weight for case in cases}
    lost = {case.behaviour: case.weight for case in cases if case.error is not None}
    return most * (sum(weights.values()) - sum(lost.values())) / sum(weights.values())


class InKernel:
    """Stands where a Session does for the hidden tests: calls happen in this very process."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace

    def value(self, name: str) -> Any:
        """The value of a name. Raises NotDefined."""
        if name not in self.namespace:
            raise NotDefined(f"{name} is not defined in the notebook")
        return self.namespace[name]

    def calls(self, name: str, many: list[tuple], count: bool = False) -> list[Reply | Exception]:
        """What comes of one call after the other, up to the first error, as of a Session's."""
        answers: list[Reply | Exception] = []
        try:
            for args in many:
                answers.append(self._call(name, args, count))
        except (StudentError, NotDefined) as error:
            answers.append(error)
        return answers

    def _call(self, name: str, args: tuple, count: bool = False) -> Reply:
        function = self.value(name)
        given = tuple(arg.thing if isinstance(arg, RemoteObject) else arg for arg in args)
        before = [wire.encode(arg) for arg in given]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                value, used = counted(function, given) if count else (function(*given), NOT_COUNTED)
            except Exception as error:
                told = {"name": type(error).__name__, "text": str(error), "line": None}
                raise StudentError(told) from None
        shares = any(value is arg for arg in given)
        told = [str(w.message) for w in seen]
        operators, waits = used["operators"], tuple(used["waits"])
        return Reply(value, told, wire.changed(before, given), shares, operators, waits)
