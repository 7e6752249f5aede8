"""Hidden tests of chapter 02: test groups and known bugs; see autograde/hidden/exercise.py.

Several of the bugs are in published code and exercises. Models are lent to the student's functions
and refuse more calls than a case allows.
"""

import copy
from collections.abc import Callable, Iterator

import numpy as np

from autograde.hidden.exercise import with_cause
from autograde.hidden_tests import texts
from autograde.hidden_tests.common import Exercise, Lent, prediction, quiz
from autograde.hidden_tests.distributions import coin, hashed, pair, ratio, thousandths
from specdec_lib.lessons.ch01.models import Calls, DraftModel, TargetModel
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.data.distributions import LARGEST_UNIFORM

V = 5
MANY = 100  # calls, where a case does not count them: no right answer comes near
HALF = np.array([0.5, 0.25, 0.25])
NO_FIRST = np.array([0.0, 0.5, 0.5])

test_prediction_02 = prediction("prediction_02", 0, 1)
test_prediction_02_b = prediction("prediction_02_b", 0, 1)
test_prediction_02_c = prediction("prediction_02_c", 1, 4)
test_quiz_02 = quiz("quiz_02")
test_quiz_02_b = quiz("quiz_02_b")

# Thoughts that show in several exercises.
FROM_TARGET = {
    "think": "after a rejection, the next token is drawn from the target.",
    "because": "the accepted tokens would be paid twice; the residual has what is missing.",
}
DRAFT_OVER_TARGET = {
    "think": "the ratio is draft over target.",
    "because": "the kept height is the target's share of the draft's bar, so p is the numerator.",
}
NO_BONUS = {
    "think": "a block that is accepted whole ends with its last draft token.",
    "because": "row K of p is paid for; without the bonus token a step yields less than it could.",
}
NO_SUM = {
    "think": "the positive part is a distribution already.",
    "because": "it sums to the rejected share, not to 1.",
}


def tokens(size: int, rng: np.random.Generator) -> list[int]:
    """So many random tokens."""
    return rng.integers(V, size=size).tolist()


def block(verdicts: list[bool], rng: np.random.Generator) -> tuple:
    """Draft tokens (K,) with p and q (K, 4) and coins (K,), by the wanted verdicts."""
    pairs = [pair(4, rng) for _ in verdicts]
    tokens = [
        int(rng.integers(4) if keep else np.argmin(p / q))
        for keep, (p, q) in zip(verdicts, pairs, strict=True)
    ]
    each = zip(pairs, tokens, verdicts, strict=True)
    coins = [coin(ratio(p, q, token), keep, rng, 3) for (p, q), token, keep in each]
    p, q = (np.array(rows).reshape(-1, 4) for rows in zip(*pairs, strict=True))
    return tokens, p, q, np.array(coins)


acceptance_probability = Exercise("acceptance_probability")


def below_1(rng):
    for size in (2, 4, 4, 5, 9):
        p, q = pair(size, rng)
        yield p, q, int(np.argmin(p / q))
    yield HALF, HALF.copy(), 1  # kept always, though no favourite


@acceptance_probability.group("the ratio of target to draft", cases=below_1)
def test_acceptance_probability_below_1(student, solution, args):
    acceptance_probability.assert_same(student, solution, args, hint="Is it p over q, exactly?")


def every_token(rng):
    p, q = pair(4, rng)
    for token in range(4):
        yield p, q, token


@acceptance_probability.group("never above 1", cases=every_token)
def test_acceptance_probability_every_token(student, solution, args):
    hint = "Is it p over q, but at most 1?"
    acceptance_probability.assert_same(student, solution, args, hint)


def numbers(rng):
    for token in (0, 1, 2):
        yield NO_FIRST, np.array([0.25, 0.5, 0.25]), token


@acceptance_probability.group("one plain number, from 0 to 1", cases=numbers)
def test_acceptance_probability_numbers(student, solution, args):
    acceptance_probability.assert_same(student, solution, args, form=True)


