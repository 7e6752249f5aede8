"""Hidden tests of chapter 05. Points attach to behaviours; see autograde/check.py.

Their numbers stand in numbers/ch05_numbers.py, but for one pair that a behaviour names: the ENDS of
a rate are 0 and 1.
"""

import pytest

from autograde.chapters.ch05_wrong import WRONG  # noqa: F401  known to the grader by this name
from autograde.chapters.common import expect, expect_form, prediction, quiz
from autograde.chapters.expected import ch05_expected as expected
from autograde.chapters.numbers import ch05_numbers as numbers
from autograde.chapters.parametrized import Exercise
from autograde.check import untouched
from specdec_lib.lessons.ch05 import quizzes
from specdec_lib.lessons.common.examples import expect_value_error

ENDS = [0.0, 1.0]

test_prediction = prediction("prediction_05", 0, 1)
test_prediction_b = prediction("prediction_05_b", 0, 8)
test_prediction_c = prediction("prediction_05_c", 1, 6)
test_prediction_d = prediction("prediction_05_d", 0, 4)
test_prediction_e = prediction("prediction_05_e", 0, 1)
test_prediction_f = prediction("prediction_05_f", 0, 100_000)
test_quiz = quiz(quizzes.quiz_05)
test_quiz_b = quiz(quizzes.quiz_05_b)


alpha_from_blocks = Exercise("alpha_from_blocks")
nothing_accepted = alpha_from_blocks.behaviour("nothing accepted is 0, no block is an error")
impossible_counts = alpha_from_blocks.behaviour("counts that no block can have are refused")


def check_alpha(student, accepted, k, hint, compare=expect):
    judged = len(expected.verdicts(accepted, k))
    hint = f"Accepted are {sum(accepted)}, judged {judged}. {hint}"
    gives = expected.rate(accepted, k)
    compare(student.alpha_from_blocks, accepted, k, gives=gives, hint=hint)


@alpha_from_blocks.behaviour("accepted over judged, summed over the blocks")
@pytest.mark.parametrize("accepted, k", numbers.BLOCKS)
def test_alpha(student, accepted, k):
    check_alpha(student, accepted, k, "A block stopped after n tokens judged n + 1.")


@alpha_from_blocks.behaviour("whole blocks judge K tokens and reject none")
@pytest.mark.parametrize("accepted, k", numbers.WHOLE_BLOCKS)
def test_alpha_of_whole_blocks(student, accepted, k):
    hint = "A whole block has no rejected token, so it judged K and not K + 1."
    check_alpha(student, accepted, k, hint)


@nothing_accepted
@pytest.mark.parametrize("accepted, k", numbers.NOTHING_ACCEPTED)
def test_alpha_of_nothing_accepted(student, accepted, k):
    check_alpha(student, accepted, k, "Nothing accepted is the rate 0, and no error.")


@nothing_accepted
@pytest.mark.parametrize("accepted, k", numbers.NOTHING_JUDGED)
def test_alpha_of_nothing_judged(student, accepted, k):
    why = "without a block no draft token was judged, so there is no rate"
    expect_value_error(student.alpha_from_blocks, accepted, k, why=why)


@impossible_counts
@pytest.mark.parametrize("accepted, k", numbers.IMPOSSIBLE_COUNTS)
def test_alpha_refuses(student, accepted, k):
    why = f"a count of a block of {k} is from 0 to {k}"
    expect_value_error(student.alpha_from_blocks, accepted, k, why=why)


@impossible_counts
@pytest.mark.parametrize("accepted, k", numbers.LIMITS)
def test_alpha_takes_the_limits(student, accepted, k):
    check_alpha(student, accepted, k, f"0 and {k} are counts that a block can have.", expect_form)
    untouched(student)


operations_factor = Exercise("operations_factor")
target_operations = operations_factor.behaviour("the target's operations: Table 1 of the paper")


def check_operations(student, alpha, c_hat, k, hint, compare=expect):
    hint = f"The block brings {float(expected.tokens(alpha, k)):.4g} tokens. {hint}"
    gives = expected.operations(alpha, c_hat, k)
    compare(student.operations_factor, alpha, c_hat, k, gives=gives, hint=hint)


