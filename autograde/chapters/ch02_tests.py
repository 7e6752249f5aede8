"""Hidden tests of chapter 02: test groups and known bugs; see autograde/check.py.

Several of the bugs are in published code and exercises.
"""

from collections.abc import Iterator

import numpy as np

from autograde.chapters.common import Exercise, prediction, quiz
from autograde.chapters.distributions import (
    LARGEST,
    autoregressive_law,
    pair,
    ratio,
    step_law,
    thousandths,
    token_law,
)
from specdec_lib.lessons.common.comparing import in_form_of
from specdec_lib.lessons.common.describing import describe, told_apart, type_name
from specdec_lib.lessons.common.examples import Different

HALF = np.array([0.5, 0.25, 0.25])
NO_FIRST = np.array([0.0, 0.5, 0.5])

prediction_02 = prediction("prediction_02", 0, 1)
prediction_02_b = prediction("prediction_02_b", 0, 1)
quiz_02 = quiz("quiz_02")
quiz_02_b = quiz("quiz_02_b")

# Thoughts that show in several exercises.
ABOVE = {
    "think": "a token is kept where its coin is above the ratio.",
    "because": "a uniform number is below p/q with the probability p/q: above it, it rejects.",
}
COIN_OF_0 = {
    "think": "r = 0 keeps everything.",
    "because": "where p is 0 nothing may be kept, and a uniform number can be exactly 0.",
}


def coin(p: np.ndarray, q: np.ndarray, token: int, keep: bool, rng: np.random.Generator) -> float:
    """A coin that keeps a token, or one that rejects it; of three digits, so that it is read."""
    share, chance = 0.1 + 0.8 * rng.random(), ratio(p, q, token)
    return float(round(share * chance if keep else chance + share * (1 - chance), 3))


def block(verdicts: list[bool], rng: np.random.Generator) -> tuple:
    """Draft tokens (K,) with p and q (K, 4) and coins (K,), by the wanted verdicts."""
    pairs = [pair(4, rng) for _ in verdicts]
    tokens = [
        int(rng.integers(4) if keep else np.argmin(p / q))
        for keep, (p, q) in zip(verdicts, pairs, strict=True)
    ]
    each = zip(pairs, tokens, verdicts, strict=True)
    coins = [coin(p, q, token, keep, rng) for (p, q), token, keep in each]
    p, q = (np.array(rows).reshape(-1, 4) for rows in zip(*pairs, strict=True))
    return tokens, p, q, np.array(coins)


acceptance_probability = Exercise("acceptance_probability")


@acceptance_probability.group("the ratio of target to draft", hint="Is it p over q, exactly?")
def below_1(rng):
    for size in (2, 4, 4, 5, 9):
        p, q = pair(size, rng)
        yield p, q, int(np.argmin(p / q))
    for tiny in (4e-12, 2e-12):  # is not zero
        yield np.array([1e-12, 1 - 1e-12]), np.array([tiny, 1 - tiny]), 0


@acceptance_probability.group("never above 1", hint="Is it p over q, but at most 1?")
def every_token(rng):
    p, q = pair(4, rng)
    for token in range(4):
        yield p, q, token


@acceptance_probability.group("the zeros, as numbers and without a warning", form=True)
def zeros(rng):
    for token in (0, 2, 1, 3):  # p alone is 0, both, q alone, none
        yield np.array([0.0, 0.75, 0.0, 0.25]), np.array([0.5, 0.0, 0.0, 0.5]), token


