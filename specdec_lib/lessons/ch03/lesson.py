"""Chapter 03, lossless: its examples and the visible checks on them."""

from collections.abc import Callable
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch02.lesson import P, Q
from specdec_lib.lessons.ch03 import rules
from specdec_lib.lessons.ch03.computed import counted, mixed_up
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, expect, record_agreement, visible_check
from specdec_lib.lessons.checking.kinds import ARRAYS, FLOATS, INTS
from specdec_lib.lessons.checking.lending import read_only
from specdec_lib.lessons.checking.pasting import format_call
from specdec_lib.lessons.data.distributions import total_variation
from specdec_lib.sampling import softmax

__all__ = ["P", "Q", "committed"]

# Two tokens, for everything that can be done in one's head.
COINS = read_only([0.5, 0.5]), read_only([0.6, 0.4])
APART = read_only([1.0, 0.0]), read_only([0.0, 1.0])
# Target and draft for the argmax draft: the coins, a report of the bug, and chapter 02's pair.
ARGMAX_PAIRS = (COINS, (read_only([0.6, 0.4]), read_only([0.8, 0.2])), (P, Q))
# What a rule gets wrong on tokens that the draft never proposes.
UNSEEN = read_only([0.25, 0.25, 0.3, 0.2]), read_only([0.5, 0.5, 0.0, 0.0])

# Logits of five tokens, whose softmax is about 0.12, 0.52, 0.01, 0.31, 0.05: in no order.
LOGITS = read_only([0.5, 2.0, -2.0, 1.5, -0.4])

# The true values that predictions.toml does not hold.
TRUTHS = truths_of(
    __package__,
    prediction_03=float(P[3] + (1 - P[3]) * P[3]),
    prediction_03_b=float(COINS[0][0] / COINS[1][0]),
)

CHOICES = SimpleNamespace(code="exact.Tape()")  # what a message shows of them
PLAIN = (*INTS, *FLOATS, *ARRAYS, list, tuple)  # what a token or a row of logits may be

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


@visible_check
def check_acceptance_rate(function: Callable) -> None:
    """The chapter's pair, two coins, equal and disjoint distributions."""
    shared, drafted = "Sum what both share, token by token.", "How often is each token drafted?"
    total = float(np.minimum(1, P / Q).sum())
    asks = [(total, drafted), (total / 4, drafted), (0.2, "No mean: sum.", (COINS, 0.45))]
    asks += [(0.2, "That is the share that they do not have in common.", (COINS, 0.1))]
    asks += [(float(P @ Q), "That is how often a draw from p and a draw from q agree.")]
    expect(function, P, Q, gives=0.8, hint=shared, asks=asks)
    expect(function, *COINS, gives=0.9, hint=shared)
    expect(function, Q, Q, gives=1.0, hint="Equal distributions share everything.")
    expect(function, *APART, gives=0.0, hint="They share nothing.")


@visible_check
def check_two_paths(function: Callable) -> None:
    """The chapter's pair, also the other way round, equal distributions, and a token of neither."""
    gives = np.array([0.30, 0.30, 0.15, 0.05]), np.array([0.15, 0.0, 0.0, 0.05])
    ratios, residual = np.array([1, 2 / 3, 0.75, 1]), np.array([0.75, 0, 0, 0.25])
    kept = "min(1, p/q) is how often a drafted A stays. How often is A drafted?"
    redrawn = "The residual is drawn from only after a rejection. How often is that?"
    asks = [
        ((gives[0], 0.2 * P), "After a rejection the rule draws from the residual, not from p."),
        (gives[::-1], "The mass by acceptance comes first."),
        ((ratios, gives[1]), kept),
        ((gives[0], residual), redrawn),
        ((ratios, residual), f"{kept} {redrawn}"),
        ((gives[0], np.abs(P - Q)), "A token of which q has more is never the correction."),
        ((gives[0], Q - gives[0]), "That is what q has beyond p: it is rejected, not corrected."),
        ((gives[0], P - Q), "Where q has more, nothing is corrected: no mass is below 0."),
    ]
    hint = "Token A: 0.30 by acceptance, 0.15 by correction."
    expect(function, P, Q, gives=gives, hint=hint, asks=asks)
    gives = np.array([0.30, 0.30, 0.15, 0.05]), np.array([0.0, 0.15, 0.05, 0.0])
    expect(function, Q, P, gives=gives, hint="The second mass is what p has beyond q.")
    hint = "Nothing is rejected, so nothing is corrected."
    expect(function, P, P, gives=(P, np.zeros(4)), hint=hint)
    rare = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.75, 0.0])
    gives = np.array([0.25, 0.5, 0.0]), np.array([0.25, 0.0, 0.0])
    expect(function, *rare, gives=gives, hint="Token 2 is 0 in p and in q.")