acceptance_probability.bug(
    ("p[token] / q[token]", "float(q[token] / p[token])"),
    ("min(1.0, float(p[token] / q[token]))", "float(q[token] / p[token])"),
    **DRAFT_OVER_TARGET,
)
acceptance_probability.bug(
    ("min(1.0, float(p[token] / q[token]))", "float(p[token] / q[token])"),
    think="p/q is a probability as it stands.",
    because="where the draft understates a token the ratio is above 1; to keep it always is 1.",
)
acceptance_probability.bug(
    ("min(1.0, float(p[token] / q[token]))", "float(p[token] >= q[token])"),
    think="a token is kept if p is at least q, and dropped otherwise, without a coin.",
    because="keeping it only where p >= q loses the share p of every overstated token.",
)
acceptance_probability.bug(
    ("min(1.0, float(p[token] / q[token]))", "float(min(p[token], q[token]))"),
    think="it is the smaller of p and q.",
    because="that is how often it is drafted and accepted; divide by q for the share of drafts.",
)


draft_block = Exercise("draft_block")


def drafting(rng: np.random.Generator, counted: bool = False) -> Iterator[tuple]:
    """Arguments for blocks of one token and of several."""
    for before, k in ((1, 1), (2, 3), (3, 4), (4, 6)):
        draft = DraftModel(hashed(V, rng), Calls(in_a_block=k if counted else MANY))
        uniforms = (rng.integers(1000, size=k) + 0.5) / 1000  # between two borders
        yield Lent(texts.Asked(draft), "draft_model"), tokens(before, rng), k, uniforms


def expect_tokens(student, solution, cases: Iterator[tuple]) -> None:
    """Raise Different unless the tokens, the first of the two results, are the solution's."""
    hint = "Token i is drawn with uniforms[i], after the prefix and the tokens drafted so far."
    function = texts.partly(student.draft_block, lambda out, _: out[0] if len(out) == 2 else out)
    for args in cases:
        gives = solution.draft_block(*copy.deepcopy(args))[0]
        draft_block.compare(function, args, gives, hint, form=False)


@draft_block.group("each token drawn after the tokens before it")
def test_draft_block_drawn_tokens(student, solution, rng):
    expect_tokens(student, solution, drafting(rng))


def drawn_from(rng):
    yield from drafting(rng)


@draft_block.group("the distributions it drew from; a list and an array", cases=drawn_from)
def test_draft_block_drawn_from(student, solution, args):
    draft_block.assert_same(student, solution, args, form=True)


@draft_block.group("exactly k calls of the draft")
def test_draft_block_calls_of_the_draft(student, solution, rng):
    expect_tokens(student, solution, drafting(rng, counted=True))


draft_block.bug(
    ("sample_from(q[i], uniforms[i])", "int(np.argmax(q[i]))"),
    think="a good draft proposes its most probable token.",
    because="the ratio p/q is about a token that was drawn from q, and an argmax is not drawn.",
)
draft_block.bug(("[*prefix, *drafted]", "prefix"), **texts.SAME_PREFIX)
draft_block.bug(
    ("uniforms[i]", "uniforms[0]"),
    think="one random number serves the whole block.",
    because="the tokens would then be drawn together; uniforms[i] is there for token i.",
)
draft_block.bug(
    ("[*prefix, *drafted]", "[*prefix, *drafted][-1:]"),
    think="a draft reads the last token alone.",
    because="only the two small models do so; every call gives the model the whole text.",
)


speculative_accept = Exercise("speculative_accept")


def one_token(rng):
    for keep in [True, False] * 6:
        yield block([keep], rng)


@speculative_accept.group("each token by its ratio and its coin", cases=one_token)
def test_speculative_accept_one_token(student, solution, args):
    hint = "A token is accepted where its coin is below p/q, also where p is below q."
    speculative_accept.assert_same(student, solution, args, hint)


def rejected_early(rng):
    for kept in (0, 1, 2, 3):
        yield block([True] * kept + [False] + [True] * 3, rng)
    yield block([True] * 5, rng)


@speculative_accept.group("stops at the first rejection", cases=rejected_early)
def test_speculative_accept_rejected_early(student, solution, args):
    hint = "The first rejection ends the block, and nothing else does."
    speculative_accept.assert_same(student, solution, args, hint)


def rejected_last(rng):
    for kept in (2, 3, 4):
        yield block([True] * kept + [False], rng)
        yield block([True] * kept, rng)


@speculative_accept.group("every position has its own row and its own coin", cases=rejected_last)
def test_speculative_accept_rejected_last(student, solution, args):
    hint = "Position i uses p[i], q[i] and r[i]."
    speculative_accept.assert_same(student, solution, args, hint)