acceptance_probability.bug(
    "p[token] / q[token]",
    "q[token] / p[token]",
    think="the ratio is draft over target.",
    because="the kept height is the target's share of the draft's bar, so p is the numerator.",
)
acceptance_probability.bug(
    "min(1.0, float(p[token] / q[token]))",
    "float(p[token] / q[token])",
    think="p/q is a probability as it stands.",
    because="where the draft understates a token the ratio is above 1; keeping for certain is 1.",
)
acceptance_probability.bug(
    "min(1.0, float(p[token] / q[token]))",
    "float(p[token] >= q[token])",
    think="a token is kept or not, there is no coin.",
    because="keeping it only where p >= q loses the share p of every overstated token.",
)
acceptance_probability.bug(
    "min(1.0, float(p[token] / q[token]))",
    "float(p[token])",
    think="the target's own probability decides.",
    because="the draft has made its choice already: it is p over q that repairs it, not p.",
)
acceptance_probability.bug(
    "/ q[token])",
    "/ (q[token] + 1e-10))",
    think="a small number in the denominator takes care of the zeros.",
    because="it changes every other ratio a little, and no tolerance makes up for it over a text.",
)
acceptance_probability.bug(
    "if p[token] == 0:\n        return 0.0\n    if q",
    "if q",
    think="the answer is 1 wherever q is 0.",
    because="where p is 0 as well the target never writes the token, so 0 comes before 1.",
)
acceptance_probability.bug(
    "return 1.0",
    "return 0.0",
    think="a token that the draft cannot propose has probability 0 here too.",
    because="with q = 0 the draft understates the token as far as it can, so the cap 1 applies.",
)


speculative_accept = Exercise("speculative_accept")


@speculative_accept.group(
    "each token by its ratio and its coin",
    hint="A token is accepted where its coin is at most p/q, also where p is below q.",
)
def one_token(rng):
    for keep in [True, False] * 6:
        yield block([keep], rng)


@speculative_accept.group(
    "stops at the first rejection",
    hint="The first rejection ends the block, and nothing else does.",
)
def rejected_early(rng):
    for kept in (0, 1, 2, 3):
        yield block([True] * kept + [False] + [True] * 3, rng)


@speculative_accept.group(
    "every position has its own row and its own coin", hint="Position i uses p[i], q[i] and r[i]."
)
def rejected_last(rng):
    for kept in (2, 3, 4):
        yield block([True] * kept + [False], rng)
        yield block([True] * kept, rng)


@speculative_accept.group(
    "the edges: zeros, nearly the ratio, the empty draft; a list",
    form=True,
    hint="The rule holds exactly: a coin may be 0 or close to the ratio, and p or q may be 0.",
)
def accept_edges(rng):
    yield [0], np.array([NO_FIRST]), np.array([HALF]), np.array([0.0])
    yield [1, 0], np.array([HALF, HALF]), np.array([[0.5, 0, 0.5], HALF]), np.array([0.9, 0.5])
    yield [1, 0], np.array([HALF, NO_FIRST]), np.array([HALF, NO_FIRST]), np.array([0.9, 0.0])
    for near in (0.0, 0.4999999, 0.5000001):
        yield [1], np.array([HALF]), np.array([[0.25, 0.5, 0.25]]), np.array([near])
    yield [], np.zeros((0, 3)), np.zeros((0, 3)), np.array([])


speculative_accept.bug(
    "r[i] > acceptance_probability(p[i], q[i], token)",
    "p[i, token] < q[i, token]",
    think="a token is kept or not, there is no coin.",
    because="below that a coin decides: it is kept with probability p/q, not never.",
)
speculative_accept.bug(
    "r[i]",
    "r[0]",
    think="one coin serves the whole block.",
    because="positions would then stand and fall together; each has a coin r[i] of its own.",
)
speculative_accept.bug(
    "(p[i], q[i], token)",
    "(q[i], p[i], token)",
    think="the ratio is draft over target.",
    because="that rejects what the draft understates and keeps what it overstates.",
)
speculative_accept.bug("r[i] > ", "r[i] <= ", **ABOVE)
speculative_accept.bug(
    "break",
    "continue",
    think="one rejection costs one token, and the walk goes on.",
    because="the later tokens were scored after a token that is not in the text.",
)
speculative_accept.bug(
    "break",
    "return [*accepted, token]",
    think="the rejected token still belongs to the block.",
    because="it was rejected; another token will stand in its place.",
)
speculative_accept.bug("p[i, token] == 0 or ", "", **COIN_OF_0)


residual_distribution = Exercise("residual_distribution")


