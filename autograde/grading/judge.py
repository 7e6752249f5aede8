"""From cases to what a student reads: each test group of each exercise with its message."""

from collections.abc import Iterable, Mapping

from autograde.grading.result import Exercise, GroupResult
from autograde.hidden.causes import Known, KnownBug, causes_of
from autograde.hidden.exercise import Case, Group

# What stands under a test group. `case` is its first failed case, in words. Where a cause is said,
# the case comes without its general advice.
ELSEWHERE = "The mistake from {exercise} again: {case}"  # the cause is explained there
SAME_CAUSE = '{case} (Same cause as under "{group}".)'
ALONE = "Correct by itself. With your own {names}, which {are} wrong, it gives: {case}"
TOGETHER = "Correct by itself. So is what it calls, but the two do not fit together: {case}"


def judge(
    cases: list[Case],
    points: Mapping[str, float],
    known: Mapping[str, Known],
    causes: Mapping[str, dict[Group, KnownBug]],
) -> dict[str, Exercise]:
    """Every exercise of `points` with its test groups, in the order of the tests.

    `causes` are those that are known already, by exercise. A misconception that shows in several
    exercises is explained in the first, and the others refer to it.
    """
    exercises = {name: Exercise(maximum) for name, maximum in points.items()}
    explained: dict[str, str] = {}  # each misconception with the exercise that explains it
    for name, exercise in exercises.items():
        own = [case for case in cases if case.exercise == name]
        exercise.note = next((case.error for case in own if case.unwritten), None)
        failed = [case for case in own if case.error is not None]
        own_causes = {}
        if failed and not exercise.note:
            own_causes = causes[name] if name in causes else causes_of(known[name], own)
        places = [explained.setdefault(cause.think, name) for cause in own_causes.values()]
        exercise.see_first = next((place for place in places if place != name), None)
        prerequisites = _failed_prerequisites(own, cases, exercises)
        if prerequisites and not failed:
            exercise.see_first = prerequisites[0]
        exercise.groups = _groups(own, own_causes, explained, prerequisites)
    return exercises


def _failed_prerequisites(
    own: list[Case], cases: list[Case], exercises: Iterable[str]
) -> list[str]:
    """The wrong exercises above one that was run again with right ones in their place."""
    replaced = {name for case in own for name in case.replaced}
    wrong = {case.exercise for case in cases if case.error is not None}
    return [name for name in exercises if name in replaced & wrong]


def _groups(
    cases: list[Case],
    causes: dict[Group, KnownBug],
    explained: dict[str, str],
    prerequisites: list[str],
) -> list[GroupResult]:
    """The test groups of one exercise; a cause that one has explained is named by the next."""
    named_by: dict[KnownBug, str] = {}  # each cause with the group that explains it
    groups = []
    for group in dict.fromkeys(case.group for case in cases):
        own = [case for case in cases if case.group == group]
        failed = [case for case in own if case.error is not None]
        if not failed:
            groups.append(_right(group, own, prerequisites))
            continue
        case, cause = min(failed, key=lambda case: case.cause is None), causes.get(group)
        message = _message(case, cause, named_by, explained)
        misconception = cause.think if cause else None
        groups.append(GroupResult(group.name, False, message, misconception, group.weight))
        if cause:
            named_by.setdefault(cause, group.name)
    return groups


def _right(group: Group, cases: list[Case], prerequisites: list[str]) -> GroupResult:
    """A group that is right, by itself at least: a remark says what wrong ones above make of it."""
    pass_message = next(filter(None, (case.pass_message for case in cases)), "")
    error = next((case.own_error for case in cases if case.own_error is not None), None)
    message = "" if error is None else _remark(error, prerequisites)
    return GroupResult(group.name, True, message, None, group.weight, pass_message)


def _remark(error: str, prerequisites: list[str]) -> str:
    """What the student reads under a group that fails only with the own answers above it."""
    if not prerequisites:
        return TOGETHER.format(case=error)
    *others, last = prerequisites
    names = f"{', '.join(others)} and {last}" if others else last
    return ALONE.format(names=names, are="are" if others else "is", case=error)


def _message(case: Case, cause: KnownBug | None, named_by: dict, explained: dict[str, str]) -> str:
    """What the student reads under a failed group."""
    if cause is None:
        return case.error
    if cause in named_by:
        return SAME_CAUSE.format(case=case.seen, group=named_by[cause])
    if explained[cause.think] == case.exercise:
        return cause.explain(case.seen)
    return ELSEWHERE.format(exercise=explained[cause.think], case=case.seen)
