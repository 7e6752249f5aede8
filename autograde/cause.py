"""Which known wrong answer a student's function behaves like, told from all that it did.

What the student's function gave in every call is held against what the right answer gave there and
what each known wrong answer gives. One rule names a cause, group by group:

- in every call of its failed cases the wrong answer gives what the student's function gave;
- in all other calls of the exercise it gives that too, or it is right.

So a second mistake hides no cause in the groups that it does not reach, and a wrong answer that
agrees by chance in one group is refuted in another. If two explain a group, the one counts that
explains more of the failed ones; if they explain as many, no cause is said. A test that has
recognised a wrong answer by itself names it whatever the values are.

A wrong answer runs only on the arguments that the right answer got, so what a student hands in
changes neither what is run nor how long it takes. Each runs once in a process.
"""

import copy
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograde.bugs import KnownBug
from autograde.check import Group
from autograde.runner import Case
from autograde.sandbox.inside import wire
from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.student import Call, traces_of

# What a call ended with if it says nothing of the function: it was stopped, or there is none.
ENDED = ("ProcessEnded", "CallTimedOut", "NotDefined", "NotImplementedError")
Key = tuple[int, int]  # the number of a case, and that of a call in it


@dataclass(frozen=True)
class Outcome:
    """What one call of a function gave.

    `error` is an exception's name, `changed` the positions of the arguments that the function
    changed, and `traces` what lent objects noted of their use.
    """

    value: Any = None
    error: str | None = None
    changed: tuple[int, ...] = ()
    traces: tuple = ()

    def same(self, other: "Outcome") -> bool:
        """Whether both gave and did the same."""
        ours, theirs = ((each.error, each.changed, each.traces) for each in (self, other))
        return ours == theirs and (self.error is not None or _same_value(self.value, other.value))


def outcome_of(call: Call) -> Outcome | None:
    """What a recorded call gave; None if it says nothing of the function."""
    if call.reply is None:
        return None if call.error in ENDED else Outcome(error=call.error, traces=call.traces)
    return Outcome(call.reply.value, None, _plain_ones(call.reply.changed, call), call.traces)


def outcome_with(function: Callable, call: Call) -> Outcome:
    """What a wrong answer gives for the arguments of a recorded call."""
    copies = copy.deepcopy(call.args)
    args = tuple(a.thing if isinstance(a, RemoteObject) else a for a in copies)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*args)
        except Exception as error:
            return Outcome(error=type(error).__name__, traces=traces_of(copies))
    changed = wire.changed([wire.encode(arg) for arg in call.args], args)
    return Outcome(value, None, _plain_ones(changed, call), traces_of(copies))


def _plain_ones(changed: list[int], call: Call) -> tuple[int, ...]:
    """The changed arguments but for what was lent, which notes its own use."""
    return tuple(i for i in changed if not isinstance(call.args[i], RemoteObject))


class Known:
    """What the right answer to an exercise and its wrong ones do in every call of its cases.

    `cases` are those of the right answer, `functions` are the wrong ones.
    """

    def __init__(self, cases: list[Case], wrong: list[KnownBug], functions: list[Callable]) -> None:
        self.calls = {(i, n): c for i, case in enumerate(cases) for n, c in enumerate(_own(case))}
        self.right = {key: outcome_of(call) for key, call in self.calls.items()}
        self.wrong, self.functions = wrong, functions
        self._guesses: dict[tuple[int, Key], tuple[Outcome, bool]] = {}

    def guess(self, number: int, key: Key) -> tuple[Outcome, bool]:
        """What the wrong answer of that number gives in a call, and whether that is right."""
        if (number, key) not in self._guesses:
            outcome = outcome_with(self.functions[number], self.calls[key])
            self._guesses[number, key] = outcome, outcome.same(self.right[key])
        return self._guesses[number, key]


def _own(case: Case) -> list[Call]:
    """The calls of the function that a case is about."""
    return [call for call in case.calls if call.function == case.exercise]


@dataclass(frozen=True)
class Seen:
    """What a student's function gave in a call, its case, and which wrong answers give the same.

    `possible` are those and the ones that are right there.
    """

    case: Case
    is_right: bool
    same: frozenset[int]
    possible: frozenset[int]


