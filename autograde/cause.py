"""Which known wrong answers a student's function behaves like, told from all that it did.

What the student's function gave in every call is held against what the right answer gave there and
what each known wrong answer gives. A cause is said only if nothing speaks against it:

- wherever the student's function was right, the wrong answer is right as well;
- wherever the student's function was wrong, it gave what the wrong answer gives;
- no other known wrong answer explains the same.

Two mistakes in one function are told apart the same way: every wrong call must be explained by one
of the two, and each must explain a call in which the other makes no difference. Tokens and counts
may agree by chance: if neither explains some calls, such a call must give a float, or there must be
three. If one known wrong answer explains most of the wrong calls and nothing else comes near, it is
said of those alone. A warning, a limit or a number of calls is no evidence: what was asked of a
lent model is, where the values are right.

A wrong answer runs only on the arguments that the right answer got, so what a student hands in
changes neither what is run nor how long it takes. Each runs once in a process.
"""

import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from autograde.runner import Case
from autograde.sandbox.inside import operations, wire
from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.student import Call, traces_of
from autograde.wrong import Misconception

# What a call ended with if it says nothing of the function: it was stopped, or there is none.
ENDED = ("ProcessEnded", "CallTimedOut", "NotDefined", "NotImplementedError")
# The number of a case, that of a call in it, and which part of what comes back, None for a whole.
Place = tuple[int, int, Any]
LEAST = 3  # places that a cause must explain if it does not explain all
# A part that is right beside wrong ones may be right by chance, once in so many explained places.
CHANCE = 3


@dataclass(frozen=True)
class Outcome:
    """What one call of a function gave.

    `error` is an exception's name, `changed` the positions of the arguments that the function
    changed, `traces` what lent objects noted of their use, and `work` its uses of torch and whether
    one of them waited, where they were counted.
    """

    value: Any = None
    error: str | None = None
    changed: tuple[int, ...] = ()
    traces: tuple = ()
    warned: bool = False
    work: tuple[int, bool] = (0, False)

    def part(self, name: Any) -> "Outcome":
        """The same for one part of the value; all of it if there is no such part.

        What should be a tuple has its parts in a list and in an array, too.
        """
        value = self.value
        row = isinstance(value, tuple | list) or isinstance(value, np.ndarray) and value.ndim
        has = name in value if isinstance(value, dict) else row and name in range(len(value))
        return replace(self, value=value[name]) if has else self

    def gives(self, other: "Outcome") -> bool:
        """Whether both gave the same value or error, and changed the same arguments."""
        if (self.error, self.changed) != (other.error, other.changed):
            return False
        return self.error is not None or _same_value(self.value, other.value)

    def works(self, other: "Outcome") -> bool:
        """Whether both used lent objects alike, and torch about as much."""
        (ours, waits), (theirs, others_wait) = self.work, other.work
        about = ours == theirs or ours and theirs and 1 / 2 < ours / theirs < 2
        return self.traces == other.traces and waits == others_wait and bool(about)


def outcome_of(call: Call) -> Outcome | None:
    """What a recorded call gave; None if it says nothing of the function."""
    if call.reply is None:
        return None if call.error in ENDED else Outcome(error=call.error, traces=call.traces)
    reply = call.reply
    work = reply.operators, bool(reply.waits)
    changed = tuple(i for i in reply.changed if not isinstance(call.args[i], RemoteObject))
    return Outcome(reply.value, None, changed, call.traces, bool(reply.warnings), work)


def outcome_with(wrong: Misconception, call: Call) -> Outcome:
    """What a wrong answer gives for the arguments of a recorded call."""
    copies = copy.deepcopy(call.args)
    args = tuple(a.thing if isinstance(a, RemoteObject) else a for a in copies)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, work = _run(wrong, args, call)
        except Exception as error:
            return Outcome(error=type(error).__name__, traces=traces_of(copies))
    before = [wire.encode(arg) for arg in call.args]
    changed = [i for i in wire.changed(before, args) if not isinstance(call.args[i], RemoteObject)]
    return Outcome(value, None, tuple(changed), traces_of(copies), bool(caught), work)


def _run(wrong: Misconception, args: tuple, call: Call) -> tuple[Any, tuple[int, bool]]:
    """What the wrong answer returns, and its work with torch if that was counted in the call."""
    if call.reply is None or not call.reply.operators:
        return wrong.function(*args), (0, False)
    value, done = operations.counted(wrong.function, list(args))
    return value, (done["operators"], bool(done["waits"]))


@dataclass(frozen=True)
class Guess:
    """What a wrong answer gives at one place, and whether it gives and does there what is right."""

    outcome: Outcome
    gives_right: bool
    works_right: bool


