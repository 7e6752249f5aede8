"""Hidden tests of chapter 03: test groups and known bugs; see autograde/hidden/exercise.py.

Several of the bugs are in published code and explanations. A tape stays in the process that made
it, so rules are judged where the student's code runs: the notebook's `verdict_on` takes a name.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autograde.hidden.exercise import untouched
from autograde.hidden_tests.common import Exercise, prediction, quiz
from autograde.hidden_tests.distributions import pair, thousandths
from autograde.sandbox.remote import RemoteObject
from specdec_lib import exact
from specdec_lib.lessons.ch03 import rules
from specdec_lib.lessons.ch03.lesson import CHOICES, UNSEEN, expect_repaired

# Each has more of two tokens, and the draft's favourite is one of its own.
P, Q = np.array([0.45, 0.30, 0.15, 0.10]), np.array([0.30, 0.45, 0.20, 0.05])
ONE = np.array([0.0, 1.0, 0.0])

test_prediction_03 = prediction("prediction_03", 0, 1)
test_prediction_03_b = prediction("prediction_03_b", 0, 1)
test_quiz_03 = quiz("quiz_03")
test_quiz_03_b = quiz("quiz_03_b")


def usual(rng):
    """Pairs without a zero; each has more of two tokens in the first two."""
    yield P, Q
    yield Q, P
    for size in (2, 3, 5, 9):
        yield pair(size, rng)


def ends(rng):
    """Equal ones, nothing shared, and tokens with p alone 0, q alone 0 and both 0."""
    p = thousandths(4, rng)
    yield p, p.copy()
    yield ONE, ONE.copy()
    yield np.array([0.25, 0.75, 0.0]), np.array([0.0, 0.0, 1.0])
    yield np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.0, 0.25, 0.0, 0.75])


acceptance_rate = Exercise("acceptance_rate")


@acceptance_rate.group("what both share", cases=usual)
def test_acceptance_rate_usual(student, solution, args):
    hint = "Token x is drafted with q(x) and then accepted with min(1, p/q)."
    acceptance_rate.assert_same(student, solution, args, hint)


@acceptance_rate.group("the ends and the zeros, as a number and without a warning", cases=ends)
def test_acceptance_rate_ends(student, solution, args):
    hint = "Equal models accept all. A token with q = 0 is never drafted, one with p = 0 not kept."
    acceptance_rate.assert_same(student, solution, args, hint, form=True)


argmax_draft_law = Exercise("argmax_draft_law")


def overstated(rng):
    yield P, Q
    for size in (2, 3, 3, 5, 8):
        yield tuple(sorted(pair(size, rng), key=max))  # so p is below q on the draft's favourite


@argmax_draft_law.group("one token is always drafted, the residual does the rest", cases=overstated)
def test_argmax_draft_law_overstated(student, solution, args):
    hint = "The draft token is argmax q every time; ratio and residual use all of q."
    argmax_draft_law.assert_same(student, solution, args, hint)


def understated(rng):
    for size in (2, 3, 5, 8):
        q, p = sorted(pair(size, rng), key=max)
        yield np.roll(p, np.argmax(q) - np.argmax(p)), q  # they have one favourite
    p = thousandths(4, rng)
    yield p, p.copy()
    yield ONE, ONE.copy()


@argmax_draft_law.group("always accepted where the ratio is 1 or more", cases=understated)
def test_argmax_draft_law_understated(student, solution, args):
    hint = "The acceptance probability is at most 1, and then nothing is left for the residual."
    argmax_draft_law.assert_same(student, solution, args, hint)


def favourites_edges(rng):
    for p, q in (
        ([0.2, 0.3, 0.5], [0.4, 0.4, 0.2]),  # two favourites
        ([0.5, 0.2, 0.3], [0.25, 0.375, 0.375]),  # two favourites further on
        ([0.0, 0.5, 0.5], [0.5, 0.25, 0.25]),  # p = 0 on the favourite
        ([0.0, 1.0, 0.0], [0.75, 0.0, 0.25]),  # q = 0 where p is 1
    ):
        yield np.array(p), np.array(q)


@argmax_draft_law.group("ties, zeros, a new array", cases=favourites_edges)
def test_argmax_draft_law_favourites_edges(student, solution, args):
    hint = "The argmax of q is drafted, of equal ones the lowest index; p and q may have zeros."
    argmax_draft_law.assert_same(student, solution, args, hint, form=True)


warp = Exercise("warp")

LOGITS = np.array([1.5, -0.5, 2.0, 0.25, 1.0, -2.0])
SPREAD = np.array([-3.0, -0.92, -2.3, -1.39, -1.61])  # in no order; about 0.4 for the largest


def different(rng: np.random.Generator) -> np.ndarray:
    """Six logits without a tie, in quarters."""
    return rng.choice(np.arange(-8, 9) / 4, 6, replace=False)


def temperatures(rng):
    for temperature in (1.0, 0.5, 3.0, 0.01):
        yield different(rng), temperature
    yield different(rng) + 900
    yield different(rng) - 900


@warp.group("without a filter", cases=temperatures)
def test_warp_temperatures(student, solution, args):
    hint = "It is the softmax of `scaled`; np.exp overflows above 709."
    warp.assert_same(student, solution, args, hint)


def top_k(rng):
    for k in (1, 2, 3, 5, 6, 9, 0, None):
        yield different(rng), 1.0, k
    for k in (1, 2, 3):
        yield np.array([0.5, 1.0, 0.5, 0.5, 0.0]), 1.0, k  # three equal ones in second place


@warp.group("top-k", cases=top_k)
def test_warp_top_k(student, solution, args):
    hint = "The k largest logits stay, and all that equal the k-th. None, 0, above V: all."
    warp.assert_same(student, solution, args, hint)


def top_p(rng):
    for share in (0.3, 0.55, 0.8, 0.9, 0.97, 0.01, 0.0, 1.0, 1.5, None):
        yield SPREAD, 1.0, None, share
        yield different(rng), 1.0, None, share
    for size, share in ((4, 0.3), (4, 0.2), (4, 0.6), (4, 0.5), (4, 0.25), (4, 0.75), (2, 0.5)):
        yield np.full(size, 0.5), 1.0, None, share


@warp.group("top-p", cases=top_p)
def test_warp_top_p(student, solution, args):
    hint = (
        "A token stays if the mass before it is below top_p, from the most probable down, of "
        "equal ones the lowest index first."
    )
    warp.assert_same(student, solution, args, hint)


def orders(rng):
    for temperature, k, share in (  # in another order, other tokens stay
        *((2.0, 4, 0.7), (0.5, 3, 0.9), (4.0, None, 0.5)),
        *((0.25, 3, 0.8), (1.0, 2, 0.6), (3.0, 3, 0.75)),
    ):
        yield rng.permutation(LOGITS), temperature, k, share


@warp.group("the order of the steps; an array", cases=orders)
def test_warp_orders(student, solution, args):
    hint = "Temperature first, then top-k, then top-p on what top-k has left, renormalised."
    warp.assert_same(student, solution, args, hint, form=True)


class ByName(Exercise):
    """An exercise on a rule, which the notebook's `verdict_on` gets by its name."""

    def compare(
        self, function: Callable, args: tuple, expected: Any, hint: str, form: bool
    ) -> None:
        """As for every exercise; a message and the search for a cause see the call of the judge."""
        student = function.student

        @functools.wraps(function)
        def judge(rule, p, q):
            try:
                return student.verdict_on(rule.__name__, p, q)
            finally:
                if student.calls and student.calls[-1].function == "verdict_on":
                    student.calls[-1] = replace(student.calls[-1], function=self.name, args=args)

        super().compare(judge, args, expected, hint, form)


