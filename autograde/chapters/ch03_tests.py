"""Hidden tests of chapter 03: test groups and known bugs; see autograde/check.py.

Several of the bugs are in published code and explanations. The card of is_lossless promises 64
squares along a side, on whose lines the rules below decide.
"""

import numpy as np

from autograde.chapters.common import Exercise, prediction, quiz
from autograde.chapters.distributions import pair, thousandths
from autograde.check import RemoteObject, untouched
from specdec_lib.lessons.ch03 import rules
from specdec_lib.lessons.ch03.forgery import LARGE, LEAST, examined, fault_of, short_of
from specdec_lib.lessons.ch03.rules import IMPOSTORS, Rule, right_rule
from specdec_lib.lessons.common.comparing import in_form_of
from specdec_lib.lessons.common.describing import describe
from specdec_lib.lessons.common.examples import Different, expect

# Each has more of two tokens, and the draft's favourite is one of its own.
P, Q = np.array([0.45, 0.30, 0.15, 0.10]), np.array([0.30, 0.45, 0.20, 0.05])
ONE = np.array([0.0, 1.0, 0.0])

prediction_03 = prediction("prediction_03", 0, 1_000_000)
prediction_03_b = prediction("prediction_03_b", 0, 1)
quiz_03 = quiz("quiz_03")
quiz_03_b = quiz("quiz_03_b")


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


total_variation = Exercise("total_variation")

BEST = "The best question asks for every token that p has more of."
total_variation.group("half of all differences", hint=BEST)(usual)
total_variation.group("from 0, where equal, to 1; a number", hint=BEST, form=True)(ends)

total_variation.bug(
    " / 2",
    "",
    think="the distance is the sum of all differences.",
    because="what one has more the other has less, so the sum counts every mass twice.",
)
total_variation.bug(
    "np.abs(p - q).sum()",
    "(p - q).sum()",
    think="the differences add up with their signs.",
    because="both sum to 1, so the signed differences always cancel to 0.",
)
for _new in ("np.abs(p - q).max()", "(p - q).max()"):
    total_variation.bug(
        "np.abs(p - q).sum() / 2",
        _new,
        think="the largest difference of one token is the distance.",
        because="a question about several tokens can differ by more than a question about one.",
    )
total_variation.bug(
    "np.abs(p - q).sum() / 2",
    "np.minimum(p, q).sum()",
    think="the shared mass measures the distance.",
    because="that is 1 where the two are equal; the distance is what is not shared.",
)


acceptance_rate = Exercise("acceptance_rate")


acceptance_rate.group(
    "what both share", hint="Token x is drafted with q(x) and then accepted with min(1, p/q)."
)(usual)
acceptance_rate.group(
    "the ends and the zeros, as a number and without a warning",
    form=True,
    hint="Equal models accept all. A token with q = 0 is never drafted, one with p = 0 not kept.",
)(ends)

NO_RESIDUAL = {
    "think": "there is always a residual to divide by.",
    "because": "with p equal to q nothing is missing, and 0/0 fills the result with NaN.",
}
SAFE = "dividing by q is safe, since q is what was drawn from."
RATIO = "np.minimum(1, np.divide(p, q, out=np.ones(len(p)), where=q > 0))"

acceptance_rate.bug(
    "np.minimum(p, q).sum()",
    "np.abs(p - q).sum() / 2",
    think="the total variation is the accepted share.",
    because="it is the rejected one; the two add up to 1.",
)
acceptance_rate.bug(
    "np.minimum(p, q).sum()",
    f"{RATIO}.mean()",
    think="the mean of min(1, p/q) over the vocabulary is the rate.",
    because="tokens are not drafted equally often; token x counts with q(x).",
)
acceptance_rate.bug(
    "np.minimum(p, q).sum()",
    "(p * q).sum()",
    think="a token is accepted when two draws, one from p and one from q, agree.",
    because="that rule, exact as well, accepts the sum of p q only; this one needs no agreement.",
)
acceptance_rate.bug(
    "np.minimum(p, q)",
    "(q * np.minimum(1, p / q))",
    think=SAFE,
    because="q is 0 on tokens that are never drawn, and the sum visits them too: 0/0 is NaN.",
)


two_paths = Exercise("two_paths")


