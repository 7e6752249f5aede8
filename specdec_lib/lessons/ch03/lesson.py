"""Chapter 03, lossless: its examples and the visible checks on them."""

import re
from collections.abc import Callable
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch02.lesson import P, Q
from specdec_lib.lessons.ch03 import rules
from specdec_lib.lessons.ch03.computed import mismatch_law, rule_law
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import (
    DIVISION_QUESTION,
    Different,
    expect,
    record_agreement,
)
from specdec_lib.lessons.checking.kinds import ARRAYS, FLOATS, INTS
from specdec_lib.lessons.checking.lending import read_only
from specdec_lib.lessons.checking.pasting import format_call
from specdec_lib.lessons.checking.tables import check_of
from specdec_lib.lessons.data.distributions import total_variation
from specdec_lib.sampling import softmax

__all__ = ["P", "Q", "committed"]

# Two tokens, for everything that can be done in one's head.
TWO_COINS = read_only([0.5, 0.5]), read_only([0.6, 0.4])
APART = read_only([1.0, 0.0]), read_only([0.0, 1.0])
# What a rule gets wrong on tokens that the draft never proposes.
UNSEEN = read_only([0.25, 0.25, 0.3, 0.2]), read_only([0.5, 0.5, 0.0, 0.0])

# Logits of five tokens, whose softmax is about 0.12, 0.52, 0.01, 0.31, 0.05: in no order.
WARP_LOGITS = read_only([0.5, 2.0, -2.0, 1.5, -0.4])

TRUTHS = truths_of(
    __package__,
    prediction_03=float(P[3] + (1 - P[3]) * P[3]),
    prediction_03_b=float(TWO_COINS[0][0] / TWO_COINS[1][0]),
)

CHOICES = SimpleNamespace(code="exact.Tape()")  # what a message shows of them
_PLAIN = (*INTS, *FLOATS, *ARRAYS, list, tuple)  # what a token or a row of logits may be

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


def expect_law(function: Callable, *args: object, gives: np.ndarray, **options: Any) -> None:
    """`expect` for a distribution (V,): of one that does not sum to 1 its sum is the hint."""
    try:
        expect(function, *args, gives=gives, **options)
    except Different as wrong:
        if "in divide" in wrong.seen:  # 0/0: nothing was left
            raise Different(wrong.seen.removesuffix(DIVISION_QUESTION), options["hint"]) from None
        general = " returned " in wrong.seen and wrong.hint and wrong.hint == options.get("hint")
        total = float(np.sum(function(*args))) if general else 1.0
        hint = wrong.hint if abs(total - 1) < 1e-6 else f"It sums to {total:.3g}, and not to 1."
        raise Different(wrong.seen, hint) from None


def expect_verdict(
    judge: Callable, rule: rules.Rule, p: np.ndarray, q: np.ndarray, gives: bool
) -> None:
    """`expect` for a verdict: the hint is the rule's docstring, and what counting it gives."""
    keys = list(exact.distribution(lambda choices: rule(p, q, choices)))
    off = np.abs(rule_law(rule, p, q) - p).max()
    hint = f'{rule.__name__}: "{rule.__doc__}" Its probabilities differ from p by up to {off:.2g}; '
    hint += f"its dictionary has the keys {keys}."
    try:
        expect(judge, rule, p, q, gives=gives, hint=hint)
    except Different as wrong:
        raise Different(wrong.seen, hint if "KeyError" in wrong.seen else wrong.hint) from None


def expect_repair(repair: Callable, logits: np.ndarray, gives: np.ndarray) -> None:
    """`expect_repaired` for the target `gives` (V,), as a call of a visible check."""
    expect_repaired(repair, logits, gives)
    record_agreement(f"repair({describe(logits)}, choices)", "every branch counted, lossless")