def accept_edges(rng):
    yield [0], np.array([NO_FIRST]), np.array([HALF]), np.array([0.1])
    for near in (0.1, 0.4999999, 0.5000001):
        yield [1], np.array([HALF]), np.array([[0.25, 0.5, 0.25]]), np.array([near])
    yield [], np.zeros((0, 3)), np.zeros((0, 3)), np.array([])


@speculative_accept.group(
    "coins close to the ratio, an impossible token, the empty draft; a list", cases=accept_edges
)
def test_speculative_accept_accept_edges(student, solution, args):
    hint = "A coin below p/q accepts, one above it rejects, however close it is."
    speculative_accept.assert_same(student, solution, args, hint, form=True)


speculative_accept.bug(
    ("r[i] >= acceptance_probability(p[i], q[i], token)", "p[i, token] < q[i, token]"),
    think="a token is kept if p is at least q, and dropped otherwise, without a coin.",
    because="where p is below q a coin decides: the token is kept with probability p/q.",
)
speculative_accept.bug(
    ("r[i]", "r[0]"),
    think="one coin serves the whole block.",
    because="positions would then stand and fall together; each has a coin r[i] of its own.",
)
speculative_accept.bug(
    ("r[i] >= ", "r[i] < "),
    ("r[i] >= ", "p[i, token] == 0 or r[i] <= "),
    think="a token is accepted where its coin is above the ratio.",
    because="a uniform number is below p/q with the probability p/q: below it, it accepts.",
)
speculative_accept.bug(("p[i], q[i]", "q[i], p[i]"), **DRAFT_OVER_TARGET)
speculative_accept.bug(
    ("acceptance_probability(p[i], q[i], token)", "p[i, token]"),
    ("acceptance_probability(p[i], q[i], token)", "min(p[i, token], q[i, token])"),
    think="the coin is compared with p or q alone.",
    because="the token was drawn from q, so it stays with p over q: divide.",
)
speculative_accept.bug(
    ("q[i], token)", "q[i], i)"),
    think="position i looks at entry i of its rows.",
    because="a row has an entry for every token, and that of the draft token counts.",
)
speculative_accept.bug(
    ("break", "return [*accepted, token]"),
    think="the rejected token still stays.",
    because="it is the first that is not in the text: only the tokens before it stay.",
)
speculative_accept.bug(
    ("break", "return []"),
    think="a rejection drops the whole block.",
    because="the tokens before it were accepted, and they stay.",
)
_END = "break\n        accepted.append(token)\n    return "
speculative_accept.bug(
    ("break", "continue"),
    (f"{_END}accepted", f"{_END}draft_tokens[: len(accepted)]".replace("break", "continue")),
    think="one rejection costs one token, and the walk goes on.",
    because="the later tokens were scored after a token that is not in the text.",
)


residual_distribution = Exercise("residual_distribution")


def missing_part(rng):
    for size in (2, 3, 4, 5, 8, 17):
        yield pair(size, rng)


@residual_distribution.group("what the draft proposes too rarely, normalised", cases=missing_part)
def test_residual_distribution_missing_part(student, solution, args):
    hint = "It is the part of p above q, divided by its sum."
    residual_distribution.assert_same(student, solution, args, hint)


def missing_edges(rng):
    p = thousandths(4, rng)
    yield p, p.copy()
    yield np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0])
    yield np.array([0.25, 0.75, 0, 0]), np.array([0, 0.5, 0.25, 0.25])


@residual_distribution.group("equal distributions, and zeros", cases=missing_edges)
def test_residual_distribution_missing_edges(student, solution, args):
    hint = "If p equals q nothing is missing, and the answer is p itself."
    residual_distribution.assert_same(student, solution, args, hint)


def new_array(rng):
    p, q = pair(4, rng)
    yield p, q
    yield p, p.copy()


@residual_distribution.group("a new array, the arguments as they were", cases=new_array)
def test_residual_distribution_new_array(student, solution, args):
    residual_distribution.assert_same(student, solution, args, form=True)