def expect_mass(student, solution, number: int, rng: np.random.Generator, hint: str) -> None:
    """Raise Different unless the array 0, accepted, or 1, corrected, is the solution's."""

    def mass(p, q):
        came = student.two_paths(p, q)
        rows = in_form_of((p, q), came)
        if not isinstance(rows, tuple) or [getattr(r, "shape", 0) for r in rows] != [p.shape] * 2:
            raise Different(f"two_paths returned {describe(came)}, expected two arrays like p.")
        return rows[number]

    mass.__name__ = ("the accepted mass of two_paths", "the corrected mass of two_paths")[number]
    for p, q in usual(rng):
        expect(mass, p, q, gives=solution.two_paths(p, q)[number], hint=hint, form=False)


@two_paths.check("the accepted mass, first")
def accepted_mass(student, solution, rng):
    hint = "A token is drafted with q and then accepted with min(1, p/q)."
    expect_mass(student, solution, 0, rng, hint)


@two_paths.check("the corrected mass, second")
def corrected_mass(student, solution, rng):
    hint = "It is the rejected share times the residual: what p has beyond q."
    expect_mass(student, solution, 1, rng, hint)


two_paths.group(
    "the ends, without a warning, as a tuple of new arrays",
    form=True,
    hint="With p equal to q everything is accepted; with nothing shared, nothing is.",
)(ends)

two_paths.bug(
    "np.minimum(p, q), np.maximum(p - q, 0)",
    "np.maximum(p - q, 0), np.minimum(p, q)",
    think="the corrected mass comes first.",
    because="the first array is the mass by acceptance, the second by correction.",
)
two_paths.bug(
    "np.maximum(p - q, 0)",
    "np.maximum(p - q, 0) / (np.maximum(p - q, 0).sum() or 1)",
    think="the corrected mass is the residual distribution.",
    because="the residual is drawn from only after a rejection; its mass is 1 - beta times that.",
)
two_paths.bug(
    "np.maximum(p - q, 0)",
    "(1 - np.minimum(p, q).sum()) * (np.maximum(p - q, 0) / np.maximum(p - q, 0).sum())",
    **NO_RESIDUAL,
)
two_paths.bug(
    "np.minimum(p, q)",
    RATIO,
    think="the accepted mass is min(1, p/q).",
    because="that is the probability for a token that was drafted; it is drafted with q only.",
)
for _new in ("p - q * np.minimum(1, p / q)", "np.maximum(p - q, 0)"):
    two_paths.bug(
        "np.minimum(p, q), np.maximum(p - q, 0)",
        f"q * np.minimum(1, p / q), {_new}",
        think=SAFE,
        because="both arrays have every token, those with q = 0 too, and 0/0 is NaN.",
    )

argmax_draft_law = Exercise("argmax_draft_law")


@argmax_draft_law.group(
    "one token is always drafted, the residual does the rest",
    hint="The draft token is argmax q every time; ratio and residual use all of q.",
)
def overstated(rng):
    yield P, Q
    for size in (2, 3, 3, 5, 8):
        yield tuple(sorted(pair(size, rng), key=max))  # so p is below q on the draft's favourite


@argmax_draft_law.group(
    "always accepted where the ratio is 1 or more",
    hint="The acceptance probability is at most 1, and then nothing is left for the residual.",
)
def understated(rng):
    for size in (2, 3, 5, 8):
        q, p = sorted(pair(size, rng), key=max)
        yield np.roll(p, np.argmax(q) - np.argmax(p)), q  # they have one favourite
    p = thousandths(4, rng)
    yield p, p.copy()
    yield ONE, ONE.copy()


@argmax_draft_law.group(
    "ties, zeros, a new array",
    form=True,
    hint="The argmax of q is drafted, of equal ones the lowest index; p and q may have zeros.",
)
def favourites_edges(rng):
    for p, q in (
        ([0.2, 0.3, 0.5], [0.4, 0.4, 0.2]),  # two favourites
        ([0.5, 0.2, 0.3], [0.25, 0.375, 0.375]),  # two favourites further on
        ([0.0, 0.5, 0.5], [0.5, 0.25, 0.25]),  # p = 0 on the favourite
        ([0.0, 1.0, 0.0], [0.75, 0.0, 0.25]),  # q = 0 where p is 1
    ):
        yield np.array(p), np.array(q)


