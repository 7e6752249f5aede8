"""From test cases to behaviours and their messages: one message for one root cause."""

from autograde.result import Behaviour, Exercise
from autograde.runner import Case
from autograde.wrong import Misconception, Misconceptions, likely_cause


def judge(cases: list[Case], wrong: Misconceptions, exercises: dict[str, Exercise]) -> None:
    """Give every exercise its behaviours, in the order of the tests.

    A misconception that shows in several exercises is refuted in the first, and the others refer
    to it. Raises ValueError if a case belongs to none of the `exercises`: its points would be
    given to everybody.
    """
    if strange := {case.exercise for case in cases} - exercises.keys():
        raise ValueError(
            f"the hidden tests name {', '.join(sorted(strange))}, which no grade cell is for. "
            f"The grade cells are for: {', '.join(exercises)}"
        )
    broken = {case.exercise for case in cases if case.error is not None}
    refuted: dict[str, str] = {}
    for name, exercise in exercises.items():
        own = [case for case in cases if case.exercise == name]
        exercise.note = next((case.error for case in own if case.unwritten), None)
        cause = None if exercise.note else _cause(own, wrong.of(name), broken)
        first = refuted.setdefault(cause.thought, name) if cause else _built_on(own, broken)
        if not exercise.note and first not in (None, name):
            exercise.see_first = exercises[first].see_first or first  # the first of a chain
        exercise.behaviours = _behaviours(own, cause, broken, exercise.see_first)


def _built_on(cases: list[Case], broken: set[str]) -> str | None:
    """The broken exercise that all failed cases of this one build on, if there is one."""
    bases = [[n for n in case.after if n in broken] for case in cases if case.error is not None]
    return bases[0][0] if bases and all(bases) else None


def _behaviours(
    cases: list[Case], cause: Misconception | None, broken: set[str], see_first: str | None
) -> list[Behaviour]:
    """The behaviours of one exercise; `broken` names the exercises in which something failed."""
    shares = {case.behaviour: case.weight for case in cases}
    first = {case.behaviour: case for case in reversed(cases) if case.error is not None}
    failing = {name: first[name] for name in shares if name in first}
    behaviours = []
    for name, weight in shares.items():
        if name not in failing:
            behaviours.append(Behaviour(name, True, weight=weight))
        elif cause is None:
            message = _plain(failing[name], failing, broken)
            behaviours.append(Behaviour(name, False, message, None, weight))
        else:
            message = _of_cause(failing[name], failing, cause, see_first)
            behaviours.append(Behaviour(name, False, message, cause.name, weight))
    return behaviours


def _plain(case: Case, failing: dict[str, Case], broken: set[str]) -> str:
    """What the student reads under a failed behaviour without a known cause."""
    if first := [name for name in case.after if name in broken | set(failing)]:
        return f"not checked: first {first[0]}. Seen here: {case.error}"
    return _ended(case, failing) or case.error


def _of_cause(
    case: Case, failing: dict[str, Case], cause: Misconception, see_first: str | None
) -> str:
    """What the student reads under it if the cause is known. The numbers always stay in it."""
    if case is not next(iter(failing.values())):
        return _ended(case, failing) or f"{case.error} (The same cause.)"
    if see_first:
        return f"the same thought as under {see_first}, and wrong here too. Look: {case.error}"
    return cause.explain(case.error)


def _ended(case: Case, failing: dict[str, Case]) -> str | None:
    """A line in place of an exception that the first failed case has shown already."""
    lead = next(iter(failing.values()))
    if case is lead or case.raised is None or case.raised != lead.raised:
        return None
    return "not checked: first what is said above, it ends this call too."


def _cause(cases: list[Case], wrong: list[Misconception], broken: set[str]) -> Misconception | None:
    """The wrong answer that explains the failed cases.

    If an exercise that these cases build on is broken too, only one that explains every call: the
    fault is likelier to be there.
    """
    calls = [call for case in cases for call in case.calls if call.function == case.exercise]
    failed = [case for case in cases if case.error is not None]
    failing = [
        case.calls[-1] for case in failed if case.calls and case.calls[-1].function == case.exercise
    ]
    leans = any(name in broken for case in failed for name in case.after)
    return likely_cause(wrong, calls, failing, whole_only=leans)
