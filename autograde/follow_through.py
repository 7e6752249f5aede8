"""One mistake costs once: what stands below a wrong answer is run again with right ones above it.

An exercise may call the functions of all exercises above it. If it fails and one of these is wrong,
the cases that failed run a second time, in a new worker, in which the chapter's own answers have
taken the place of all functions above. By then all that these answer has been graded, and since an
exercise never meets its own answer or one below it, nothing that the worker keeps is worth anything
to a later one.
"""

from collections.abc import Mapping
from dataclasses import replace

from autograde.runner import Case, HiddenTests
from autograde.sandbox.session import Cell
from autograde.sandbox.student import Student


def run(tests: HiddenTests, student: Student, right: Mapping[str, Cell]) -> list[Case]:
    """Every case, as it goes by itself: with right answers above it where one is wrong.

    `right` has the chapter's own cell of every function. Raises RuntimeError if no worker can be
    started.
    """
    cases, functions = tests.run(student), list(student.parameters)
    failed = {case.exercise for case in cases if case.error is not None}
    wrong = [name for name in functions if name in failed]
    if wrong[1:]:
        student.session.renew()
    for number, name in enumerate(wrong[1:], 1):
        above = functions[: functions.index(name)]
        student.session.put_in_place(right[each] for each in above)
        which = [i for i, c in enumerate(cases) if c.exercise == name and c.error is not None]
        for i, case in zip(which, tests.run(student, which), strict=True):
            cases[i] = replace(case, own_error=cases[i].error, used=frozenset(wrong[:number]))
    return cases