argmax_draft_law.bug(
    "token = int(np.argmax(q))",
    "return p.copy()",
    think="the target has the last word, so its distribution comes out.",
    because="the rule repairs a token drawn from q; this one was not drawn from q.",
)
argmax_draft_law.bug(
    "np.maximum(p - q, 0)",
    "p",
    think="after a rejection the target is drawn from.",
    because="this library corrects with the residual of the full q, which is not p.",
)
argmax_draft_law.bug(
    "(1 - accepted) * missing / missing.sum()",
    "missing",
    think="the correction brings max(0, p - q), as in the two paths.",
    because="there the rejected share cancels the divisor; here the share is another one.",
)
argmax_draft_law.bug(
    "min(1.0, p[token] / q[token])\n    law = np.zeros(len(p))\n    if accepted < 1:",
    "p[token] / q[token]\n    if True:",
    think="the accepted share is p/q.",
    because="above 1 it is no probability; the coin accepts for certain then, and no more.",
)
argmax_draft_law.bug("if accepted < 1:", "if True:", **NO_RESIDUAL)


warp = Exercise("warp")

LOGITS = np.array([1.5, -0.5, 2.0, 0.25, 1.0, -2.0])
SPREAD = np.array([-3.0, -0.92, -2.3, -1.39, -1.61])  # in no order; about 0.4 for the largest


def different(rng: np.random.Generator) -> np.ndarray:
    """Six logits without a tie, in quarters."""
    return rng.choice(np.arange(-8, 9) / 4, 6, replace=False)


@warp.group("the temperature", hint="The temperature divides the logits; exp overflows above 709.")
def temperatures(rng):
    for temperature in (1.0, 0.5, 3.0, 0.01):
        yield different(rng), temperature
    yield different(rng) + 900
    yield different(rng) - 900


@warp.group("temperature 0, and below", hint="All is on the largest logit, of several the first.")
def temperature_0(rng):
    for logits in (different(rng), np.array([0.0, 3.0, 3.0]), np.array([-1.0, -2.0])):
        yield logits, 0.0
        yield logits, 0, 2, 0.9


@warp.group("temperature 0, and below", hint="a temperature below 0 has no meaning")
def below_0(rng):
    yield different(rng), -0.5


@warp.group("top-k", hint="The k largest logits stay, and all that equal the k-th. None, 0: all.")
def top_k(rng):
    for k in (1, 2, 3, 5, 6, 0, None):
        yield different(rng), 1.0, k
    for k in (1, 2, 3):
        yield np.array([0.5, 1.0, 0.5, 0.5, 0.0]), 1.0, k  # three equal ones in second place


@warp.group(
    "top-p",
    hint="A token stays if the mass before it is below top_p, from the most probable down, of "
    "equal ones the lowest index first.",
)
def top_p(rng):
    for share in (0.3, 0.55, 0.8, 0.9, 0.97, 0.01, 0.0, 1.0, 1.5, None):
        yield SPREAD, 1.0, None, share
        yield different(rng), 1.0, None, share
    for size, share in ((4, 0.3), (4, 0.2), (4, 0.6), (4, 0.5), (4, 0.25), (4, 0.75), (2, 0.5)):
        yield np.full(size, 0.5), 1.0, None, share


@warp.group(
    "the order of the steps; an array",
    form=True,
    hint="Temperature first, then top-k, then top-p on what top-k has left, renormalised.",
)
def orders(rng):
    for temperature, k, share in (  # in another order, other tokens stay
        *((2.0, 4, 0.7), (0.5, 3, 0.9), (4.0, None, 0.5)),
        *((0.25, 3, 0.8), (1.0, 2, 0.6), (3.0, 3, 0.75)),
    ):
        yield rng.permutation(LOGITS), temperature, k, share


ORDER = """order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]"""
CUT = "\n        probs[order[1:][before[1:] >= top_p]] = 0"