residual_distribution.bug(("missing = np.maximum(p - q, 0)", "return p.copy()"), **FROM_TARGET)
residual_distribution.bug(
    ("p - q", "q - p"),
    think="the surplus of the draft is what is left over.",
    because="q - p is what was rejected; what is missing is p - q.",
)
residual_distribution.bug(
    ("np.maximum(p - q, 0)", "np.abs(p - q)"),
    think="the distance |p - q| is the part to repair.",
    because="it gives a share to the overstated tokens as well, which lack nothing.",
)
residual_distribution.bug(
    ("np.maximum(p - q, 0)", "p - q"),
    ("missing = np.maximum(p - q, 0)", "return p - q"),
    think="p - q is what is missing.",
    because="it is below 0 where q has more, and sums to 0: only its positive part is missing.",
)
residual_distribution.bug(
    ("return missing / total", "return missing"),
    ("if total == 0:\n        return p.copy()\n    return missing / total", "return missing"),
    **NO_SUM,
)
residual_distribution.bug(
    ("    if total == 0:\n        return p.copy()\n", ""),
    think="something is always missing.",
    because="if p equals q the sum is 0, and 0/0 fills the result with NaN.",
)


speculative_step = Exercise("speculative_step")


def step(verdicts: list[bool], rng: np.random.Generator) -> tuple:
    """The arguments of a step with a random last row and a random u."""
    tokens, p, q, coins = block(verdicts, rng)
    return tokens, np.vstack([p, thousandths(4, rng)]), q, coins, int(rng.integers(100)) / 100


def corrections(rng):
    for kept in (0, 1, 2, 1, 2, 3):
        yield step([True] * kept + [False, True], rng)
        yield step([True] * kept + [False], rng)


@speculative_step.group("accepted prefix, then the correction", cases=corrections)
def test_speculative_step_corrections(student, solution, args):
    hint = "The correction is drawn with u from the residual of the rejected row, and is the last."
    speculative_step.assert_same(student, solution, args, hint)


def bonus(rng):
    for k in (1, 2, 2, 3, 5, 5):
        yield step([True] * k, rng)


@speculative_step.group("the bonus token from row K", cases=bonus)
def test_speculative_step_bonus(student, solution, args):
    hint = "With all draft tokens accepted, row K of p gives one more; otherwise it is not used."
    speculative_step.assert_same(student, solution, args, hint)


def step_edges(rng):
    flat, p = np.full(4, 0.25), thousandths(4, rng)
    first = np.array([0])[:0]
    yield [], np.array([p]), np.zeros((0, 4)), first, 0.5
    yield [2], np.array([p, flat]), np.array([p]), np.array([0.999]), 0.1  # equal models
    yield [0], np.array([p, flat]), np.array([p]), np.array([LARGEST_UNIFORM]), 0.1
    yield [0], np.array([NO_FIRST, HALF]), np.array([HALF]), np.array([0.9]), 0.6


@speculative_step.group("an empty draft, equal models; a list; nothing modified", cases=step_edges)
def test_speculative_step_step_edges(student, solution, args):
    speculative_step.assert_same(student, solution, args, form=True)


speculative_step.bug(("return [*", "return accepted if n == k else [*"), **NO_BONUS)
speculative_step.bug(
    ("return [*", "return accepted if n < k else [*"),
    think="a rejected token just ends the step.",
    because="the step owes one token; without it, what was rejected is never made up for.",
)
speculative_step.bug(
    ("else p[k]", "else p[max(k - 1, 0)]"),
    think="the bonus token comes from row K - 1 of p.",
    because="that row is the distribution of the last draft token, not of the one after it.",
)
speculative_step.bug(("residual_distribution(p[n], q[n])", "p[n]"), **FROM_TARGET)
speculative_step.bug(("residual_distribution(p[n], q[n])", "np.maximum(p[n] - q[n], 0)"), **NO_SUM)
for _new in ("r[n] if n < k else u", "r[-1] if k else u"):
    speculative_step.bug(
        ("(last, u)", f"(last, {_new})"),
        think="a coin of r can draw the last token, too.",
        because="a coin that has judged is no longer any number: u is there for the last token.",
    )