@target_operations
@pytest.mark.parametrize("alpha, k", numbers.TABLE_1)
def test_operations_of_table_1(student, alpha, k):
    hint = "The target computes K + 1 positions, whatever becomes of them."
    check_operations(student, alpha, numbers.FREE, k, hint)


@operations_factor.behaviour("the draft's operations, K times")
@pytest.mark.parametrize("alpha, c_hat, k", numbers.DRAFT_OPERATIONS)
def test_operations_of_the_draft(student, alpha, c_hat, k):
    hint = "Each of the K draft tokens costs c_hat, in operations of one target token."
    check_operations(student, alpha, c_hat, k, hint)


@operations_factor.behaviour("the ends: alpha 0 and 1, no block, a large draft")
@pytest.mark.parametrize("alpha, c_hat, k", numbers.OPERATIONS_ENDS)
def test_operations_at_the_ends(student, alpha, c_hat, k):
    hint = "At alpha = 1 all K + 1 tokens come, at alpha = 0 one; K = 0 is plain decoding."
    check_operations(student, alpha, c_hat, k, hint, expect_form)


implied_alpha = Exercise("implied_alpha")
published_times = implied_alpha.behaviour("Chen et al., and speed-ups in target steps")
exact_ends = implied_alpha.behaviour("the ends are exactly 0.0 and 1.0")
impossible_times = implied_alpha.behaviour("a time that no rate explains is an error")


def check_implied(student, alpha, target, draft, k, hint="", compare=expect):
    seconds = expected.seconds_a_token(alpha, target, draft, k)
    compare(student.implied_alpha, seconds, target, draft, k, gives=alpha, hint=hint)


@implied_alpha.behaviour("finds the rate behind a time a token")
@pytest.mark.parametrize("alpha, target, draft, k", numbers.IMPLIED)
def test_implied(student, alpha, target, draft, k):
    hint = "A block takes K draft steps and one target step, and brings E tokens in that time."
    check_implied(student, alpha, target, draft, k, hint)


@published_times
@pytest.mark.parametrize("milliseconds", numbers.CHEN_TIMES)
def test_implied_by_chen(student, milliseconds):
    target, draft, k = numbers.CHEN_STEPS
    hint = f"The loop takes {k} x {draft:g} + {target:g} ms."
    gives = expected.root(milliseconds, target, draft, k)
    expect_form(student.implied_alpha, milliseconds, target, draft, k, gives=gives, hint=hint)


@published_times
@pytest.mark.parametrize("alpha, c, k", numbers.SPEEDUPS)
def test_implied_by_a_speedup(student, alpha, c, k):
    hint = "With a target step as the unit c is the draft's time."
    check_implied(student, alpha, numbers.UNIT, c, k, hint)


@exact_ends
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("target, draft, k", numbers.END_STEPS)
def test_implied_ends(student, end, target, draft, k):
    hint = "E is 1 where nothing passes, K + 1 where all does."
    check_implied(student, end, target, draft, k, hint)


@exact_ends
@pytest.mark.parametrize("end", ENDS)
def test_implied_ends_within_rounding(student, end):
    target, draft, k = numbers.NEAR_STEPS
    tokens = expected.beyond(end, k, numbers.NEAR)
    hint = f"E is {tokens!r}: within 1e-9 of an end."
    seconds = (k * draft + target) / tokens
    expect(student.implied_alpha, seconds, target, draft, k, gives=end, hint=hint)


@impossible_times
@pytest.mark.parametrize("seconds", numbers.REFUSED_TIMES)
def test_implied_refuses(student, seconds):
    target, draft, k = numbers.REFUSED_STEPS
    tokens = expected.block_tokens(seconds, target, draft, k)
    why = f"the block of {k} would have brought {tokens:.3g} tokens; it can bring 1 to {k + 1}"
    expect_value_error(student.implied_alpha, seconds, target, draft, k, why=why)


@impossible_times
@pytest.mark.parametrize("alpha", numbers.NEXT_TO_ENDS)
def test_implied_near_the_ends(student, alpha):
    hint = "Near the ends there still is an answer."
    check_implied(student, alpha, *numbers.REFUSED_STEPS, hint)


acceptance_by_class = Exercise("acceptance_by_class")
label_means = acceptance_by_class.behaviour("every label has a mean of its own")
unequal_lists = acceptance_by_class.behaviour("lists of unequal length are an error")


