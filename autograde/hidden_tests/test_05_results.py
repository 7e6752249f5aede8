"""Hidden tests of chapter 05: test groups and known bugs; see autograde/hidden/exercise.py."""

import numpy as np

from autograde.hidden_tests.common import Exercise, prediction, quiz
from autograde.hidden_tests.distributions import share
from specdec_lib.lessons.checking.comparing import difference
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.pasting import format_call
from specdec_lib.theory import expected_tokens

test_prediction_05 = prediction("prediction_05", 0, 8)
test_prediction_05_b = prediction("prediction_05_b", 1, 6)
test_prediction_05_c = prediction("prediction_05_c", 0, 4)
test_quiz_05 = quiz("quiz_05")
test_quiz_05_b = quiz("quiz_05_b")


alpha_from_blocks = Exercise("alpha_from_blocks")
REFUSED = "A count below 0 or above k is refused, and every other list has its rate."


def stopped_blocks(rng):
    for k in (3, 4, 6):
        yield [0, 2, *rng.integers(k, size=k).tolist()], k
    yield rng.permutation([7, *rng.integers(8, size=20)]).tolist(), 8


@alpha_from_blocks.group("accepted over judged, summed over the blocks", cases=stopped_blocks)
def test_alpha_from_blocks_stopped_blocks(student, solution, args):
    hint = "A block that stopped after n tokens judged n + 1."
    alpha_from_blocks.assert_same(student, solution, args, hint)


def whole_blocks(rng):
    yield [4, 0, 2, 4, 1, 3], 4  # the chapter's six blocks
    yield [3, 3], 3
    yield [1, 0, 1, 1], 1
    for k in (3, 5):
        yield rng.permutation([k, k, 0, *rng.integers(k + 1, size=3)]).tolist(), k


@alpha_from_blocks.group("whole blocks judge K tokens and reject none", cases=whole_blocks)
def test_alpha_from_blocks_whole_blocks(student, solution, args):
    hint = "A whole block has no rejected token, so it judged K and not K + 1."
    alpha_from_blocks.assert_same(student, solution, args, hint, form=True)


def nothing_accepted(rng):
    for blocks in (1, int(rng.integers(2, 6)), 0):
        yield [0] * blocks, 4


@alpha_from_blocks.group("nothing accepted is 0, no block is an error", cases=nothing_accepted)
def test_alpha_from_blocks_nothing_accepted(student, solution, args):
    hint = "Nothing accepted is the rate 0; without a block nothing was judged."
    alpha_from_blocks.assert_same(student, solution, args, hint)


def impossible_counts(rng):
    for accepted in ([2, 5], [5, 0, 0, 0, 0], [-1, 3], [3]):
        yield accepted, 4


@alpha_from_blocks.group("counts that no block can have are refused", cases=impossible_counts)
def test_alpha_from_blocks_impossible_counts(student, solution, args):
    alpha_from_blocks.assert_same(student, solution, args, hint=REFUSED, form=True)


audit = Exercise("audit")
EXACT = (0.0, 0.0)  # no rounding
EXPLAINS = (
    "The formula gives expected_tokens, the best order the smaller of 1/(1 - alpha) and K + 1."
)


def between(low: float, high: float) -> float:
    """A number of tokens of two digits, well inside."""
    return round((low + high) / 2, 2)


def limit(alpha: float, k: int) -> float:
    """The most tokens per block in any order."""
    return min(k + 1, 1 / (1 - alpha))


def formula_or_order(rng):
    for k in (4, 5, 7):
        alpha = share(rng, 0.4, 0.8)
        formula = expected_tokens(alpha, k)
        yield alpha, k, round(0.97 * formula, 2), *EXACT
        yield alpha, k, round(0.7 * formula, 2), *EXACT
        yield 0.75, k, between(expected_tokens(0.75, k), 4.0), *EXACT
    yield 0.9, 7, 6.5, *EXACT


