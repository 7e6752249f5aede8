"""One mistake costs once: below a wrong answer, tests run again with right answers above."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from autograde.hidden.causes import Known, causes_of
from autograde.hidden.collected import HiddenTests
from autograde.hidden.plugin import Case
from autograde.sandbox.session import Cell
from autograde.sandbox.student import Student


def follow_through(
    tests: HiddenTests, student: Student, right: Mapping[str, Cell], known: Mapping[str, Known]
) -> list[Case]:
    """Every case, as it goes by itself: with right answers above it where one is wrong.

    An exercise may call the functions of all exercises above it. If it fails, its failed cases run
    a second time, in a new worker, in which the chapter's own answers have taken the place of all
    functions above: `right` has the cell of each. So two right answers that do not fit together,
    such as one that gives np.array([]) and one that wants a matrix without rows, lose nothing. If
    nothing above is wrong and known bugs explain all of its failures, it is not run again: a new
    worker takes time.

    By then all that these answer has been graded. An exercise never meets its own answer or one
    below it, so nothing that the worker keeps is worth anything to a later one. Raises RuntimeError
    if no worker can be started.
    """
    cases, functions = tests.run(student), list(student.parameters)
    failed = {case.exercise for case in cases if case.error is not None}
    wrong = [name for name in functions if name in failed]
    above = {name: functions[: functions.index(name)] for name in wrong}

    def may_be_right(name: str) -> bool:
        own = [case for case in cases if case.exercise == name]
        return not set(wrong).isdisjoint(above[name]) or not _is_explained(known[name], own)

    mentioned = [name for name in wrong if _are_mentioned(above[name], student.session.cells)]
    again = [name for name in mentioned if may_be_right(name)]
    if again:
        student.session.restart()
    for name in again:
        student.session.override(right[each] for each in above[name])
        which = [i for i, c in enumerate(cases) if c.exercise == name and c.error is not None]
        replaced = frozenset(wrong) & frozenset(above[name])
        for i, case in zip(which, tests.run(student, which), strict=True):
            cases[i] = replace(case, own_error=cases[i].error, replaced=replaced)
    return cases


def _is_explained(known: Known, cases: list[Case]) -> bool:
    """Whether an exercise is wrong by itself: unwritten, or each failed group has its cause."""
    failed = [case for case in cases if case.error is not None]
    if all(case.unwritten for case in failed):
        return True
    return {case.group for case in failed} <= causes_of(known, cases).keys()


def _are_mentioned(functions: Collection[str], cells: Iterable[Cell]) -> bool:
    """Whether one of the functions is named outside its own cell: nothing calls the others."""
    return any(name in cell.source for cell in cells for name in functions if name != cell.key)