def expect_repaired(
    repair: Callable,
    logits: np.ndarray,
    p: np.ndarray,
    lent: Callable = lambda tape: tape,
    kind: type[exact.Tape] = exact.Tape,
) -> None:
    """Raise Different unless the library's rule is lossless on what `repair` drafts and reports.

    Its draft must follow `logits` (V,): drawn from their softmax, or their argmax. `lent` makes a
    tape of this `kind` an argument.
    """
    call = format_call(repair, (logits, CHOICES))
    ways = exact.branches(lambda tape: _asked(repair, logits, lent(tape), call), kind)
    ways = list(islice(ways, 99))  # no repair needs as many
    total = sum(weight for _, weight in ways)
    if not abs(total - 1) < 1e-6:
        raise Different(f"{call} has more than {len(ways)} branches: it may draw for ever.")
    written, drawn = np.zeros(len(p)), np.zeros(len(p))
    for (token, reported), weight in ways:
        written += weight * mismatch_law(p, softmax(reported), np.eye(len(p))[token])
        drawn[token] += weight
    favourites = logits == logits.max()
    lossless = np.abs(written - p).max() < 1e-12
    follows = np.abs(drawn - softmax(logits)).max() < 1e-9 or drawn[favourites].sum() > 1 - 1e-9
    if lossless and follows:
        return
    (token, reported), _ = max(ways, key=lambda way: way[1])
    again = (_asked(repair, logits, lent(kind()), call)[0] for _ in range(300))
    if len(ways) == 1 and any(other != token for other in again):
        raise Different(
            f"{call} gives another token from call to call, and asks choices for nothing. Draw "
            "with choices.choose(probabilities), or the judge cannot follow it."
        )
    if not lossless:
        raise Different(
            f"{call}: with p = {describe(p)} the library then writes {describe(written)}, which is "
            f"{total_variation(written, p):.3g} from p. You draft token {token} with probability "
            f"{drawn[token]:.3g}, and the softmax of the logits that you report gives it "
            f"{softmax(reported)[token]:.3g}. That is condition 1."
        )
    raise Different(
        f"{call} drafts the tokens with {describe(drawn)}. Follow the draft model: draw from "
        f"softmax(logits), {describe(softmax(logits))}, or take the argmax."
    )


def _asked(
    repair: Callable, logits: np.ndarray, choices: object, call: str
) -> tuple[int, np.ndarray]:
    """What a repair gives on one branch. Raises Different unless it is a token and logits (V,)."""
    try:
        with np.errstate(divide="ignore"):  # np.log of a one-hot is a right answer
            got = repair(logits, choices)
    except Exception as error:
        if not re.search("no probabilities|for ever|runs differ", str(error)):  # of exact.Tape
            raise
        nan = "np.exp overflows above 709: use softmax(logits), which is given."
        hint = nan if "nan" in str(error) else ""
        raise Different(f"{call} asked choices.choose for a draw, but {error}.", hint) from None
    parts = got if isinstance(got, tuple | list) and len(got) == 2 else ("", "")
    token, row = (np.array(part if isinstance(part, _PLAIN) else "") for part in parts)
    numbers = token.dtype.kind in "iuf" and row.dtype.kind in "iuf"
    shaped = token.ndim == 0 and row.shape == logits.shape
    if not (numbers and shaped and token in range(len(logits))):
        raise Different(
            f"{call} returned {describe(got)}, expected a tuple: the draft token, and the logits "
            f"that it reports, of shape {logits.shape}."
        )
    if not np.isfinite(row.max()):
        message = f"{call} reports the logits {describe(row)}, whose softmax is nan."
        raise Different(message, "For a one-hot q report 0 on its token and -np.inf on the others.")
    return int(token), row.astype(float)


check_acceptance_rate = check_of(globals(), "acceptance_rate")
check_argmax_draft_law = check_of(globals(), "argmax_draft_law")
check_is_lossless = check_of(globals(), "is_lossless")
check_repair = check_of(globals(), "repair")
check_warp = check_of(globals(), "warp")
