"""Hidden tests of chapter 05. Points attach to behaviours; see autograde/check.py."""

import math

import numpy as np
import pytest

from autograde.chapters.common import expect, expect_form, prediction, quiz
from autograde.check import Exercise, untouched
from specdec_lib.lessons.ch05 import quizzes
from specdec_lib.lessons.common.examples import expect_value_error


def tokens_a_block(alpha: float, k: int) -> float:
    """1 + alpha + ... + alpha^k: Leviathan et al. (2023), Equation 1."""
    return sum(alpha**i for i in range(k + 1))


test_prediction = prediction("prediction_05", 0, 1)
test_prediction_b = prediction("prediction_05_b", 0, 8)
test_prediction_c = prediction("prediction_05_c", 1, 6)
test_prediction_d = prediction("prediction_05_d", 0, 4)
test_prediction_e = prediction("prediction_05_e", 0, 1)
test_prediction_f = prediction("prediction_05_f", 0, 100_000)
test_quiz = quiz(quizzes.quiz_05)
test_quiz_b = quiz(quizzes.quiz_05_b)


alpha_from_blocks = Exercise("alpha_from_blocks")
nothing_accepted = alpha_from_blocks.behaviour("nothing accepted is 0, nothing judged is an error")
impossible_counts = alpha_from_blocks.behaviour("counts that no block can have are refused")


def counts(blocks: int, k: int, seed: int) -> list[int]:
    """Accepted counts from 0 to k, all of them drawn alike."""
    return np.random.default_rng(seed).integers(0, k + 1, blocks).tolist()


def check_alpha(student, accepted, k, hint, compare=expect):
    judged = sum(min(n + 1, k) for n in accepted)
    hint = f"Accepted are {sum(accepted)}, judged {judged}. {hint}"
    compare(student.alpha_from_blocks, accepted, k, gives=sum(accepted) / judged, hint=hint)


@alpha_from_blocks.behaviour("accepted over judged, summed over the blocks")
@pytest.mark.parametrize(
    "accepted, k",
    [
        ([4, 0, 2, 4, 1, 3], 4),
        ([0, 1, 0, 2, 0], 5),
        ([1], 3),
        ([0, 0, 0, 4], 5),
        *((counts(blocks, k, seed=blocks), k) for blocks, k in ((7, 3), (30, 5), (200, 8))),
    ],
)
def test_alpha(student, accepted, k):
    check_alpha(student, accepted, k, "A block stopped after n tokens judged n + 1.")


@alpha_from_blocks.behaviour("whole blocks judge K tokens and reject none")
@pytest.mark.parametrize(
    "accepted, k", [([3, 3], 3), ([3, 3, 0], 3), ([1, 0, 1, 1], 1), ([0, 0], 1), ([5, 4, 5], 5)]
)
def test_alpha_of_whole_blocks(student, accepted, k):
    hint = "A whole block has no rejected token, so it judged K and not K + 1."
    check_alpha(student, accepted, k, hint)


@nothing_accepted
@pytest.mark.parametrize("accepted, k", [([0], 1), ([0, 0, 0], 4)])
def test_alpha_of_nothing_accepted(student, accepted, k):
    check_alpha(student, accepted, k, "Nothing accepted is the rate 0, and no error.")


@nothing_accepted
@pytest.mark.parametrize("accepted, k", [([], 4), ([0, 0], 0), ([], 0)])
def test_alpha_of_nothing_judged(student, accepted, k):
    why = "no draft token was judged, so there is no rate"
    expect_value_error(student.alpha_from_blocks, accepted, k, why=why)


@impossible_counts
@pytest.mark.parametrize("accepted, k", [([2, 5], 4), ([5, 0, 0, 0, 0], 4), ([-1, 3], 4)])
def test_alpha_refuses(student, accepted, k):
    why = f"a count of a block of {k} is from 0 to {k}"
    expect_value_error(student.alpha_from_blocks, accepted, k, why=why)


@impossible_counts
@pytest.mark.parametrize("accepted, k", [([2, 4], 4), ([0, 3], 4)])
def test_alpha_takes_the_limits(student, accepted, k):
    check_alpha(student, accepted, k, f"0 and {k} are counts that a block can have.", expect_form)
    untouched(student)