def expect_law(function: Callable, *args: object, gives: np.ndarray, **how: Any) -> None:
    """`expect` for distributions (..., V): of one that does not sum to 1 its sum is the hint."""
    try:
        expect(function, *args, gives=gives, **how)
    except Different as wrong:
        general = " returned " in wrong.seen and wrong.hint and wrong.hint == how.get("hint")
        sums = np.ravel(np.sum(function(*args), axis=-1)) if general else np.ones(1)
        off = [f"{total:.3g}" for total in sums if not abs(total - 1) < 1e-6]
        one = "It" if len(sums) == 1 else "A row"
        said = f"{one} sums to {off[0]}, and not to 1." if off else wrong.hint
        raise Different(wrong.seen, said) from None


@visible_check
def check_argmax_draft_law(function: Callable) -> None:
    """Two coins, drafts that are too modest, the chapter's pair, equal models, and a tie."""
    from_q = "This draft token is not drawn from q, so p does not come out."
    by_p = "After a rejection the library draws from the residual, not from p."
    asks = [
        ([0.5, 0.5], from_q, ((P, Q), P)),
        ([0.5, 0.5], "The draft token stays with p/q.", ((P, Q), [0.525, 0.3, 0.0, 0.175])),
        ([11 / 12, 1 / 12], by_p, ((P, Q), [0.15, 23 / 30, 0.05, 1 / 30])),
        ([11 / 12, 1 / 12], "|p - q| is no residual.", ((P, Q), [0.125, 19 / 24, 1 / 24, 1 / 24])),
        ([1.0, 0.0], "Is the ratio p over q, and not q over p?", ((P, Q), [0.0, 1.0, 0.0, 0.0])),
    ]
    hint = "Token 0 is drafted every time and stays with 5/6; the residual is [0, 1]."
    expect_law(function, *COINS, gives=np.array([5 / 6, 1 / 6]), hint=hint, asks=asks)
    modest = np.array([0.5, 0.4, 0.1]), np.array([0.4, 0.3, 0.3])
    hint = "p/q is above 1 on the drafted token, so it is always accepted."
    most = "p/q is 1.25 here, and a probability is at most 1."
    asks = [([1.25, 0.0, 0.0], most), ([1.125, -0.125, 0.0], most)]
    expect(function, *modest, gives=np.array([1.0, 0.0, 0.0]), hint=hint, asks=asks)
    gives = np.array([0.25, 2 / 3, 0.0, 1 / 12])
    hint = "Token B is drafted every time and stays with 2/3; after that only A and D are missing."
    asks = [([1.0, 0.0, 0.0, 0.0], "Is the draft token the argmax of q, and not of p?")]
    one_hot = "The residual uses all of q, as the library does, and not a one-hot q."
    asks += [([3 / 14, 2 / 3, 1 / 14, 1 / 21], one_hot)]
    expect_law(function, P, Q, gives=gives, hint=hint, asks=asks)
    gives = np.array([1.0, 0.0, 0.0, 0.0])
    expect(function, P, P, gives=gives, hint="The ratio is 1, and the residual is empty.")
    tie = np.array([0.2, 0.8]), np.array([0.5, 0.5])
    hint = "Two entries of q are the largest: the draft token is the first, and its ratio is 0.4."
    expect(function, *tie, gives=np.array([0.4, 0.6]), hint=hint)


@visible_check
def check_is_lossless(function: Callable) -> None:
    """Two lossless rules, mistakes large and tiny, and pairs on which a mistake does no harm."""
    for rule, pair, gives in (
        (rules.right_rule, (P, Q), True),
        (rules.from_target, (P, Q), False),
        (rules.sampler_match, COINS, True),
        (rules.always, (P, P), True),
        (rules.always, APART, False),
        (rules.even_residual, UNSEEN, False),
        (rules.coarse_coin, (P, Q), False),
        (rules.rarely_unjudged, (P, Q), False),
    ):
        met = list(exact.distribution(lambda choices, it=rule, of=pair: it(*of, choices)))
        off = total_variation(counted(rule, *pair), pair[0])
        hint = f"{documented(rule)} It is {off:.2g} from p; its dictionary has the keys {met}."
        try:
            expect(function, rule, *pair, gives=gives, hint=hint)
        except Different as wrong:
            raise Different(wrong.seen, hint if "KeyError" in wrong.seen else wrong.hint) from None