warp.bug(
    "scaled - scaled.max()",
    "scaled",
    think="softmax is exp over its sum.",
    because="exp of a logit above 709 is infinite; the largest is subtracted first.",
)
warp.bug(
    "if temperature == 0:\n        return np.eye(len(logits))[np.argmax(logits)]\n"
    "    scaled = logits / temperature",
    "scaled = logits / max(temperature, 1e-3)",
    think="a temperature of 0 is a very small temperature.",
    because="with 0.001 in its place two equal logits still share; 0 means the argmax alone.",
)
warp.bug(
    "np.where(scaled < np.sort(scaled)[-top_k], -np.inf, scaled)",
    'np.where(np.argsort(np.argsort(-scaled, kind="stable")) < top_k, scaled, -np.inf)',
    think="top-k keeps exactly k tokens.",
    because="logits that equal the k-th are no worse than it; the warpers in use keep them all.",
)
for _sign in (">", ">="):
    warp.bug(
        ORDER + CUT,
        ORDER.removesuffix(" - probs[order]") + CUT.replace(">=", _sign),
        think="top-p keeps tokens while their sum stays within top_p.",
        because="the token that crosses it is kept: what counts is the mass before a token.",
    )
warp.bug(
    "before[1:] >= top_p",
    "before[1:] > top_p",
    think="a token is kept as long as the mass before it is at most top_p.",
    because="where that mass is top_p exactly, enough is kept already: the next token goes.",
)
warp.bug(
    ORDER,
    "mass = np.exp((logits - logits.max()) / temperature)\n        mass /= mass.sum()\n        "
    + ORDER.replace("probs", "mass"),
    think="top-p adds up the masses from before top-k.",
    because="what top-k has left sums to 1 again before top-p looks at it.",
)


is_lossless = Exercise("is_lossless")

# Pairs whose ratios p/q, and the sums of whose residual from the left, are multiples of 1/64. Of
# GRID and SPLIT those of q/p, q - p, |p - q|, p and q are, too.
GRID = np.array([0.375, 0.25, 0.125, 0.25]), np.array([0.1875, 0.5, 0.0625, 0.25])
SPLIT = np.array([0.125, 0.34375, 0.53125]), np.array([0.5, 0.25, 0.25])  # one_coin is seen
TWO = np.array([0.25, 0.75]), np.array([0.5, 0.5])  # one_coin is exact, from_target is not
# 64 p/q is a whole, odd number: a count in 32 squares is wrong.
ODD = np.array([33 / 128, 0.5, 31 / 128]), np.array([0.5, 0.5, 0.0])
# p and q are so near each other that coarse_coin is off by less than 0.001.
QUIET = np.array([0.5, 0.25, 0.21875, 0.03125]), np.array([0.46875, 0.25, 0.21875, 0.0625])


def exchanged_numbers(p, q, tokens, r, u):
    """Takes u for the coin and r for the replacement: exact."""
    return right_rule(p, q, tokens, u, r)


def one_cell(p, q, tokens, r, u):
    """Is wrong in one cell of the grid, for one draft token."""
    corner = (r > 63 / 64) & (u > 63 / 64) & (tokens == len(p) - 1)
    return (right_rule(p, q, tokens, r, u) + corner) % len(p)


class Bounded:
    """The rule, for numbers in the shapes that the exercise names, and about as many.

    It runs in the grader's own process, where a row of coins against a column of numbers would make
    a table of any size, and a list or a tuple times a number one of any length. `trace` has the
    smallest and the largest number that it was asked with, and the largest |r - u|.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule, self.trace = rule, (0.5, 0.5, 0.0)

    def __call__(self, p, q, tokens, r, u):
        given = [x if type(x) in (int, float) else np.asarray(x) for x in (p, q, tokens, r, u)]
        if any(np.asarray(x).dtype.kind not in "biuf" for x in given):
            raise TypeError("a rule takes arrays of numbers")
        if [np.ndim(x) for x in given[:2]] != [1, 1]:
            raise ValueError("a rule takes p and q of shape (V,)")
        out = self.rule(*given[:2], *np.broadcast_arrays(*given[2:]))
        r, u = map(np.ravel, np.broadcast_arrays(*given[3:]))
        asked, apart = np.concatenate([self.trace[:2], r, u]), np.append(self.trace[2], abs(r - u))
        self.trace = float(asked.min()), float(asked.max()), float(apart.max())
        return out


class LentRule(RemoteObject):
    """A rule as an argument of is_lossless; a message shows its name."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(Bounded(rule), call=True)

    def __repr__(self) -> str:
        return self.thing.rule.__name__