operations_factor = Exercise("operations_factor")
target_operations = operations_factor.behaviour("the target's operations: Table 1 of the paper")


def check_operations(student, alpha, c_hat, k, hint, compare=expect):
    gives = (c_hat * k + k + 1) / tokens_a_block(alpha, k)
    hint = f"The block brings {tokens_a_block(alpha, k):.4g} tokens. {hint}"
    compare(student.operations_factor, alpha, c_hat, k, gives=gives, hint=hint)


@target_operations
@pytest.mark.parametrize(
    "alpha, k", [(0.6, 2), (0.7, 3), (0.8, 2), (0.8, 5), (0.9, 2), (0.9, 10), (0.35, 4)]
)
def test_operations_of_table_1(student, alpha, k):
    hint = "The target computes K + 1 positions, whatever becomes of them."
    check_operations(student, alpha, 0.0, k, hint)


@operations_factor.behaviour("the draft's operations, K times", after=[target_operations])
@pytest.mark.parametrize(
    "alpha, c_hat, k",
    [(0.5, 0.25, 2), (0.8, 0.007, 7), (0.62, 0.02, 5), (0.9, 1.0, 3), (0.75, 0.5, 1)],
)
def test_operations_of_the_draft(student, alpha, c_hat, k):
    hint = "Each of the K draft tokens costs c_hat, in operations of one target token."
    check_operations(student, alpha, c_hat, k, hint)


@operations_factor.behaviour("the ends: alpha 0 and 1, no block, a large draft")
@pytest.mark.parametrize(
    "alpha, c_hat, k",
    [(0.0, 0.1, 4), (1.0, 0.1, 4), (1.0, 0.0, 7), (0.7, 0.3, 0), (0.0, 0.0, 3), (0.5, 2.0, 3)],
    ids=["alpha 0", "alpha 1", "alpha 1, c_hat 0", "K = 0", "c_hat 0", "c_hat above 1"],
)
def test_operations_at_the_ends(student, alpha, c_hat, k):
    hint = "At alpha = 1 all K + 1 tokens come, at alpha = 0 one; K = 0 is plain decoding."
    check_operations(student, alpha, c_hat, k, hint, expect_form)


implied_alpha = Exercise("implied_alpha")
published_times = implied_alpha.behaviour("Chen et al., and speed-ups in target steps")
exact_ends = implied_alpha.behaviour("the ends are exactly 0.0 and 1.0")
impossible_times = implied_alpha.behaviour("a time that no rate explains is an error")


def check_implied(student, alpha, target, draft, k, hint="", compare=expect):
    seconds = (k * draft + target) / tokens_a_block(alpha, k)
    compare(student.implied_alpha, seconds, target, draft, k, gives=alpha, hint=hint)


@implied_alpha.behaviour("finds the rate behind a time a token")
@pytest.mark.parametrize(
    "alpha, target, draft, k",
    [
        (0.5, 5.0, 1.0, 2),
        (0.8, 14.1, 1.8, 4),
        (0.35, 1.0, 0.02, 7),
        (0.62, 0.03, 0.001, 5),
        (0.05, 2.0, 0.25, 3),
        (0.97, 2.0, 0.0, 8),
        (0.7, 1.0, 0.5, 1),
    ],
)
def test_implied(student, alpha, target, draft, k):
    hint = "A block takes K draft steps and one target step, and brings E tokens in that time."
    check_implied(student, alpha, target, draft, k, hint)


# 4 draft steps of 1.8 ms and a target step of 14.1 over the printed times a token; the roots of
# 1 + a + ... + a^4 = 21.3 / time.
CHEN = [(7.52, 0.7111764615568964), (7.0, 0.7486491597645637), (5.73, 0.8511790372108481)]


@published_times
@pytest.mark.parametrize("milliseconds, alpha", CHEN)
def test_implied_by_chen(student, milliseconds, alpha):
    hint = "The loop takes 4 x 1.8 + 14.1 ms."
    expect_form(student.implied_alpha, milliseconds, 14.1, 1.8, 4, gives=alpha, hint=hint)


@published_times
@pytest.mark.parametrize("alpha, c, k", [(0.75, 0.02, 7), (0.53, 0.04, 3)])
def test_implied_by_a_speedup(student, alpha, c, k):
    check_implied(
        student, alpha, 1.0, c, k, "With a target step as the unit c is the draft's time."
    )