@audit.group("the formula or an order", weight=2, cases=formula_or_order)
def test_audit_formula_or_order(student, solution, args):
    audit.assert_same(student, solution, args, hint=EXPLAINS)


def limits(rng):
    for k in (5, 7):
        alpha = share(rng, 0.4, 0.8)
        yield alpha, k, round(1.1 * limit(alpha, k), 2), *EXACT
        yield alpha, k, round(0.99 * limit(alpha, k), 2), *EXACT
    for k in (1, 2, 3, 7):  # 1/(1 - alpha) is above K + 1
        yield 0.9, k, round(1.1 * (k + 1), 2), *EXACT
        yield 0.9, k, between(expected_tokens(0.9, k), k + 1), *EXACT
    yield 1.0, 3, 4.2, *EXACT


@audit.group("the limit: 1/(1 - alpha), and K + 1", weight=2, cases=limits)
def test_audit_limits(student, solution, args):
    audit.assert_same(student, solution, args, hint=EXPLAINS)


def rounded(rng):
    yield 0.75, 5, 3.3, 0.0, 0.05  # the formula gives 3.288
    yield 0.75, 5, 3.3, 0.005, 0.0
    yield 0.75, 5, 4.03, 0.0, 0.05  # the limit is 4
    yield 0.75, 5, 4.05, 0.005, 0.0
    yield 0.75, 5, 4.3, 0.005, 0.05
    yield 0.65, 5, 3.41, 0.005, 0.1  # T5-small, CNNDM
    yield 0.54, 3, 2.17, 0.005, 0.005
    yield 0.9, 7, 6.9, 0.005, 0.05
    yield 0.25, 1, 1.75, 0.25, 0.25  # just what the formula gives
    yield 0.5, 5, 4.5, 0.25, 0.5  # just the limit


@audit.group("the rounding counts in the row's favour", cases=rounded)
def test_audit_rounded(student, solution, args):
    hint = (
        "The row's best case: alpha + alpha_error, and tokens - tokens_error. Just enough is "
        "enough."
    )
    audit.assert_same(student, solution, args, hint, form=True)


implied_alpha = Exercise("implied_alpha")


def rates_to_find(rng):
    for k, draft in ((1, 2.0), (2, 2.0), (3, 0.0), (4, 2.0)):
        tokens = expected_tokens(share(rng, 0.4, 0.8), k)
        yield 10.0, round(10 * tokens - draft * k, 9), draft, k  # numbers of few digits
    yield 1.0, 4.58559, 0.02, 5  # 0.9
    yield 2.0, 7.647146, 0.0, 3  # 0.97


@implied_alpha.group("finds the rate behind a time a token", cases=rates_to_find)
def test_implied_alpha_rates_to_find(student, solution, args):
    hint = "A block takes K draft steps and one target step, and writes E tokens in that time."
    implied_alpha.assert_same(student, solution, args, hint)


def chen(rng):
    for milliseconds in (7.52, 7.0, 5.73):
        yield milliseconds, 14.1, 1.8, 4


@implied_alpha.group("right to 1e-9: the times of Chen et al.", cases=chen)
def test_implied_alpha_chen(student, solution, args):
    hint = "The loop takes 4 x 1.8 + 14.1 ms. Halve sixty times: twenty leave 1e-6."
    implied_alpha.assert_same(student, solution, args, hint, form=True)


def impossible_times(rng):
    for seconds in (8.0, 7.1, 7.0, 2.0, 2.3):
        yield seconds, 7.0, 0.0, 2
    yield 5.0, 7.0, 0.0, 2


@implied_alpha.group("a time that no rate explains is an error", cases=impossible_times)
def test_implied_alpha_impossible_times(student, solution, args):
    hint = "A block of 7 s writes 1 to 3 tokens here, so only 7/3 to 7 s per token have a rate."
    implied_alpha.assert_same(student, solution, args, hint)


read_log = Exercise("read_log")