def causes_of(known: Known, cases: list[Case]) -> dict[Group, KnownBug]:
    """The causes of an exercise's failed groups, where one is beyond doubt."""
    failed = dict.fromkeys(case.group for case in cases if case.error is not None)
    seen = list(_seen(known, cases))
    explaining = {each: _explaining(known, seen, each) for each in failed}
    most = Counter(wrong for each in explaining.values() for wrong in each)
    first = {wrong.think: wrong for wrong in reversed(known.wrong)}  # of each one's forms
    names = {each: _best(explaining[each], most) for each in failed}
    found = {each: first[min(those)] for each, those in names.items() if len(those) == 1}
    named = {case.group: first[case.cause] for case in cases if case.cause in first}
    return found | named


def _explaining(known: Known, seen: list[Seen], failed: Group) -> list[KnownBug]:
    """The known wrong answers that do all that was seen of a failed group."""
    mine = [each for each in seen if each.case.group is failed and each.case.error is not None]
    if all(each.is_right for each in mine):  # it failed for something else than its values
        return []
    those = frozenset.intersection(*(each.same for each in mine), *(each.possible for each in seen))
    return [known.wrong[number] for number in sorted(those)]


def _best(ways: list[KnownBug], explained: Counter) -> set[str]:
    """The names of those wrong answers that explain the most failed groups."""
    most = max((explained[wrong] for wrong in ways), default=0)
    return {wrong.think for wrong in ways if explained[wrong] == most}


def _seen(known: Known, cases: list[Case]) -> Iterator[Seen]:
    """All calls that say something, of a student and of the right answer alike."""
    for number, case in enumerate(cases):
        for n, call in enumerate(_own(case)):
            got, right = outcome_of(call), known.right.get((number, n))
            if got is None or right is None or not _same_question(call, known.calls[number, n]):
                continue
            guesses = [known.guess(each, (number, n)) for each in range(len(known.wrong))]
            same = frozenset(i for i, (guess, _) in enumerate(guesses) if guess.same(got))
            right_ones = frozenset(i for i, (_, is_right) in enumerate(guesses) if is_right)
            yield Seen(case, got.same(right), same, same | right_ones)


def _same_question(call: Call, other: Call) -> bool:
    """Whether two calls had the same plain arguments: a failed test may ask for more."""
    pairs = zip(call.args, other.args, strict=False)
    plain = [(a, b) for a, b in pairs if _is_plain(a) and a is not b]
    return len(call.args) == len(other.args) and all(_same_value(a, b) for a, b in plain)


def _is_plain(value: Any) -> bool:
    kinds = (bool, int, float, str, list, tuple, dict, np.ndarray, np.generic)
    return isinstance(value, kinds) or type(value).__name__ == "Tensor"


def _same_value(got: Any, value: Any) -> bool:
    """Whether two results are one: lists, tuples and arrays alike, numbers to their rounding."""
    got, value = _plain(got), _plain(value)
    if isinstance(got, np.ndarray) and isinstance(value, np.ndarray):
        return got.shape == value.shape and _same_numbers(got, value)
    if isinstance(got, dict) and isinstance(value, dict):
        return got.keys() == value.keys() and all(_same_value(got[k], value[k]) for k in value)
    if _is_row(got) and _is_row(value):
        return len(got) == len(value) and all(map(_same_value, got, value))
    return type(got) is type(value) and got == value


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) or isinstance(value, np.ndarray) and value.ndim > 0


def _plain(value: Any) -> Any:
    """Numbers, a row of numbers or a tensor as an array, so that they have a kind."""
    if isinstance(value, bool | int | float | np.generic):
        return np.asarray(value)
    if isinstance(value, list | tuple) and value and all(type(x) in (int, float) for x in value):
        return np.asarray(value)
    return _array(value) if type(value).__name__ == "Tensor" else value


def _array(tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    narrow = str(tensor.dtype) == "torch.bfloat16"  # NumPy has no such type
    return (tensor.float() if narrow else tensor).numpy()


def _same_numbers(got: np.ndarray, value: np.ndarray) -> bool:
    """Equal to rounding, and both truth values, whole numbers or floats.

    Two processes may add float32 up in another order.
    """
    if got.dtype.kind != value.dtype.kind:
        return False
    if got.dtype.kind != "f":
        return bool((got == value).all())
    wide = got.dtype == value.dtype == np.float64
    rounding = 32 * np.finfo(np.float64 if wide else np.float32).eps
    with np.errstate(all="ignore"):  # infinities are compared below
        near = np.abs(got - value) <= max(1e-9, rounding) + rounding * np.abs(value)
    return bool((near | (got == value) | np.isnan(got) & np.isnan(value)).all())
