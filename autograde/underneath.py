"""One mistake costs once: what calls a wrong answer is run again with right ones underneath.

An exercise may call the functions of all exercises above it. If it fails and one of these is wrong,
its failed behaviours run a second time, in a new worker, with the chapter's own answers under their
names. By then all that these answer has been graded; the exercise's own is never among them.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from autograde.check import Behaviour
from autograde.runner import Case, HiddenTests
from autograde.sandbox.reference import Reference
from autograde.sandbox.student import Student


def run(
    tests: HiddenTests, student: Student, reference: Reference, sources: Mapping[str, str]
) -> list[Case]:
    """Every case, as it goes by itself: with right answers underneath where one is wrong.

    `sources` is the notebook's code by cell. Raises RuntimeError if no worker can be started.
    """
    cases = tests.run(student)
    failed = {case.behaviour: case.exercise for case in cases if case.error is not None}
    functions = list(student.parameters)
    for number, name in enumerate(functions):
        above = functions[:number]
        wrong = set(failed.values()).intersection(above)
        again = [behaviour for behaviour, exercise in failed.items() if exercise == name]
        if again and _names_one_of(wrong, name, sources):
            second = _second(tests, student, reference, again, above)
            cases = _replaced(cases, second) if reference.used else cases
    return cases


def _names_one_of(names: set[str], exercise: str, sources: Mapping[str, str]) -> bool:
    """Whether one of `names` occurs in the exercise's cell, or in a cell of the student's own."""
    texts = [text for key, text in sources.items() if key == exercise or key.startswith("extra-")]
    return any(re.search(rf"\b{name}\b", text) for name in names for text in texts)


def _second(
    tests: HiddenTests,
    student: Student,
    reference: Reference,
    behaviours: list[Behaviour],
    above: list[str],
) -> list[Case]:
    """The cases of some behaviours in a new worker, with right answers under the names `above`."""
    student.session.renew()
    lent = reference.functions(above)
    cases = tests.run(Student(student.session, student.parameters, lent), behaviours)
    if reference.session.broken is not None:
        raise reference.session.broken
    return [replace(case, used=frozenset(reference.used)) for case in cases]


def _replaced(cases: list[Case], second: list[Case]) -> list[Case]:
    """The cases with those of some behaviours as they went the second time."""
    behaviours, later = {case.behaviour for case in second}, iter(second)
    return [
        replace(next(later), own_error=case.error) if case.behaviour in behaviours else case
        for case in cases
    ]