def documented(rule: rules.Rule) -> str:
    """The rule's name and its docstring, which is true of every verdict on it."""
    return f'{rule.__name__}: "{rule.__doc__}"'


@visible_check
def check_repair(function: Callable) -> None:
    """The chapter's draft, a tie, a peaked draft, and logits that are large."""
    for logits, p in (
        (np.array([1.0, 0.0]), COINS[0]),
        (np.array([0.0, 1.0, 1.0]), np.array([0.3, 0.2, 0.5])),
        (np.array([900.0, 880.0]), COINS[0]),
    ):
        expect_repaired(function, logits, p)
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
    if not abs(total - 1) < 1e-9:
        raise Different(f"{call} asked choices.choose for a draw whose chances sum to {total:.3g}.")
    written, drawn = np.zeros(len(p)), np.zeros(len(p))
    for (token, reported), weight in ways:
        written += weight * mixed_up(p, softmax(reported), np.eye(len(p))[token])
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
        if "above 0" not in str(error):  # of exact.Tape
            raise
        nan = "np.exp overflows above 709: use softmax(logits), which is given."
        hint = nan if "nan" in str(error) else ""
        raise Different(f"{call} asked choices.choose for a draw, but {error}.", hint) from None
    parts = got if isinstance(got, tuple | list) and len(got) == 2 else ("", "")
    token, row = (np.array(part if isinstance(part, PLAIN) else "") for part in parts)
    numbers = token.dtype.kind in "iuf" and row.dtype.kind in "iuf"
    shaped = token.ndim == 0 and row.shape == logits.shape
    if not (numbers and shaped and token in range(len(logits))):
        raise Different(
            f"{call} returned {describe(got)}, expected a tuple: the draft token, and the logits "
            f"that it reports, of shape {logits.shape}."
        )
    return int(token), row.astype(float)


@visible_check
def check_warp(function: Callable) -> None:
    """A temperature, each filter alone and both together, also in no order; large logits."""
    probs = np.array([0.5, 0.25, 0.125, 0.125])
    logits, roots = np.log(probs), np.sqrt(probs)
    gives = roots / roots.sum()
    expect_law(function, logits, 2.0, gives=gives, hint="The temperature divides the logits.")
    hint = "Tokens 2 and 3 both equal the third largest logit, so top_k = 3 keeps both."
    expect_law(function, logits, 1.0, 3, gives=probs, hint=hint)
    hint = "There are four tokens, and top_k = 9 keeps all of them."
    expect_law(function, logits, 1.0, 9, gives=probs, hint=hint)
    hint = "Token 1 is kept: the mass before it is 0.5, below 0.6."
    gives = np.array([2 / 3, 1 / 3, 0.0, 0.0])
    expect_law(function, logits, 1.0, None, 0.6, gives=gives, hint=hint)
    mixed = np.log([0.125, 0.5, 0.125, 0.25])
    asks = [(gives, "Put each probability back at its token's place.")]
    hint = "Token 3 is kept: the mass before it is 0.5, below 0.6."
    gives = gives[[2, 0, 2, 1]]
    expect_law(function, mixed, 1.0, None, 0.6, gives=gives, hint=hint, asks=asks)
    hint = "Before token 2 stands 0.5, which is not below 0.5."
    gives = np.array([0.5, 0.5, 0.0, 0.0])
    expect_law(function, np.zeros(4), 1.0, None, 0.5, gives=gives, hint=hint)
    hint = "Top-k leaves [2/3, 1/3]: before token 1 stands 2/3 then, which is not below 0.6."
    expect_law(function, logits, 1.0, 2, 0.6, gives=np.array([1.0, 0.0, 0.0, 0.0]), hint=hint)
    hint = "exp(1000) is infinite: subtract the largest logit first."
    expect_law(function, np.array([1000.0, 1000.0]), gives=np.array([0.5, 0.5]), hint=hint)