is_lossless = ByName("is_lossless")

FEW = np.array([0.25, 0.75]), np.array([0.75, 0.25])
NOTHING_SHARED = np.array([0.0, 0.25, 0.75]), np.array([1.0, 0.0, 0.0])


def docstring_of(rule: rules.Rule) -> str:
    """The rule's name and its docstring, which is true of every verdict on it."""
    return f'{rule.__name__}: "{rule.__doc__}"'


def verdicts(rule: Callable, *pairs: tuple | None) -> Callable:
    """Cases on a rule: the pairs (p, q) of it; None stands for random ones."""

    def cases(rng):
        for each in pairs:
            p, q = each or pair(int(rng.integers(3, 6)), rng)
            yield rule, p, q

    return cases


@is_lossless.group(
    "every mistake is seen, and no lossless rule is taken for one",
    cases=(
        *(verdicts(rule, (P, Q), None) for rule in (*rules.LOSSLESS, rules.from_target)),
        *(verdicts(rule, (P, Q)) for rule in rules.MISTAKES if rule is not rules.rarely_unjudged),
    ),
)
def test_is_lossless_every_mistake(student, solution, args):
    is_lossless.assert_same(student, solution, args, hint=docstring_of(args[0]))


@is_lossless.group(
    "a mistake counts only where it changes the distribution",
    cases=(
        verdicts(rules.from_target, (P, P), FEW),
        verdicts(rules.always, (Q, Q), (Q, P)),
        verdicts(rules.no_coin, NOTHING_SHARED, FEW),
        verdicts(rules.right_rule, NOTHING_SHARED),
        verdicts(rules.argmax_draft, (P, ONE[[1, 0, 2, 2]]), (Q, P)),
    ),
)
def test_is_lossless_this_pair(student, solution, args):
    is_lossless.assert_same(student, solution, args, hint=docstring_of(args[0]))


