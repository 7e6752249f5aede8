"""Which known bug a student's function behaves like, told from all that it gave.

One rule names a cause, test group by test group: the known bug that gives what the student's
function gave in every failed case of the group, and in all other cases gives that too or is right.
So a second mistake hides no cause in the groups that it does not reach. If two thoughts explain a
group, the one counts that explains all failed groups; else no cause is said, since a wrong one is
worse than none. A test that has recognised a bug by itself names it whatever the values are (see
`check.by_cause`).

A bug runs only on the arguments that the right answer got, so what a student hands in changes
neither what is run nor how long it takes. Each runs once in a process.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from autograde.hidden.exercise import Group, is_close, kinds_in
from autograde.hidden.known_bugs import KnownBug
from autograde.hidden.reference import raise_if_out_of_memory, reply_of
from autograde.hidden.runner import Case
from autograde.sandbox.remote import is_proxied
from autograde.sandbox.student import Call, traces_of

# What a call ended with if it says nothing of the function: it was stopped, or there is none.
ENDED = ("ProcessEnded", "CallTimedOut", "NotDefined", "NotImplementedError")
Key = tuple[int, int]  # the number of a case, and that of a call in it


@dataclass(frozen=True)
class Outcome:
    """What one call gave and did.

    `error` is an exception's name, `changed` the positions of the arguments that the function
    changed, and `traces` what lent objects noted of their use.
    """

    value: Any = None
    error: str | None = None
    changed: tuple[int, ...] = ()
    traces: tuple = ()

    def same(self, other: "Outcome") -> bool:
        """Whether both gave and did the same: 1.0 is not the same as 1, and True is not."""
        ours, theirs = ((each.error, each.changed, each.traces) for each in (self, other))
        if ours != theirs or self.error is not None:
            return ours == theirs
        one, two = self.value, other.value
        return is_close(one, two) and kinds_in(one) == kinds_in(two)


def outcome_of(call: Call) -> Outcome | None:
    """What a recorded call gave; None if it says nothing of the function."""
    if call.reply is None:
        return None if call.error in ENDED else Outcome(error=call.error, traces=call.traces)
    return Outcome(call.reply.value, None, tuple(call.reply.mutated_args), call.traces)


def outcome_with(function: Callable, call: Call) -> Outcome:
    """What a known bug gives for the arguments of a recorded call.

    Raises MemoryError if this process has too little memory to know.
    """
    args = copy.deepcopy(call.args)  # as a whole: what is lent may share its notes
    try:
        reply = reply_of(function, args)
    except Exception as error:
        raise_if_out_of_memory(error)
        return Outcome(error=type(error).__name__, traces=traces_of(args))
    return Outcome(reply.value, None, tuple(reply.mutated_args), traces_of(args))


class Known:
    """What the right answer to an exercise and its known bugs do in every call of its cases.

    `cases` are those of the right answer, `functions` are the bugs'.
    """

    def __init__(self, cases: list[Case], bugs: list[KnownBug], functions: list[Callable]) -> None:
        self.calls = {(i, n): c for i, case in enumerate(cases) for n, c in enumerate(_own(case))}
        self.bugs, self.functions = bugs, functions
        self._guesses: dict[Key, list[Outcome]] = {}

    def guesses(self, key: Key) -> list[Outcome]:
        """What each bug gives in a call."""
        if key not in self._guesses:
            self._guesses[key] = [outcome_with(each, self.calls[key]) for each in self.functions]
        return self._guesses[key]


def _own(case: Case) -> list[Call]:
    """The calls of the function that a case is about."""
    return [call for call in case.calls if call.function == case.exercise]


@dataclass(frozen=True)
class Seen:
    """A call of a student's function: what it gave, what is right, and what each bug gives."""

    case: Case
    got: Outcome
    right: Outcome
    guesses: list[Outcome]

    def fits(self, bug: int, group: Group) -> bool:
        """Whether nothing here speaks against a bug as the cause of a failed group."""
        guess, must = self.guesses[bug], self.case.error is not None and self.case.group is group
        return guess.same(self.got) or not must and guess.same(self.right)


def causes_of(known: Known, cases: list[Case]) -> dict[Group, KnownBug]:
    """The causes of an exercise's failed groups, where one is beyond doubt."""
    seen, bugs = list(_seen(known, cases)), {bug.think: bug for bug in reversed(known.bugs)}
    failed = dict.fromkeys(case.group for case in cases if case.error is not None)
    thoughts = {group: _thoughts(known, seen, group) for group in failed}
    of_all = set.intersection(*thoughts.values()) if thoughts else set()
    told = {group: those & of_all or those for group, those in thoughts.items()}
    found = {group: bugs[min(those)] for group, those in told.items() if len(those) == 1}
    return found | {case.group: bugs[case.cause] for case in cases if case.cause in bugs}


def is_explained(known: Known, cases: list[Case]) -> bool:
    """Whether an exercise is wrong by itself: unwritten, or each failed group has its cause."""
    failed = [case for case in cases if case.error is not None]
    if all(case.unwritten for case in failed):
        return True
    return {case.group for case in failed} <= causes_of(known, cases).keys()


def _thoughts(known: Known, seen: list[Seen], group: Group) -> set[str]:
    """The thoughts of the known bugs that explain a failed group."""
    failed = [s for s in seen if s.case.group is group and s.case.error is not None]
    if all(each.got.same(each.right) for each in failed):  # not for its values
        return set()
    fitting = [i for i in range(len(known.bugs)) if all(each.fits(i, group) for each in seen)]
    return {known.bugs[i].think for i in fitting}


def _seen(known: Known, cases: list[Case]) -> Iterator[Seen]:
    """All calls that say something, of a student and of the right answer alike."""
    calls = {(i, n): (case, c) for i, case in enumerate(cases) for n, c in enumerate(_own(case))}
    for key, (case, call) in calls.items():
        if key in known.calls and _same_question(call, known.calls[key]):
            got, right = outcome_of(call), outcome_of(known.calls[key])
            if got is not None and right is not None:
                yield Seen(case, got, right, known.guesses(key))


def _same_question(call: Call, other: Call) -> bool:
    """Whether two calls had the same plain arguments: a failed test may ask for more."""
    pairs = zip(call.args, other.args, strict=False)
    plain = [(a, b) for a, b in pairs if not is_proxied(a) and a is not b]
    return len(call.args) == len(other.args) and all(is_close(a, b) for a, b in plain)