def assert_part(student, solution, args: tuple, part: int, hint: str) -> None:
    """Raise Different unless one part of the answer is right: the tokens, 0, or the rates, 1."""
    expected, got = read_log.expected_of(solution, args), student.read_log(*args)
    whole = isinstance(got, tuple | list) and len(got) == 2
    if not whole or difference(got[part], expected[part], form=False) is not None:
        call = f"{format_call(student.read_log, args)} returned {describe(got)}"
        raise Different(f"{call}, expected {describe(expected)}.", hint)


def counts(rng):
    yield [70, 55, 42], 87  # llama.cpp's line
    for k in (2, 4, 5):
        falling = rng.choice(np.arange(10, 90), size=k, replace=False)
        yield sorted(falling.tolist(), reverse=True), int(rng.integers(90, 120))


@read_log.group("the tokens per block, corrections and bonus tokens counted", cases=counts)
def test_read_log_tokens(student, solution, args):
    hint = "Every block writes one token more than it accepts."
    assert_part(student, solution, args, 0, hint)


@read_log.group("the rate of the blocks that got there", weight=2, cases=counts)
def test_read_log_rates(student, solution, args):
    hint = "A block gets to a position if it accepted at the one before; all get to the first."
    assert_part(student, solution, args, 1, hint)


def nothing_reached(rng):
    yield [int(rng.integers(2, 9)), 0, 0, 0], 9
    yield [0, 0], 5
    yield [0.74, 0.54, 0.41], 1  # shares
    yield [6], 6


@read_log.group("positions that nothing got to; shares; an array", cases=nothing_reached)
def test_read_log_edges(student, solution, args):
    hint = "Where no block got to, the rate is 0. Shares are a log of one block."
    read_log.assert_same(student, solution, args, hint, form=True)


diagnose = Exercise("diagnose")
IDEALS = "Try k + 1 tokens, a draft of 0 ms and a verification of target_ms: which helps most?"


def one_part_bad(rng):
    for k in (3, 4, 6):
        target = int(rng.integers(12, 40))
        good, bad = (0.9 * k, 0.04 * target, 1.1 * target), (1.2, 0.8 * target, 4.0 * target)
        for part in range(3):
            tokens, draft, verify = (*good[:part], bad[part], *good[part + 1 :])
            yield round(tokens, 2), k, float(target), round(draft, 1), round(verify, 1)


@diagnose.group("the part whose ideal helps most", weight=2, cases=one_part_bad)
def test_diagnose_one_part_bad(student, solution, args):
    diagnose.assert_same(student, solution, args, IDEALS)


def close_calls(rng):
    yield 2.0, 2, 10.0, 3.0, 14.0  # k + 1 tokens and not k
    yield 2.0, 4, 20.0, 4.0, 30.0  # a verification takes a pass
    yield 3.0, 4, 30.0, 10.0, 40.0  # k draft steps
    yield 4.0, 8, 20.0, 6.0, 40.0  # the draft takes longer than the verification
    yield 2.5, 3, 10.0, 0.0, 25.0  # a draft that costs nothing
    yield 1.5, 1, 3.0, 1.0, 3.0  # acceptance and draft alike
    yield 2.0, 1, 2.0, 1.0, 3.0  # draft and verification alike


@diagnose.group("close calls, and the first of equals", cases=close_calls)
def test_diagnose_close_calls(student, solution, args):
    diagnose.assert_same(student, solution, args, IDEALS)


def around_the_limit(rng):
    yield 3.0, 5, 10.0, 1.0, 15.0  # just 1.5
    yield 2.9, 5, 10.0, 1.0, 15.0
    yield 3.0, 4, 30.0, 6.0, 40.0  # 1.41, better than plain decoding
    yield 3.0, 4, 30.0, 2.0, 40.0


@diagnose.group('"fine" from 1.5 on', cases=around_the_limit)
def test_diagnose_around_the_limit(student, solution, args):
    hint = "The speed-up is tokens_per_block * target_ms / (k * draft_ms + verify_ms)."
    diagnose.assert_same(student, solution, args, hint, form=True)