speculative_step.bug(
    (" if n < k else p[k]", ""),
    think="every step ends with a correction.",
    because="where all are accepted there is none, and q has no row K: p[k] gives the bonus.",
)
speculative_step.bug(
    ("p[n], q[n]", "p[n - 1], q[n - 1]"),
    think="the correction is drawn from the residual of the last accepted position.",
    because="the rejected position n has its own p[n] and q[n].",
)
speculative_step.bug(
    ("(last, u)]", "(last, u), *([sample_from(p[k], u)] if n < k else [])]"),
    think="every block ends with a token from row K.",
    because="after a rejection the correction ends the step: row K follows a text with the "
    "rejected token in it.",
)


def logits_of(row: Callable) -> Callable:
    """From tokens to logits whose softmax is `row(tokens)`."""
    return lambda tokens: np.log(row(tokens))


def sampling(
    rng: np.random.Generator, before: int, k: int, count: int, temperature: float = 1.0, eos=None
) -> tuple:
    """The arguments for a text after a prompt of `before` tokens."""
    target, draft = (logits_of(hashed(V, rng)) for _ in range(2))
    calls = Calls(targets=MANY, which="if every block adds its tokens to the text")
    models = Lent(TargetModel(target, calls), "target"), Lent(TargetModel(draft), "draft")
    seed = int(rng.integers(1000))
    own = Lent(np.random.default_rng(seed), "rng", "random()")
    own.code = f"np.random.default_rng({seed})"
    return *models, tokens(before, rng), k, count, temperature, own, eos


TEXTS = ((1, 1, 6), (3, 2, 8), (2, 3, 9), (4, 4, 12), (2, 3, 7), (3, 2, 10))  # before, k, count
DRAWS = "rng.random(n) drafts; the last n + 1 rows and rng.random(n) judge; rng.random() draws u."


speculative_sample = texts.TextExercise("speculative_sample")


def whole_text(rng):
    for sizes in TEXTS:
        yield sampling(rng, *sizes)


@speculative_sample.group("the text, number for number", weight=2, cases=whole_text)
def test_speculative_sample_whole_text(student, solution, args):
    speculative_sample.assert_same(student, solution, args, hint=DRAWS)


def warmer(rng):
    for sizes, temperature in zip(TEXTS, (0.25, 0.5, 2.0, 0.7, 1.5, 3.0), strict=True):
        yield sampling(rng, *sizes, temperature)


@speculative_sample.group("the temperature, for target and draft", weight=2, cases=warmer)
def test_speculative_sample_warmer(student, solution, args):
    hint = "Both distributions are softmax(logits / temperature)."
    speculative_sample.assert_same(student, solution, args, hint)


ONE_BY_ONE = {
    "think": "each row of a block takes a call of the target.",
    "because": "one call on the text and its draft gives all rows; that is the whole gain.",
}


@speculative_sample.group("one call of the target per block")
def test_speculative_sample_calls_of_the_target(student, solution, rng):
    for sizes in (*TEXTS, (2, 3, 0)):
        args = sampling(rng, *sizes)
        right, given = copy.deepcopy(args), copy.deepcopy(args)
        expected = solution.speculative_sample(*right)
        speculative_sample.compare(student.speculative_sample, given, expected, DRAWS, False)
        needed, made = (len(each[0].obj.calls.blocks) for each in (right, given))
        if made != needed:
            error = Different(
                f"speculative_sample called the target {made} times for a text of {needed} blocks "
                f"(k = {args[3]}, {args[4]} new tokens). Call it once per block."
            )
            one_by_one = given[0].obj.calls.blocks[:1] == [(0, args[2])]  # the prompt alone
            raise with_cause(error, ONE_BY_ONE["think"]) if one_by_one else error


def ends(rng):
    for eos in 2 * [0, 1, 2, 3, 4]:
        yield sampling(rng, 2, 4, 12, 1.0, eos)
    for count in (0, 1, 2, 3, 5):
        yield sampling(rng, 2, 3, count)


@speculative_sample.group("the end: eos, the last block; a list of new tokens", cases=ends)
def test_speculative_sample_ends(student, solution, args):
    hint = (
        "The text ends with its first eos, wherever in a block it stands, or is as long as asked."
    )
    speculative_sample.assert_same(student, solution, args, hint, form=True)