@is_lossless.group(
    "tokens that the draft never proposes",
    cases=(
        verdicts(rules.even_residual, UNSEEN, FEW),
        verdicts(rules.right_rule, UNSEEN),
        verdicts(rules.sampler_match, UNSEEN, NOTHING_SHARED),
        verdicts(rules.from_target, UNSEEN),
    ),
)
def test_is_lossless_unproposed(student, solution, args):
    is_lossless.assert_same(student, solution, args, hint=docstring_of(args[0]))


@is_lossless.group(
    "counted to 1e-12, and rounding is no mistake; True or False",
    cases=(
        verdicts(rules.coarse_coin, (P, Q), (Q, P)),
        verdicts(rules.rarely_unjudged, (P, Q), None),
        verdicts(rules.right_rule, None, None, None, None),
    ),
)
def test_is_lossless_exact(student, solution, args):
    is_lossless.assert_same(student, solution, args, hint=docstring_of(args[0]), form=True)


repair = Exercise("repair")


class Noted(exact.Tape):
    """A tape that notes what it is asked for, which tells wrong answers apart."""

    code = CHOICES.code
    trace: tuple = ()

    def choose(self, probabilities):
        """As every tape; of many probabilities and many questions the first are noted."""
        numbers = np.asarray(probabilities, dtype=float).ravel()
        self.trace = (*self.trace[:9], tuple(np.round(numbers[:12], 6).tolist()))
        return super().choose(numbers.tolist())


def require_repaired(student, *cases: tuple[np.ndarray, np.ndarray]) -> None:
    """Raise Different unless the library is lossless on the student's draft: (logits, p) each."""
    for logits, p in cases:
        expect_repaired(student.repair, logits, p, lambda t: RemoteObject(t, "choose()"), Noted)


def drafts(rng: np.random.Generator, *sizes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Logits of few digits without a tie, and a target, for each size."""
    steps = np.arange(-16, 17) / 8
    return [(rng.choice(steps, size, replace=False), thousandths(size, rng)) for size in sizes]


@repair.group("the library is lossless on what is drafted and reported", weight=2)
def test_repair_lossless_drafts(student, rng):
    require_repaired(student, *drafts(rng, 2, 3, 4, 5))


@repair.group("with ties, and with peaked drafts", weight=2)
def test_repair_odd_drafts(student, rng):
    even, peaked = np.zeros(3), np.array([12.0, -12.0, 0.0])
    two = np.array([-1.0, 0.5, 0.5, -2.0])
    for logits in (even, two, peaked, 900 + peaked, -900 + even):
        require_repaired(student, (logits, thousandths(len(logits), rng)))


@repair.group("a token and logits (V,), the logits as they were")
def test_repair_drafted_form(student, rng):
    require_repaired(student, *drafts(rng, 3, 6))
    untouched(student)