class Known:
    """What the right answer to an exercise and its wrong ones do in every call of its cases.

    `cases` are those of the right answer.
    """

    def __init__(self, cases: list[Case], wrong: list[Misconception]) -> None:
        calls = {(i, n): c for i, case in enumerate(cases) for n, c in enumerate(own_calls(case))}
        outcomes = {key: outcome_of(call) for key, call in calls.items()}
        self.calls, self.wrong = calls, wrong
        self.right = {key: _parts(each) for key, each in outcomes.items() if each is not None}
        self._whole: dict[tuple[int, int, int], Outcome] = {}
        self._guesses: dict[tuple[int, Place], Guess] = {}

    def guess(self, number: int, place: Place) -> Guess:
        """What the wrong answer of that number gives there."""
        if (number, place) not in self._guesses:
            *key, part = place
            right = self.right[*key][part]
            got = self._all(number, *key).part(part)
            self._guesses[number, place] = Guess(got, got.gives(right), got.works(right))
        return self._guesses[number, place]

    def _all(self, number: int, case: int, call: int) -> Outcome:
        if (number, case, call) not in self._whole:
            outcome = outcome_with(self.wrong[number], self.calls[case, call])
            self._whole[number, case, call] = outcome
        return self._whole[number, case, call]


def _parts(outcome: Outcome) -> dict[Any, Outcome]:
    """An outcome part by part; a whole value is the part None."""
    value = outcome.value
    names = (
        range(len(value)) if isinstance(value, tuple) else value if isinstance(value, dict) else ()
    )
    return {name: outcome.part(name) for name in names} or {None: outcome}


def own_calls(case: Case) -> list[Call]:
    """The calls of the function that a case is about."""
    return [call for call in case.calls if call.function == case.exercise]


@dataclass(frozen=True)
class Seen:
    """What a student's function gave at one place, and whether that was right and rightly done.

    `failed` is its case, and `sound` a call all of whose parts are right.
    """

    place: Place
    got: Outcome
    gives_right: bool
    works_right: bool
    failed: bool
    sound: bool

    @property
    def is_odd(self) -> bool:
        """Whether the place calls for a cause: its case failed, and not for a warning alone."""
        return self.failed and not (self.gives_right and self.works_right)


Causes = dict[int, list[Misconception]]  # by the number of a failed case


def causes_of(known: Known, cases: list[Case]) -> Causes:
    """The causes of an exercise's failed cases, where there are any."""
    evidence = Evidence(known, cases)
    sure = evidence.causes()
    found = {i: evidence.causes_of(i, sure) for i, case in enumerate(cases) if case.error}
    return {number: causes for number, causes in found.items() if causes}


class Evidence:
    """What all calls of one student's function say for and against each known wrong answer.

    `odd` are the places that need a cause. A candidate is a wrong answer that nothing refutes:
    `explained` has the odd places that it explains, `felt` those in which it makes a difference.
    At the places in `fine` the student's function gave floats, which hardly agree by chance.
    """

    def __init__(self, known: Known, cases: list[Case]) -> None:
        self.known, self.cases = known, cases
        self.seen = list(_seen(known, cases))
        self.odd = [each for each in self.seen if each.is_odd]
        self.fine = {each.place for each in self.odd if _has_floats(each.got.value)}
        self.explained: dict[int, set[Place]] = {}
        self.felt: dict[int, set[Place]] = {}
        for number in range(len(known.wrong) if self.odd else 0):
            if any(self._refutes(each, number) for each in self.seen if each.sound):
                continue
            fits = {each.place for each in self.odd if self._explains(each, number)}
            against = sum(self._refutes(each, number) for each in self.seen)
            if fits and CHANCE * against <= len(fits):
                self.explained[number] = fits
                self.felt[number] = fits | {e.place for e in self.odd if self._differs(e, number)}

    def _refutes(self, seen: Seen, number: int) -> bool:
        """Whether the student was right where the wrong answer is not."""
        if not seen.gives_right:
            return False
        guess = self.known.guess(number, seen.place)
        return not guess.gives_right or seen.works_right and not guess.works_right

    def _differs(self, seen: Seen, number: int) -> bool:
        return not self.known.guess(number, seen.place).gives_right

    def _explains(self, seen: Seen, number: int) -> bool:
        """Whether the wrong answer gives what the student's function gave, in the same way.

        How a value was come by counts only where the value alone says little: where it is right,
        one of two, or none at all.
        """
        theirs = self.known.guess(number, seen.place).outcome
        if not seen.got.gives(theirs) or theirs.warned and not seen.got.warned:
            return False
        telling = not (seen.gives_right or seen.got.error or isinstance(seen.got.value, bool))
        return telling or seen.got.works(theirs)

    def causes(self) -> list[int]:
        """The causes that are beyond doubt: the numbers of none, of one or of two."""
        all_odd = {each.place for each in self.odd}
        alone = [(n,) for n in self.explained if self.explained[n] == all_odd]
        alone = [each for each in alone if self._warns_alike(*each)] or alone
        pairs = [each for each in combinations(self.explained, 2) if self._both(each, all_odd)]
        exact = [each for each in pairs if self._exactly(each, all_odd)]
        whole = alone or exact or pairs
        return self._common(whole or [(n,) for n in self.explained if self._stands_out(n)])

    def _exactly(self, pair: tuple[int, int], all_odd: set[Place]) -> bool:
        """Whether two wrong answers explain all but the places in which they meet."""
        felt, explained = ([each[n] for n in pair] for each in (self.felt, self.explained))
        return felt[0] & felt[1] | explained[0] | explained[1] == all_odd

    def _warns_alike(self, number: int) -> bool:
        """Whether the wrong answer gives a warning wherever the student's function did."""
        outcomes = ((self.known.guess(number, each.place).outcome, each.got) for each in self.odd)
        return all(theirs.warned == got.warned for theirs, got in outcomes)

    def _stands_out(self, number: int) -> bool:
        """Whether a wrong answer explains most odd places, and all that any other explains.

        In the rest it makes a difference too, or the function raised an exception there.
        """
        mine, felt = self.explained[number], self.felt[number]
        most = len(mine) >= LEAST and 2 * len(mine) > len(self.odd)
        rest = all(each.place in felt or each.got.error for each in self.odd)
        return most and rest and all(mine >= other for other in self.explained.values())

    def _both(self, pair: tuple[int, int], all_odd: set[Place]) -> bool:
        """Whether two wrong answers together make a difference in every odd place.

        Together they explain most, and each explains a place in which the other makes none. Where
        they meet, what comes out may be like neither.
        """
        one, other = pair
        felt, explained = self.felt, self.explained
        together = explained[one] | explained[other]
        alone = explained[one] - felt[other], explained[other] - felt[one]
        told = all(places if together == all_odd else self._tell(places) for places in alone)
        most = 2 * len(together) > len(all_odd)
        return told and most and felt[one] | felt[other] == all_odd

    def _tell(self, places: set[Place]) -> bool:
        """Whether it is no chance that a wrong answer gives the same at these places."""
        return len(places) >= LEAST or bool(places & self.fine)

    def _common(self, explanations: list[tuple[int, ...]]) -> list[int]:
        """What all explanations agree on. The forms of a wrong answer are one."""
        names = [{self.known.wrong[n].name for n in each} for each in explanations]
        sure = set.intersection(*names) if names else set()
        return [n for n in next(iter(explanations), ()) if self.known.wrong[n].name in sure]

    def causes_of(self, case: int, causes: list[int]) -> list[Misconception]:
        """Those of `causes` that explain a call of a case, or the one that it names itself."""
        wrong, named = self.known.wrong, self.cases[case].cause
        if named:
            return [each for each in wrong if each.name == named][:1]
        odd = [each for each in self.odd if each.place[0] == case]
        return [wrong[n] for n in causes if any(self._explains(each, n) for each in odd)]


