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
        for i, case in _again(tests, student, cases, which).items():
            cases[i] = replace(case, own_error=cases[i].error, used=frozenset(wrong[:number]))
    return cases


def _again(
    tests: HiddenTests, student: Student, cases: list[Case], which: list[int]
) -> dict[int, Case]:
    """The failed cases `which` of an exercise as they go now, by their numbers.

    A behaviour counts whole. So if the first case of each fails as before, the others can add
    nothing: what stands above does not matter here.
    """
    first = list({cases[i].group: i for i in reversed(which)}.values())
    now = dict(zip(first, tests.run(student, first), strict=True))
    if any(case.error != cases[i].error for i, case in now.items()):
        rest = [i for i in which if i not in now]
        now |= zip(rest, tests.run(student, rest), strict=True)
    return now
