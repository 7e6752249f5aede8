"""From test cases to behaviours and their messages: one message for one root cause."""

from autograde.grading.marks import Case
from autograde.grading.misconceptions import Misconception, Misconceptions, likely_cause
from autograde.grading.results import Behaviour, Exercise


def judge(cases: list[Case], wrong: Misconceptions, exercises: dict[str, Exercise]) -> None:
    """Give every exercise its behaviours, in the order of the tests."""
    broken = {case.exercise for case in cases if case.error is not None}
    for name, exercise in exercises.items():
        own = [case for case in cases if case.exercise == name]
        unwritten = next((case.error for case in own if case.unwritten), None)
        candidates = [] if unwritten else wrong.of(name)
        exercise.note = unwritten
        exercise.behaviours = _judge(own, candidates, broken)


def _judge(cases: list[Case], wrong: list[Misconception], broken: set[str]) -> list[Behaviour]:
    """The behaviours of one exercise; `broken` names the exercises in which something failed."""
    first = {case.behaviour: None for case in cases}
    for case in reversed(cases):
        if case.error is not None:
            first[case.behaviour] = case
    failing = {name: case for name, case in first.items() if case is not None}
    cause = _cause(cases, wrong)
    messages = {name: _message(case, failing, cause, broken) for name, case in failing.items()}
    why = cause.name if cause else None
    weights = {case.behaviour: case.weight for case in cases}
    return [
        Behaviour(
            name,
            case is None,
            messages.get(name, ""),
            why if case is not None else None,
            weights[name],
        )
        for name, case in first.items()
    ]


def _message(
    case: Case, failing: dict[str, Case], cause: Misconception | None, broken: set[str]
) -> str:
    """What the student reads under one failed behaviour. The numbers always stay in it."""
    lead = next(iter(failing.values()))
    missing = broken if cause else broken | set(failing)
    if first := [name for name in case.after if name in missing]:
        return f"not checked: first {first[0]}. Seen here: {case.error}"
    if case is not lead and case.raised is not None and case.raised == lead.raised:
        return "not checked: first what is said above, it ends this call too."
    if cause is None:
        return case.error
    return cause.explain(case.error) if case is lead else f"{case.error} (The same cause.)"


def _cause(cases: list[Case], wrong: list[Misconception]) -> Misconception | None:
    calls = [call for case in cases for call in case.calls if call.function == case.exercise]
    failing = [
        case.calls[-1]
        for case in cases
        if case.error is not None and case.calls and case.calls[-1].function == case.exercise
    ]
    return likely_cause(wrong, calls, failing)