@residual_distribution.group(
    "what the draft proposes too rarely, normalised",
    hint="It is the part of p above q, divided by its sum.",
)
def missing_part(rng):
    for size in (2, 3, 4, 5, 8, 17):
        yield pair(size, rng)


@residual_distribution.group(
    "nothing missing, and nothing shared",
    hint="It is p itself only where exactly no mass is left; nearly equal is not equal.",
)
def missing_edges(rng):
    p = thousandths(4, rng)
    yield p, p.copy()
    yield np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0])
    yield np.array([0.25, 0.75, 0, 0]), np.array([0, 0, 0.5, 0.5])
    yield np.array([0.5 + 2**-20, 0.5 - 2**-20]), np.array([0.5, 0.5])


@residual_distribution.group("a new array, the arguments as they were", form=True)
def new_array(rng):
    p, q = pair(4, rng)
    yield p, q
    yield p, p.copy()


residual_distribution.bug(
    "missing = np.maximum(p - q, 0)",
    "return p.copy()",
    think="the replacement is drawn from the target.",
    because="its accepted tokens would be paid twice.",
)
residual_distribution.bug(
    "p - q",
    "q - p",
    think="the surplus of the draft is what is left over.",
    because="q - p is what was rejected; what is missing is p - q.",
)
residual_distribution.bug(
    "np.maximum(p - q, 0)",
    "np.abs(p - q)",
    think="the distance |p - q| is the part to repair.",
    because="it gives mass to the overstated tokens as well, which lack nothing.",
)
for _old in (
    "return missing / total",
    "if total == 0:\n        return p.copy()\n    return missing / total",
):
    residual_distribution.bug(
        _old,
        "return missing",
        think="the positive part is a distribution already.",
        because="it sums to the rejected share, not to 1.",
    )
residual_distribution.bug(
    "    if total == 0:\n        return p.copy()\n",
    "",
    think="with p equal to q there is always something to divide by.",
    because="the mass left is 0 then, and 0/0 fills the result with NaN.",
)
residual_distribution.bug(
    "total == 0",
    "np.allclose(p, q)",
    think="p and q that are equal to rounding are equal.",
    because="however little is missing, it is what a rejection has to bring: p stands for it only "
    "where exactly nothing is.",
)
residual_distribution.bug(
    "missing = np.maximum(p - q, 0)",
    "p -= q\n    missing = np.maximum(p, 0, out=p)",
    think="p can be worked on in place.",
    because="the caller still needs p; a row of the block would be overwritten.",
)


correct_token = Exercise("correct_token")


@correct_token.group("accepts by the coin", hint="A coin up to p/q accepts; else the other comes.")
def either_side(rng):
    for keep in [True, False] * 4:
        p, q = pair(2, rng)
        token = int(np.argmin(p / q))
        # The other token is all that is missing, and u picks it from p as well.
        u = float(p[0] / 2 if token else (1 + p[0]) / 2)
        yield p, q, token, coin(p, q, token, keep, rng), round(u, 4)


@correct_token.group("replaces from the residual", hint="Draw it from the residual, with u.")
def replaced(rng):
    for size in (3, 4, 5, 6, 9, 12):
        p, q = pair(size, rng)
        token = int(np.argmin(p / q))
        yield p, q, token, coin(p, q, token, False, rng), int(rng.integers(100)) / 100


@correct_token.check("the distribution is the target's")
def target_law(student, solution, rng):
    cases = [pair(size, rng) for size in (2, 3, 4, 5)]
    for p, q in [*cases, (cases[0][0], cases[0][0])]:
        law = token_law(lambda many, p=p: _tokens_and_flags(student, many, p), p, q).sum(axis=0)
        if not np.abs(law - p).max() <= 1e-12:
            came, wanted = told_apart(law, p)
            raise Different(
                f"over all draft tokens and uniforms the distribution that comes out is {came}, "
                f"the target is {wanted} and the draft {describe(q)}."
            )