@exact_ends
@pytest.mark.parametrize("end", [0.0, 1.0])
@pytest.mark.parametrize("target, draft, k", [(5.0, 1.0, 2), (14.1, 1.8, 4), (1.0, 0.11, 7)])
def test_implied_ends(student, end, target, draft, k):
    check_implied(
        student, end, target, draft, k, "E is 1 where nothing passes, K + 1 where all does."
    )


@exact_ends
@pytest.mark.parametrize("end, tokens", [(0.0, 1 - 5e-11), (1.0, 5 + 5e-11)])
def test_implied_ends_within_rounding(student, end, tokens):
    hint = f"E is {tokens!r}: within 1e-9 of an end."
    expect(student.implied_alpha, 21.3 / tokens, 14.1, 1.8, 4, gives=end, hint=hint)


@impossible_times
@pytest.mark.parametrize(
    "seconds, tokens", [(8.0, "0.875"), (7.1, "0.986"), (2.0, "3.5"), (2.3, "3.04")]
)
def test_implied_refuses(student, seconds, tokens):
    why = f"the block of 2 would have brought {tokens} tokens; it can bring 1 to 3"
    expect_value_error(student.implied_alpha, seconds, 5.0, 1.0, 2, why=why)


@impossible_times
@pytest.mark.parametrize("alpha", [0.01, 0.99])
def test_implied_near_the_ends(student, alpha):
    check_implied(student, alpha, 5.0, 1.0, 2, "Near the ends there still is an answer.")


acceptance_by_class = Exercise("acceptance_by_class")
label_means = acceptance_by_class.behaviour("every label has a mean of its own")
unequal_lists = acceptance_by_class.behaviour("lists of unequal length are an error")

# Counts of two, four and eight: every mean is exact, in whatever order it is summed.
LABELS = ["name", "space", "name", "space", "space", "space"]


def check_classes(student, accepted, classes, gives, hint="", compare=expect):
    compare(student.acceptance_by_class, accepted, classes, gives=gives, hint=hint)


@label_means
@pytest.mark.parametrize(
    "accepted, gives",
    [
        ([1, 1, 0, 1, 1, 0], {"name": 0.5, "space": 0.75}),
        ([0, 1, 1, 0, 0, 0], {"name": 0.5, "space": 0.25}),
        ([1, 0, 1, 1, 1, 0], {"name": 1.0, "space": 0.5}),
    ],
)
def test_classes(student, accepted, gives):
    hint = "Two verdicts belong to name, four to space."
    check_classes(student, accepted, list(LABELS), gives, hint)


@label_means
def test_classes_of_many(student):
    classes = ["a"] * 8 + ["b", "c"] * 4 + ["d"] * 2
    accepted = [1, 0, 0, 0, 0, 0, 0, 0] + [1, 0, 1, 0, 1, 1, 0, 1] + [0, 1]
    gives = {"a": 0.125, "b": 0.75, "c": 0.5, "d": 0.5}
    check_classes(student, accepted, classes, gives, "The labels are whatever stands in classes.")


@acceptance_by_class.behaviour("labels of which all or nothing was accepted")
@pytest.mark.parametrize(
    "accepted, classes, gives",
    [
        ([0, 0], ["x", "x"], {"x": 0.0}),
        ([1, 0, 0, 1], ["x", "y", "y", "x"], {"x": 1.0, "y": 0.0}),
        ([0], ["rare"], {"rare": 0.0}),
        ([1, 0, 0], ["", "x", "x"], {"": 1.0, "x": 0.0}),
    ],
    ids=["nothing", "all and nothing", "one token", "an empty label"],
)
def test_classes_at_the_ends(student, accepted, classes, gives):
    hint = "A label of which nothing passed is in the result, with 0."
    check_classes(student, accepted, classes, gives, hint, expect_form)
    untouched(student)


@unequal_lists
@pytest.mark.parametrize(
    "accepted, classes", [([1, 0], ["x"]), ([1], ["x", "y"]), ([], ["x"]), ([1, 1, 1], [])]
)
def test_classes_refuse(student, accepted, classes):
    why = f"{len(accepted)} verdicts cannot have {len(classes)} labels"
    expect_value_error(student.acceptance_by_class, accepted, classes, why=why)