def _seen(known: Known, cases: list[Case]) -> Iterator[Seen]:
    """All calls that say something, of a student and of the right answer alike."""
    for number, case in enumerate(cases):
        for n, call in enumerate(own_calls(case)):
            outcome, failed = outcome_of(call), case.error is not None
            parts = known.right.get((number, n), {})
            if outcome is None or parts and not _same_question(call, known.calls[number, n]):
                continue
            gives = {part: outcome.part(part).gives(right) for part, right in parts.items()}
            for part, right in parts.items():
                works, sound = outcome.works(right), all(gives.values())
                place, got = (number, n, part), outcome.part(part)
                yield Seen(place, got, gives[part], works, failed, sound)


def _same_question(call: Call, other: Call) -> bool:
    """Whether two calls had the same plain arguments: a failed test may ask for more."""
    pairs = zip(call.args, other.args, strict=False)
    plain = [(a, b) for a, b in pairs if _is_plain(a) and a is not b]
    return len(call.args) == len(other.args) and all(_same_value(a, b) for a, b in plain)


def _is_plain(value: Any) -> bool:
    kinds = (bool, int, float, str, list, tuple, dict, np.ndarray, np.generic)
    return isinstance(value, kinds) or type(value).__name__ == "Tensor"


def _same_value(got: Any, value: Any) -> bool:
    """Whether two results are one: plain data of the same kinds, numbers to their rounding."""
    got, value = _plain(got), _plain(value)
    if isinstance(value, np.ndarray) and isinstance(got, list | tuple):
        got = list(got)
        return value.ndim > 0 and _same_value(got, list(value))
    if isinstance(got, np.ndarray) and isinstance(value, np.ndarray):
        return got.shape == value.shape and _same_numbers(got, value)
    if type(got) is not type(value):
        return False
    if isinstance(value, dict):
        return got.keys() == value.keys() and all(_same_value(got[k], value[k]) for k in value)
    if isinstance(value, list | tuple):
        if all(type(each) in (int, float) for each in (*got, *value)) and got == value:
            return True  # long lists of numbers are mostly equal
        return len(got) == len(value) and all(map(_same_value, got, value))
    return got == value


def _has_floats(value: Any) -> bool:
    """Whether floats are among the numbers of a value."""
    value = _plain(value)
    if isinstance(value, dict | list | tuple):
        return any(map(_has_floats, value.values() if isinstance(value, dict) else value))
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _plain(value: Any) -> Any:
    """A number or a tensor as an array, so that it has a kind and a precision."""
    if isinstance(value, bool | int | float | np.generic):
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
