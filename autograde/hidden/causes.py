"""The known bugs of a chapter, and which of them a student's function behaves like.

A known bug is a patch of the solution, with words for a student who has it. They stand in a table
beside the hidden tests (docs/author.md), and the gates hold that each of them loses points.

One rule names a cause, test group by test group: the known bug that gives what the student's
function gave in every failed case of the group, and in all other cases gives that too or is right.
So a second mistake hides no cause in the groups that it does not reach. If two misconceptions
explain a group, the one counts that explains all failed groups; else no cause is named, since a
wrong one is worse than none. A test that has recognised a bug by itself names it whatever the
values are (see `exercise.with_cause`).

A bug runs only on the arguments that the right answer got, so what a student hands in changes
neither what is run nor how long it takes. Each runs once in a process.
"""

import copy
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autograde.course import AuthorError, Chapter, same_value
from autograde.hidden.exercise import Case, Group
from autograde.hidden.material import Material, material_of, raise_if_out_of_memory, reply_of
from autograde.sandbox.remote import is_proxied
from autograde.sandbox.student import Call, traces_of

KEYS = {"think", "because", "patches"}  # of a row in the table
# What a call ended with if it says nothing of the function: it was stopped, or there is none.
ENDED = ("ProcessEnded", "CallTimedOut", "NotDefined", "NotImplementedError")
Place = tuple[int, int]  # of a call: the number of its case, and its own number in it


@dataclass(frozen=True)
class KnownBug:
    """A wrong answer to an exercise: the code of a whole cell, and its explanation.

    `think` is what somebody may believe, `because` why it is not so, both as sentences. The third
    part of the message, the numbers, comes from the case that failed. Bugs of one chapter with the
    same `think` are one misconception that shows in several exercises.
    """

    exercise: str
    think: str
    because: str
    code: str

    def explain(self, numbers: str) -> str:
        """The explanation in three parts; `numbers` come from the case that failed."""
        return f"You may have assumed that {self.think} But {self.because} For example: {numbers}"


@cache
def bugs_of(chapter: str) -> list[KnownBug]:
    """The known bugs of a chapter, in the order of its table; none without one.

    Raises AuthorError, with the file and the exercise, for what is no known bug.
    """
    file = Chapter(chapter).tests.with_suffix(".toml")
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise AuthorError(f"{file.name}: {error}") from None
    rows = [(exercise, row) for exercise, table in tables.items() for row in table]
    return [bug for exercise, row in rows for bug in _bugs_in(file, exercise, row)]


def _bugs_in(file: Path, exercise: str, row: dict) -> Iterator[KnownBug]:
    """The bugs of one row: a misconception, in one form or in several."""
    if row.keys() != KEYS:
        keys = f"{', '.join(sorted(row))}; it takes {', '.join(sorted(KEYS))}"
        raise AuthorError(f"{file.name}: a bug of {exercise} has {keys}")
    think, because = (" ".join(row[key].split()) for key in ("think", "because"))
    material = material_of(file.stem.removeprefix("test_"))
    for old, new in row["patches"]:
        yield KnownBug(exercise, think, because, patched(material, exercise, old, new))


def patched(material: Material, exercise: str, old: str, new: str) -> str:
    """The solution's answer to an exercise with the text `new` in place of `old`.

    Raises AuthorError unless the old text stands there exactly once.
    """
    answer = material.answers.get(exercise, "")
    if answer.count(old) != 1:
        raise AuthorError(
            f"{Chapter(material.chapter).tests.stem}.toml: a bug of {exercise} replaces {old!r}, "
            f"which stands {answer.count(old)} times in the solution; it must stand there once"
        )
    return answer.replace(old, new)


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

    def is_same(self, other: "Outcome") -> bool:
        """Whether both gave and did the same: 1.0 is not the same as 1, and True is not."""
        if (self.error, self.changed, self.traces) != (other.error, other.changed, other.traces):
            return False
        return self.error is not None or same_value(self.value, other.value)


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
        self.calls = dict(_own_calls(cases))
        self.bugs, self.functions = bugs, functions
        self._outcomes: dict[Place, list[Outcome]] = {}

    def outcomes(self, place: Place) -> list[Outcome]:
        """What each bug gives in a call."""
        if place not in self._outcomes:
            call = self.calls[place]
            self._outcomes[place] = [outcome_with(function, call) for function in self.functions]
        return self._outcomes[place]


def _own_calls(cases: list[Case]) -> Iterator[tuple[Place, Call]]:
    """The calls of the function that the cases are about, each with its place."""
    for i, case in enumerate(cases):
        own = (call for call in case.calls if call.function == case.exercise)
        yield from (((i, n), call) for n, call in enumerate(own))


@dataclass(frozen=True)
class Observation:
    """A call of a student's function: what it gave, what is right, and what each bug gives."""

    case: Case
    got: Outcome
    right: Outcome
    of_bugs: list[Outcome]

    def failed_in(self, group: Group) -> bool:
        """Whether it is a call of a failed case of the group."""
        return self.case.error is not None and self.case.group == group

    def is_consistent_with(self, bug: int, group: Group) -> bool:
        """Whether the bug of this number may be why the group failed."""
        outcome = self.of_bugs[bug]
        if outcome.is_same(self.got):
            return True
        return not self.failed_in(group) and outcome.is_same(self.right)


def causes_of(known: Known, cases: list[Case]) -> dict[Group, KnownBug]:
    """The causes of an exercise's failed groups, where one is beyond doubt."""
    observations = list(_observations(known, cases))
    failed = dict.fromkeys(case.group for case in cases if case.error is not None)
    fitting = {group: _misconceptions(known, observations, group) for group in failed}
    common = set.intersection(*fitting.values()) if fitting else set()
    causes = {group: fits & common or fits for group, fits in fitting.items()}
    bugs = {bug.think: bug for bug in reversed(known.bugs)}
    certain = {group: bugs[min(fits)] for group, fits in causes.items() if len(fits) == 1}
    return certain | {case.group: bugs[case.cause] for case in cases if case.cause in bugs}


def _misconceptions(known: Known, observations: list[Observation], group: Group) -> set[str]:
    """The misconceptions behind the known bugs that explain a failed group."""
    failed = [each for each in observations if each.failed_in(group)]
    if all(each.got.is_same(each.right) for each in failed):  # not for its values
        return set()
    return {
        bug.think
        for i, bug in enumerate(known.bugs)
        if all(each.is_consistent_with(i, group) for each in observations)
    }


def _observations(known: Known, cases: list[Case]) -> Iterator[Observation]:
    """All calls that say something, of a student and of the right answer alike."""
    for place, call in _own_calls(cases):
        if place in known.calls and _has_same_arguments(call, known.calls[place]):
            got, right = outcome_of(call), outcome_of(known.calls[place])
            if got is not None and right is not None:
                yield Observation(cases[place[0]], got, right, known.outcomes(place))


def _has_same_arguments(call: Call, other: Call) -> bool:
    """Whether two calls had the same plain arguments: a failed test may ask for more."""
    pairs = zip(call.args, other.args, strict=False)
    plain = [(a, b) for a, b in pairs if not is_proxied(a) and a is not b]
    return len(call.args) == len(other.args) and all(same_value(a, b) for a, b in plain)