def check_classes(student, accepted, classes, hint, compare=expect):
    gives = expected.share_of_each(accepted, classes)
    compare(student.acceptance_by_class, accepted, classes, gives=gives, hint=hint)


@label_means
@pytest.mark.parametrize("accepted", numbers.VERDICTS)
def test_classes(student, accepted):
    labels = list(numbers.LABELS)
    counts = {label: labels.count(label) for label in labels}
    hint = f"Tokens of each label: {counts}."
    check_classes(student, accepted, labels, hint)


@label_means
def test_classes_of_many(student):
    hint = "The labels are whatever stands in classes."
    check_classes(student, list(numbers.MANY_VERDICTS), list(numbers.MANY_LABELS), hint)


@acceptance_by_class.behaviour("labels of which all or nothing was accepted")
@pytest.mark.parametrize("accepted, classes", numbers.ALL_OR_NOTHING)
def test_classes_at_the_ends(student, accepted, classes):
    hint = "A label of which nothing passed is in the result, with 0."
    check_classes(student, accepted, classes, hint, expect_form)
    untouched(student)


@unequal_lists
@pytest.mark.parametrize("accepted, classes", numbers.UNEQUAL_LISTS)
def test_classes_refuse(student, accepted, classes):
    why = f"{len(accepted)} verdicts cannot have {len(classes)} labels"
    expect_value_error(student.acceptance_by_class, accepted, classes, why=why)


@unequal_lists
@pytest.mark.parametrize("accepted, classes", numbers.EQUAL_LISTS)
def test_classes_of_equal_length(student, accepted, classes):
    check_classes(student, accepted, classes, "Equal lengths are no error, not even 0.")


paired_speedup = Exercise("paired_speedup")
geometric_mean = paired_speedup.behaviour("the geometric mean of the ratios")
missing_partner = paired_speedup.behaviour("no pair, or a run without a partner, is an error")


def check_pairs(student, baseline, speculative, hint, compare=expect):
    ratios = [round(b / s, 3) for b, s in zip(baseline, speculative, strict=True)][:6]
    hint = f"The ratios begin {ratios}. {hint}"
    gives = expected.geometric(baseline, speculative)
    compare(student.paired_speedup, baseline, speculative, gives=gives, hint=hint)


@geometric_mean
@pytest.mark.parametrize("baseline, speculative", numbers.RATIOS)
def test_speedup(student, baseline, speculative):
    hint = "Baseline over speculative, multiplied; then the root of that many factors."
    check_pairs(student, baseline, speculative, hint)
    untouched(student)


@paired_speedup.behaviour("twice as fast and half as fast cancel")
@pytest.mark.parametrize("baseline, speculative", numbers.CANCELLING)
def test_speedups_cancel(student, baseline, speculative):
    check_pairs(student, baseline, speculative, "A ratio and its inverse give 1 together.")


@paired_speedup.behaviour("slow-downs, and texts of unequal length")
@pytest.mark.parametrize("baseline, speculative", numbers.UNEQUAL_TEXTS)
def test_speedup_of_unequal_texts(student, baseline, speculative):
    hint = "Every pair counts alike, the long text no more than the short one; below 1 is slower."
    check_pairs(student, baseline, speculative, hint)


@paired_speedup.behaviour("thousands of pairs")
@pytest.mark.parametrize("ratio, pairs", numbers.MANY_PAIRS)
def test_speedup_of_many_pairs(student, ratio, pairs):
    baseline, speculative = expected.runs_of_one_ratio(ratio, pairs)
    ends = "overflows" if ratio > 1 else "becomes 0"
    hint = f"Each of the {pairs} ratios is {ratio:g}. Average the logarithms: the product {ends}."
    gives = expected.geometric(baseline, speculative)
    expect(student.paired_speedup, baseline, speculative, gives=gives, hint=hint)


@missing_partner
@pytest.mark.parametrize("baseline, speculative", numbers.WITHOUT_PARTNER)
def test_speedup_refuses(student, baseline, speculative):
    why = f"there are {len(baseline)} and {len(speculative)} runs"
    expect_value_error(student.paired_speedup, baseline, speculative, why=why)


@missing_partner
@pytest.mark.parametrize("baseline, speculative", numbers.FEW_PAIRS)
def test_speedup_of_a_few(student, baseline, speculative):
    check_pairs(student, baseline, speculative, "One pair is enough.", expect_form)