speculative_sample.bug(
    ("(tokens)[-1] / temperature", "(tokens)[-1]"),
    think="the draft needs no temperature.",
    because="such a draft is rejected more often, though the text stays exact.",
)
speculative_sample.bug(
    ("softmax(logits / temperature)", "softmax(logits)"),
    think="the target needs no temperature.",
    because="the text would follow another distribution than the one that was asked for.",
)
_BOTH = "soft = globals()['softmax']\n    softmax = lambda x: soft(x * temperature) / temperature\n"
speculative_sample.bug(
    ("    def draft_model", f"    {_BOTH}    def draft_model"),
    ("softmax(logits / temperature)", "softmax(logits) / temperature"),
    ("[-1] / temperature)", "[-1]) / temperature"),
    think="the probabilities are divided by the temperature.",
    because="the logits are divided, before the softmax: probabilities must sum to 1.",
)
speculative_sample.bug(("[*prompt, *written]", "prompt"), **texts.FROM_PROMPT)
speculative_sample.bug(
    ("min(k, max_new_tokens - len(written) - 1)", "k"),
    think="the last block may be written whole.",
    because="it can pass the limit by up to K tokens, which the caller has no room for.",
)
speculative_sample.bug(
    ("len(written) - 1)", "len(written))"),
    think="with `left` tokens to write a block may draft min(k, left).",
    because="each block also has one token of the target's: draft left - 1 at most.",
)
speculative_sample.bug(
    ("[len(prefix) - 1 :]", "[len(prefix) :]"),
    ("[len(prefix) - 1 :]", "[-n:]"),
    think="the row of a draft token judges that token.",
    because="the row before judges it, and the draft token's own row judges the next one.",
)
_DRAFT = "drafted, q = draft_block(draft_model, prefix, n, rng.random(n))"
_SCORE = """
        logits = target_logits([*prefix, *drafted])[len(prefix) - 1 :]
        p = softmax(logits / temperature)
"""
_JUDGE = "block = speculative_step(drafted, p, q"
_STEP = f"{_JUDGE}, rng.random(n), rng.random())"
_REST = f"""
        {_DRAFT}{_SCORE}        {_STEP}
        if eos in block:
            return written + block[: block.index(eos) + 1]
        written += block
    return written"""
for _new in ("k", "min(k, max_new_tokens - len(written))"):
    speculative_sample.bug(
        (f"min(k, max_new_tokens - len(written) - 1){_REST}", f"{_new}{_REST}[:max_new_tokens]"),
        think="a block may draft too much, if the text is cut at the end.",
        because="what is cut was drafted in vain, and other numbers are drawn: draft left - 1.",
    )
for _first, _rest in (
    ("r = rng.random(n)", "r, rng.random()"),
    ("r, u = rng.random(n), rng.random()", "r, u"),
    ("u, r = rng.random(), rng.random(n)", "r, u"),
    ("u = rng.random()", "rng.random(n), u"),
    ("", "*[rng.random(), rng.random(n)][::-1]"),
):
    speculative_sample.bug(
        (
            f"{_DRAFT}{_SCORE}        {_STEP}",
            f"{_first}\n        {_DRAFT}{_SCORE}        {_JUDGE}, {_rest})",
        ),
        think="a block may draw its numbers in any order.",
        because="the distribution stays, but the text changes: draft, r, u is what is graded.",
    )
speculative_sample.bug(
    (
        _STEP,
        "n = len(accepted := speculative_accept(drafted, p[:n], q, rng.random(n)))\n"
        "        block = [*accepted, sample_from(p[n], rng.random())]",
    ),
    **FROM_TARGET,
)
speculative_sample.bug((_STEP, f"{_STEP}\n        block = block[: n or 1]"), **NO_BONUS)
speculative_sample.bug(
    (
        "target_logits([*prefix, *drafted])[len(prefix) - 1 :]",
        "np.array([target_logits([*prefix, *drafted[:i]])[-1] for i in range(n + 1)])",
    ),
    **ONE_BY_ONE,
)
speculative_sample.bug(
    ("written += block\n    return written", "written += block\n    return [*prompt, *written]"),
    think="the text is the prompt and what follows.",
    because="only the new tokens are returned.",
)
speculative_sample.bug(("if eos in block", "if eos == block[-1]"), **texts.EOS_AT_END)
speculative_sample.bug(
    ("if eos in block", "if eos and eos in block"),
    think="an eos of 0 means that there is none.",
    because="0 is a token like any other; None says that there is no eos.",
)