def _tokens_and_flags(student, many: list[tuple], p: np.ndarray) -> Iterator[tuple[int, bool]]:
    """What correct_token gives for each of many arguments. Raises Different for no such tuple."""
    for out in student.correct_token.each(many):
        out = in_form_of((0, True), out)
        kinds = tuple(map(type, out)) if isinstance(out, tuple) else ()
        if kinds not in ((int, bool), (int, np.bool_)) or not 0 <= out[0] < len(p):
            what = f"{describe(out)} ({type_name(out)})"
            wanted = f"a tuple of a token from 0 to {len(p) - 1} and a bool"
            raise Different(f"correct_token returned {what}, expected {wanted}.")
        yield out


@correct_token.group("the edges: zeros and equal models; a tuple", form=True)
def correct_edges(rng):
    yield NO_FIRST, HALF, 0, 0.0, 0.1  # p and r are 0
    yield HALF, np.array([0.5, 0.0, 0.5]), 1, 0.99, 0.2  # q is 0
    yield HALF, np.array([0.25, 0.5, 0.25]), 1, 0.9, 0.1
    yield HALF, HALF, 2, LARGEST, 0.1
    yield HALF, np.array([0.25, 0.5, 0.25]), 1, 0.0, 0.9
    yield NO_FIRST, HALF, 0, 0.9, 0.0
    yield np.array([0.5, 0.25, 0.25, 0]), np.array([0.25, 0, 0.25, 0.5]), 3, 0.9, 0.5  # u at a cut


correct_token.bug(
    "residual_distribution(p, q)",
    "p",
    think="the replacement is drawn from the target.",
    because="tokens with p below q have had their full share by acceptance.",
)
correct_token.bug(
    "sample_from(residual_distribution(p, q), u)",
    "int(np.argmax(p))",
    think="the most probable token of the target is the best replacement.",
    because="then only this one token is paid with all of the rejected mass.",
)
correct_token.bug(
    "sample_from(residual_distribution(p, q), u)",
    "int(np.argmax(residual_distribution(p, q)))",
    think="the most probable token of the residual is the best replacement.",
    because="the residual is a distribution to draw from; its other tokens lack mass as well.",
)
correct_token.bug(
    "residual_distribution(p, q)",
    "residual_distribution(q, p)",
    think="the residual is q - p.",
    because="that draws again just those tokens that were rejected for being too many.",
)
correct_token.bug(
    "(residual_distribution(p, q), u)",
    "(residual_distribution(p, q), r)",
    think="the coin r can serve for the replacement too.",
    because="after a rejection r is known to be large, so it is not uniform any more.",
)
correct_token.bug(
    "return token, True\n    return sample_from(residual_distribution(p, q), u), False",
    "return token, False\n    return sample_from(residual_distribution(p, q), u), True",
    think="the flag says whether the token was corrected.",
    because="it says whether the draft's token was kept; True means kept.",
)
correct_token.bug("r <= ", "r > ", **ABOVE)
correct_token.bug("p[token] > 0 and ", "", **COIN_OF_0)

speculative_step = Exercise("speculative_step")


def step(verdicts: list[bool], rng: np.random.Generator) -> tuple:
    """The arguments of a step with a random last row and a random u."""
    tokens, p, q, coins = block(verdicts, rng)
    return tokens, np.vstack([p, thousandths(4, rng)]), q, coins, int(rng.integers(100)) / 100


@speculative_step.group(
    "accepted prefix, then the replacement",
    hint="The replacement is drawn with u from the residual of the rejected row, and is the last.",
)
def replacements(rng):
    for kept in (0, 1, 2, 1, 2, 3):
        yield step([True] * kept + [False, True], rng)
        yield step([True] * kept + [False], rng)


@speculative_step.group(
    "the bonus token from row K",
    hint="With all draft tokens accepted, row K of p gives one more; otherwise it is not used.",
)
def bonus(rng):
    for k in (1, 2, 2, 3, 5, 5):
        yield step([True] * k, rng)