def judge(name: str, judged: tuple, pairs: tuple, form: bool = False) -> None:
    """Cases of the group `name`: each rule on each pair as it stands, and in a random order."""
    for rule in judged:
        says = f"The docstring of {rule.__name__}: {rule.__doc__}"

        @is_lossless.group(name, form=form, hint=says)
        def cases(rng, rule=rule):
            for p, q in pairs:
                order = rng.permutation(len(p))
                yield LentRule(rule), p, q
                yield LentRule(rule), p[order], q[order]


EVERY = "every impostor is seen, and no right rule taken for one"
judge(EVERY, (*IMPOSTORS, right_rule), (GRID,))
ANY_FORM = "the distribution counts, not how the rule is written"
judge(ANY_FORM, (rules.sampler_match, rules.published_rule, exchanged_numbers), (GRID, SPLIT))
judge(ANY_FORM, (rules.one_coin,), (GRID, SPLIT))
THIS_PAIR = "judged on this pair, with draft tokens from q"
judge(THIS_PAIR, (rules.from_target, rules.one_coin, rules.always), (TWO[:1] * 2, TWO, SPLIT))
judge(THIS_PAIR, (right_rule, rules.published_rule), (ODD, QUIET))
EXACT = "exact: no small bias is let through; True or False"
judge(EXACT, (rules.coarse_coin, one_cell, right_rule), (GRID, QUIET), form=True)
judge(EXACT, (right_rule,), ((np.array([0.4, 0.6]), np.array([0.2, 0.8])),), form=True)  # rounds

is_lossless.bug(
    "(part.ravel() for part in np.meshgrid(middles, middles))",
    "middles, middles",
    think="64 midpoints serve for r and u together.",
    because="r and u are independent, so all 4,096 pairs count; on the diagonal u is r again.",
)
is_lossless.bug(
    "q[token]",
    "1 / len(q)",
    think="every draft token counts alike.",
    because="token x is drafted with q(x), and its cells weigh that much.",
)
is_lossless.bug(
    "1e-12",
    "1e-3",
    think="a difference below a thousandth is rounding.",
    because="the grid counts exactly, so whatever is above 1e-12 is a bias.",
)
is_lossless.bug(
    "(np.arange(cells) + 0.5)",
    "np.arange(cells)",
    think="the cells may be asked at their corners.",
    because="decisions fall on the corners, where <= and < differ; the middle is on no border.",
)


impostor = Exercise("impostor")


def require(student, seed: int, bias: float = 0) -> None:
    """Raise Different unless the student's impostor hides, with at least this bias."""
    found = examined(student.impostor, seed)
    if said := fault_of(found) or short_of(found, bias):
        raise Different(f"impostor, on lesson.GRID_P and lesson.GRID_Q: {said}")


@impostor.check("counting sees it, 200,000 samples do not", weight=2)
def hides(student, solution, rng):
    for seed in (0, 1):  # the two of the card
        require(student, seed)
        untouched(student)


for _bias in (LEAST, LARGE):

    @impostor.check(f"a bias of at least {_bias}")
    def is_biased(student, solution, rng, bias=_bias):
        require(student, 0, bias)


impostor.bug(
    "np.where(forged, 2, right_rule(p, q, tokens, r, u))",
    "right_rule(p, q, tokens, r, u)",
    think="the right rule is the best disguise.",
    because="it hides nothing: an impostor needs a bias, and counting must find it.",
)
impostor.bug(
    "np.where(forged, 2, right_rule(p, q, tokens, r, u))",
    "tokens.copy()",
    think="any mistake that people really make hides among 200,000 samples.",
    because="the noise is 0.0015, and the smallest mistake of the line-up is five times as large.",
)
impostor.bug(
    "(r < 1 / 64) & (u < 6 / 64)",
    "(r < 0.006) & (u < 0.5)",
    think="r and u may be compared with any small number.",
    because="the count asks once in each square; what is decided inside a square it cannot weigh.",
)
impostor.bug(
    "u < 6 / 64",
    "u < 1 / 64",
    think="the smaller the bias, the better the forgery.",
    because="it earns more with every square, as long as the samples do not show it.",
)
