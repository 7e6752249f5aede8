"""One mistake costs once: what calls a wrong answer is run again with right ones underneath.

An exercise may call the functions of all exercises above it. If it fails and one of these is wrong,
the cases that failed run a second time, in a new worker, with the chapter's own answers under the
names of those functions. By then all that these answer has been graded, and since an exercise never
gets its own answer or one below it, nothing that the worker keeps is worth anything to a later one.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from autograde.runner import Case, HiddenTests
from autograde.sandbox.reference import Reference
from autograde.sandbox.student import Student


def run(
    tests: HiddenTests, student: Student, reference: Reference, sources: Mapping[str, str]
) -> list[Case]:
    """Every case, as it goes by itself: with right answers underneath where one is wrong.

    `sources` is the notebook's code by cell. Raises RuntimeError if no worker can be started.
    """
    cases, functions = tests.run(student), list(student.parameters)
    wrong = {case.exercise for case in cases if case.error is not None}
    above = {name: functions[:number] for number, name in enumerate(functions)}
    again = [n for n in above if n in wrong and _names_one_of(wrong & {*above[n]}, n, sources)]
    if again:
        student.session.renew()
    for name in again:
        failed = [i for i, c in enumerate(cases) if c.exercise == name and c.error is not None]
        second = _second(tests, student, reference, failed, above[name])
        for i, case in zip(failed, second, strict=True):
            cases[i] = replace(case, own_error=cases[i].error) if case.used else cases[i]
    return cases


def _names_one_of(names: set[str], exercise: str, sources: Mapping[str, str]) -> bool:
    """Whether one of `names` occurs in the exercise's cell, or in a cell of the student's own."""
    texts = [text for key, text in sources.items() if key == exercise or key.startswith("extra-")]
    return any(re.search(rf"\b{name}\b", text) for name in names for text in texts)


def _second(
    tests: HiddenTests, student: Student, reference: Reference, which: list[int], above: list[str]
) -> list[Case]:
    """Some cases with right answers under the names `above`."""
    lent = reference.functions(above)
    cases = tests.run(Student(student.session, student.parameters, lent), which)
    if reference.session.broken is not None:
        raise reference.session.broken
    return [replace(case, used=frozenset(reference.used)) for case in cases]