@speculative_step.check("the joint distribution of three tokens")
def joint_law(student, solution, rng):
    target, draft = (np.array([thousandths(3, rng) for _ in range(4)]) for _ in range(2))
    for k in (1, 2):
        law = step_law(lambda many, k=k: _blocks_of_tokens(student, many, k), target, draft, k)
        difference = np.abs(law - autoregressive_law(target)).max()
        if not difference <= 1e-12:
            raise Different(
                f"with K = {k} a sequence of three tokens comes out with a probability that is off "
                f"by {difference:.3g} from the target's."
            )


def _blocks_of_tokens(student, many: list[tuple], k: int) -> Iterator[list[int]]:
    """What speculative_step gives for each of many arguments. Raises Different for no block."""
    for out in student.speculative_step.each(many):
        out = in_form_of([0] * (k + 1), out)
        ok = isinstance(out, list) and 1 <= len(out) <= k + 1
        if not ok or not all(type(t) is int and 0 <= t < 3 for t in out):
            what = f"{describe(out)} ({type_name(out)})"
            raise Different(f"speculative_step returned {what}, expected a list of 1 to {k + 1}.")
        yield out


@speculative_step.group("an empty draft, zeros; a list; nothing modified", form=True)
def step_edges(rng):
    flat, p = np.full(4, 0.25), thousandths(4, rng)
    none, first = np.array([0.0, 0.5, 0.5, 0.0]), np.array([0])[:0]
    yield [], np.array([p]), np.zeros((0, 4)), first, 0.5
    yield [], np.array([flat]), np.zeros((0, 4)), first, 0.99
    yield [0], np.array([none, flat]), np.array([flat]), np.array([0.0]), 0.9  # p and r are 0
    yield [2], np.array([p, flat]), np.array([p]), np.array([0.999]), 0.1  # equal models
    yield [1], np.array([flat, flat]), np.array([[0.5, 0, 0.25, 0.25]]), np.array([0.9]), 0.3
    yield [0], np.array([none, flat]), np.array([[0.5, 0.25, 0.25, 0]]), np.array([0.9]), 0.0
    yield [0], np.array([p, flat]), np.array([p]), np.array([LARGEST]), 0.1


speculative_step.bug(
    "return [*accepted, sample_from(last, u)]",
    "return accepted if n == k else [*accepted, sample_from(last, u)]",
    think="a block that is kept whole ends with its last draft token.",
    because="row K of p is paid for; without the bonus token a step yields less than it could.",
)
speculative_step.bug(
    "return [*accepted, sample_from(last, u)]",
    "return accepted if n < k else [*accepted, sample_from(last, u)]",
    think="a rejected token just ends the step.",
    because="the step owes one token; without it the rejected mass is never made up for.",
)
speculative_step.bug(
    "else p[k]",
    "else p[max(k - 1, 0)]",
    think="the bonus token comes from row K - 1 of p.",
    because="that row is the distribution of the last draft token, not of the one after it.",
)
speculative_step.bug(
    "residual_distribution(p[n], q[n])",
    "p[n]",
    think="the replacement is drawn from the target.",
    because="the replacement must come from what is missing, the residual of that row.",
)
speculative_step.bug(
    "residual_distribution(p[n], q[n]) if n < k else p[k]",
    "p[k]",
    think="the replacement comes from the last row.",
    because="the last row follows a text with the rejected token in it.",
)
speculative_step.bug(
    "p[n], q[n]",
    "p[n - 1], q[n - 1]",
    think="the residual of the last accepted position is drawn from.",
    because="the rejected position n has its own p[n] and q[n].",
)
speculative_step.bug(
    "return [*accepted, sample_from(last, u)]",
    "own = [sample_from(last, u)] if n < k else []\n"
    "    return [*accepted, *own, sample_from(p[k], u)]",
    think="every block ends with a token from row K.",
    because="after a rejection the replacement ends the step: row K follows a text with the "
    "rejected token in it.",
)
speculative_step.bug(
    "return [*accepted, sample_from(last, u)]",
    "return [*accepted, sample_from(last, u), *draft_tokens[n + 1 :]]",
    think="the draft tokens after the rejected one can follow its replacement.",
    because="they were drafted and scored after another token.",
)