@unequal_lists
@pytest.mark.parametrize(
    "accepted, classes, gives", [([1], ["x"], {"x": 1.0}), ([], [], {})], ids=["one", "none"]
)
def test_classes_of_equal_length(student, accepted, classes, gives):
    check_classes(student, accepted, classes, gives, "Equal lengths are no error, not even 0.")


paired_speedup = Exercise("paired_speedup")
geometric_mean = paired_speedup.behaviour("the geometric mean of the ratios")
missing_partner = paired_speedup.behaviour("no pair, or a run without a partner, is an error")


def geometric(baseline, speculative):
    logs = [math.log(b / s) for b, s in zip(baseline, speculative, strict=True)]
    return math.exp(math.fsum(logs) / len(logs))


def check_pairs(student, baseline, speculative, hint, compare=expect):
    ratios = [round(b / s, 3) for b, s in zip(baseline, speculative, strict=True)][:6]
    hint = f"The ratios begin {ratios}. {hint}"
    gives = geometric(baseline, speculative)
    compare(student.paired_speedup, baseline, speculative, gives=gives, hint=hint)


@geometric_mean
@pytest.mark.parametrize(
    "baseline, speculative",
    [
        ([2.0, 8.0], [1.0, 1.0]),
        ([1.0, 1.0, 1.0], [0.5, 0.8, 0.4]),
        ([3.0, 1.5, 0.9, 2.2], [1.1, 1.0, 0.8, 0.7]),
        ([4.0], [2.5]),
    ],
)
def test_speedup(student, baseline, speculative):
    hint = "Baseline over speculative, multiplied; then the root of that many factors."
    check_pairs(student, baseline, speculative, hint)
    untouched(student)


@paired_speedup.behaviour("twice as fast and half as fast cancel", after=[geometric_mean])
@pytest.mark.parametrize(
    "baseline, speculative",
    [
        ([2.0, 1.0], [1.0, 2.0]),
        ([1.0, 8.0, 1.0], [2.0, 1.0, 4.0]),
        ([10.0, 0.1, 27.0], [1.0, 1.0, 1.0]),
        ([2.0, 1.0, 1.0], [1.0, 2.0, 8.0]),
    ],
)
def test_speedups_cancel(student, baseline, speculative):
    check_pairs(student, baseline, speculative, "A ratio and its inverse give 1 together.")


@paired_speedup.behaviour("slow-downs, and texts of unequal length", after=[geometric_mean])
@pytest.mark.parametrize(
    "baseline, speculative",
    [([1.0, 1.0], [1.25, 1.6]), ([100.0, 1.0], [50.0, 1.0]), ([1.0, 100.0, 2.0], [2.0, 80.0, 1.0])],
    ids=["slower", "one long text", "a long text in the middle"],
)
def test_speedup_of_unequal_texts(student, baseline, speculative):
    hint = "Every pair counts alike, the long text no more than the short one; below 1 is slower."
    check_pairs(student, baseline, speculative, hint)


@paired_speedup.behaviour("thousands of pairs", after=[geometric_mean])
@pytest.mark.parametrize("ratio, pairs", [(8.0, 2000), (0.125, 2000), (1.5, 3000)])
def test_speedup_of_many_pairs(student, ratio, pairs):
    speculative = [0.5 + (i % 7) / 7 for i in range(pairs)]
    baseline = [ratio * seconds for seconds in speculative]
    hint = (
        f"Each of the {pairs} ratios is {ratio:g}. Average the logarithms: the product overflows."
    )
    expect(student.paired_speedup, baseline, speculative, gives=ratio, hint=hint)


@missing_partner
@pytest.mark.parametrize(
    "baseline, speculative", [([], []), ([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0]), ([], [1.0])]
)
def test_speedup_refuses(student, baseline, speculative):
    why = f"there are {len(baseline)} and {len(speculative)} runs"
    expect_value_error(student.paired_speedup, baseline, speculative, why=why)


@missing_partner
@pytest.mark.parametrize("baseline, speculative", [([3.0], [1.5]), ([3.0, 1.0], [1.5, 0.5])])
def test_speedup_of_a_few(student, baseline, speculative):
    check_pairs(student, baseline, speculative, "One pair is enough.", expect_form)
