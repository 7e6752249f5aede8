"""Hidden tests of chapter 05: test groups and known bugs; see autograde/check.py."""

import numpy as np

from autograde.chapters.common import Exercise, prediction, quiz
from autograde.chapters.distributions import hundredths
from specdec_lib.lessons.common.comparing import difference
from specdec_lib.lessons.common.describing import describe
from specdec_lib.lessons.common.examples import Different
from specdec_lib.theory import expected_tokens

prediction_05 = prediction("prediction_05", 0, 1)
prediction_05_b = prediction("prediction_05_b", 0, 8)
prediction_05_c = prediction("prediction_05_c", 1, 6)
prediction_05_d = prediction("prediction_05_d", 0, 4)
prediction_05_e = prediction("prediction_05_e", 0, 1)
prediction_05_f = prediction("prediction_05_f", 0, 100_000)
quiz_05 = quiz("quiz_05")
quiz_05_b = quiz("quiz_05_b")


alpha_from_blocks = Exercise("alpha_from_blocks")


@alpha_from_blocks.group(
    "accepted over judged, summed over the blocks",
    hint="A block that stopped after n tokens judged n + 1.",
)
def stopped_blocks(rng):
    for k in (3, 4, 6):
        yield [0, 2, *rng.integers(k, size=k).tolist()], k
    yield rng.permutation([7, *rng.integers(8, size=20)]).tolist(), 8


@alpha_from_blocks.group(
    "whole blocks judge K tokens and reject none",
    hint="A whole block has no rejected token, so it judged K and not K + 1.",
)
def whole_blocks(rng):
    yield [4, 0, 2, 4, 1, 3], 4  # the chapter's six blocks
    yield [3, 3], 3
    yield [1, 0, 1, 1], 1
    for k in (3, 5):
        yield rng.permutation([k, k, 0, *rng.integers(k + 1, size=3)]).tolist(), k


@alpha_from_blocks.group(
    "nothing accepted is 0, no block is an error",
    hint="Nothing accepted is the rate 0; without a block nothing was judged.",
)
def nothing_accepted(rng):
    for blocks in (1, int(rng.integers(2, 6)), 0):
        yield [0] * blocks, 4


@alpha_from_blocks.group(
    "counts that no block can have are refused", form=True, hint="A count is from 0 to k."
)
def impossible_counts(rng):
    for accepted in ([2, 5], [5, 0, 0, 0, 0], [-1, 3], [3]):
        yield accepted, 4


alpha_from_blocks.bug(
    "sum(min(n + 1, k) for n in accepted)",
    "(k * len(accepted))",
    think="every drafted token is a trial.",
    because="a draft token behind a rejection was never judged, so it says nothing about alpha.",
)
alpha_from_blocks.bug(
    "min(n + 1, k)",
    "n + 1",
    think="every block has one rejected token.",
    because="a block that is accepted whole has none: it judged K tokens, not K + 1.",
)
alpha_from_blocks.bug(
    "sum(accepted) / sum(min(n + 1, k) for n in accepted)",
    "sum(n / min(n + 1, k) for n in accepted) / len(accepted)",
    think="alpha is the average of the blocks' own rates.",
    because="a block that judged one token then counts as much as one that judged five.",
)
alpha_from_blocks.bug(
    "if not accepted or",
    "if not accepted:\n        return 0.0\n    if",
    think="the rate is 0 if there is no block.",
    because="0 would say that the draft is useless; without a trial nothing is known.",
)
alpha_from_blocks.bug(
    "not accepted or min(accepted) < 0 or max(accepted) > k",
    "not accepted",
    think="the counts need no check, since whoever recorded them knew K.",
    because="a count above K belongs to another K, and the result is wrong without a word.",
)


operations_factor = Exercise("operations_factor")


@operations_factor.group(
    "the target's operations: Table 1 of the paper",
    hint="The target computes K + 1 positions, whatever becomes of them.",
)
def table_1(rng):
    for alpha, k in ((0.6, 2), (0.7, 3), (0.8, 2), (0.8, 5), (0.9, 2), (0.9, 10)):
        yield alpha, 0.0, k
    yield hundredths(30, 90, rng), 0.0, 4


@operations_factor.group(
    "the draft's operations, K times",
    hint="Each of the K draft tokens costs c_hat, in operations of one target token.",
)
def with_a_draft(rng):
    for k in (2, 3, 5, 7):
        yield hundredths(30, 90, rng), hundredths(1, 99, rng), k


@operations_factor.group(
    "the ends: alpha 0 and 1, no block, a large draft",
    form=True,
    hint="At alpha = 1 all K + 1 tokens come, at alpha = 0 one; K = 0 is plain decoding.",
)
def operations_ends(rng):
    yield from ((0.0, 0.1, 4), (1.0, 0.1, 4), (1.0, 0.0, 7), (0.7, 0.3, 0), (0.5, 2.0, 3))


operations_factor.bug(
    " / expected_tokens(alpha, k)",
    "",
    think="the operations of a block are the answer.",
    because="a block brings several tokens, and the factor is for one of them.",
)
operations_factor.bug(
    "c_hat * k + k + 1",
    "c_hat * k + k",
    think="the target computes the K draft tokens only.",
    because="it computes K + 1 positions: the token before the block is fed as well.",
)
operations_factor.bug(
    "c_hat * k + k + 1",
    "c_hat * k + 1",
    think="a verification counts as one pass.",
    because="it takes the operations of K + 1 tokens, even where it takes the time of one.",
)
operations_factor.bug(
    "c_hat * k + k + 1",
    "k + 1",
    think="the draft is too small to matter.",
    because="it works once for each of the K draft tokens, and its costs are an argument.",
)


implied_alpha = Exercise("implied_alpha")


def clock(alpha: float, target: float, draft: float, k: int, more: float = 0) -> tuple:
    """The arguments that `alpha` explains, if a block brings `more` tokens than it promises."""
    seconds = (k * draft + target) / (expected_tokens(alpha, k) + more)
    return round(seconds, 12), target, draft, k


@implied_alpha.group(
    "finds the rate behind a time a token",
    hint="A block takes K draft steps and one target step, and brings E tokens in that time.",
)
def rates_to_find(rng):
    for k, draft in ((1, 2.0), (2, 2.0), (3, 0.0), (4, 2.0)):
        tokens = expected_tokens(hundredths(30, 90, rng), k)
        yield 10.0, round(10 * tokens - draft * k, 9), draft, k  # numbers of few digits
    yield 1.0, 4.58559, 0.02, 5  # 0.9
    yield 2.0, 7.647146, 0.0, 3  # 0.97


@implied_alpha.group(
    "right to 1e-9: the times of Chen et al.",
    form=True,
    hint="The loop takes 4 x 1.8 + 14.1 ms. Numbers are compared to 1e-9.",
)
def chen(rng):
    for milliseconds in (7.52, 7.0, 5.73):
        yield milliseconds, 14.1, 1.8, 4


@implied_alpha.group(
    "the ends are exactly 0.0 and 1.0",
    hint="0.0 is only for E within 1e-9 of 1, and 1.0 for E within 1e-9 of K + 1.",
)
def exact_ends(rng):
    for target, draft, k in ((5.0, 1.0, 2), (14.1, 1.8, 4), (1.0, 0.11, 7)):
        yield clock(0.0, target, draft, k)
        yield clock(1.0, target, draft, k)
    yield clock(0.0, 14.1, 1.8, 4, more=-5e-11)
    yield clock(1.0, 14.1, 1.8, 4, more=5e-11)
    for alpha in (0.01, 0.99, 5e-6, 1 - 5e-6):
        yield clock(alpha, 5.0, 1.0, 2)


@implied_alpha.group(
    "a time that no rate explains is an error",
    hint="A block of 7 s brings 1 to 3 tokens here, so only 7/3 to 7 s a token have a rate.",
)
def impossible_times(rng):
    for seconds in (8.0, 7.1, 2.0, 2.3):
        yield seconds, 7.0, 0.0, 2
    yield 7.0, 7.0, 0.0, 2


implied_alpha.bug(
    "expected_tokens(middle, k)",
    "expected_tokens(middle, k - 1)",
    think="a block of K brings at most K tokens.",
    because="the bonus token makes it K + 1; without it every time implies too high a rate.",
)
implied_alpha.bug(
    "low, high = 0.0, 1.0",
    "return (wanted - 1) / k",
    think="alpha is the share of the K draft tokens that were accepted.",
    because="that counts the tokens that were never judged as failures, so it is below alpha.",
)
implied_alpha.bug(
    "k * draft_seconds + target_seconds",
    "target_seconds",
    think="the draft is too small to matter.",
    because="with Chen et al. a third of the loop is drafting: 7.2 of 21.3 ms.",
)
implied_alpha.bug(
    "k * draft_seconds",
    "draft_seconds",
    think="the draft runs once a block.",
    because="it runs once for each of the K tokens, one after the other.",
)
implied_alpha.bug(
    'raise ValueError(f"a block of {k} brings 1 to {k + 1} tokens, not {wanted:.3g}")',
    "return 0.0 if wanted < 1 else 1.0",
    think="a time outside the range means that alpha is 0 or 1.",
    because="no alpha explains such a time, and an answer hides that something else costs time.",
)
for _old, _new in (
    ("return low", "return round(low, 2)"),
    ("return low", "return round(low, 4)"),
    ("range(60)", "range(20)"),
):
    implied_alpha.bug(
        _old,
        _new,
        think="a few decimals are enough.",
        because="a printed table is rounded; a function that others build on is right to 1e-9.",
    )


acceptance_by_class = Exercise("acceptance_by_class")


def judged(counts: dict[str, int], rng: np.random.Generator) -> tuple[list[int], list[str]]:
    """Verdicts and labels in random order; of every label some tokens pass, and some do not."""
    passed = {label: rng.integers(1, count) for label, count in counts.items()}
    tokens = [(int(i < passed[label]), label) for label in counts for i in range(counts[label])]
    mixed = [tokens[i] for i in rng.permutation(len(tokens))]
    return [verdict for verdict, _ in mixed], [label for _, label in mixed]


@acceptance_by_class.group(
    "every label has a mean of its own",
    hint="The labels are whatever stands in classes; each has the mean of its own tokens.",
)
def label_means(rng):
    yield [1, 1, 0, 1, 1, 0], ["name", "space", "name", "space", "space", "space"]
    for count in (3, 5, 8):
        yield judged({"name": 2, "space": 4, "keyword": count}, rng)


@acceptance_by_class.group(
    "labels of which all or nothing was accepted",
    form=True,
    hint="A label of which nothing passed is in the result, with 0.",
)
def all_or_nothing(rng):
    yield [0, 0], ["x", "x"]
    yield [1, 0, 0, 1], ["x", "y", "y", "x"]
    yield [1, 0, 0, 0], ["x", "", "x", "x"]


@acceptance_by_class.group(
    "lists of unequal length are an error",
    hint="Each verdict has one label. Two empty lists are of equal length.",
)
def lengths(rng):
    for accepted, classes in (([1, 0], "x"), ([1], "xy"), ([], "x"), ([1], "x"), ([], "")):
        yield accepted, list(classes)


acceptance_by_class.bug(
    "sum(each) / len(each)",
    "sum(each) / len(accepted)",
    think="all labels have the same denominator, the number of tokens.",
    because="a rare label then has a low rate, whatever was accepted of it.",
)
acceptance_by_class.bug(
    "sum(each) / len(each)",
    "float(sum(each))",
    think="it is enough to count the accepted tokens.",
    because="a frequent label has many accepted tokens and may have a low rate.",
)
acceptance_by_class.bug(
    "in verdicts.items()",
    "in verdicts.items() if any(each)",
    think="a label of which nothing was accepted need not be listed.",
    because="its rate is 0, which is a result; left out, it looks as if it had never come up.",
)
acceptance_by_class.bug(
    "strict=True",
    "strict=False",
    think="zip takes care of the lengths.",
    because="it stops at the shorter list without a word, and the labels may be shifted.",
)


paired_speedup = Exercise("paired_speedup")


@paired_speedup.group(
    "the geometric mean of the ratios",
    hint="Multiply baseline over speculative of all pairs; take the root of so many factors.",
)
def geometric_mean(rng):
    yield [2.0, 8.0], [1.0, 1.0]
    yield [100.0, 1.0], [50.0, 1.0]  # one long text
    yield [1.0, 1.0, 1.0], [1.25, 1.6, 2.0]  # slower
    for count in (2, 3, 4, 5):
        seconds = rng.integers(5, 100, size=(2, count)) / 10
        yield tuple(seconds.tolist())


@paired_speedup.group(
    "twice as fast and half as fast cancel", hint="A ratio and its inverse give 1 together."
)
def cancelling(rng):
    ratio = float(rng.integers(2, 10))
    yield [ratio, 1.0], [1.0, ratio]
    yield [1.0, 8.0, 1.0], [2.0, 1.0, 4.0]
    yield [2.0, 1.0, 1.0], [1.0, 2.0, 8.0]


@paired_speedup.check("thousands of pairs")
def many_pairs(student, solution, rng):
    for ratio, count in ((8.0, 2000), (0.125, 2000), (1.5, 3000)):
        got = student.paired_speedup([ratio] * count, [1.0] * count)
        if difference(got, ratio, form=False) is not None:
            raise Different(
                f"paired_speedup of {count} pairs, each with the ratio {ratio}, returned "
                f"{describe(got)}. Average the logarithms: no float holds the product."
            )


@paired_speedup.group(
    "no pair, or a run without a partner, is an error",
    form=True,
    hint="Every run needs a partner, and one pair is enough.",
)
def partners(rng):
    yield from (([], []), ([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0]), ([], [1.0]), ([3.0], [1.5]))


paired_speedup.bug(
    "np.exp(np.mean(np.log(ratios)))",
    "np.mean(ratios)",
    think="the mean of the ratios is their sum over their number.",
    because="then 2 and 1/2 give 1.25, and so do 1/2 and 2: both sides would be faster.",
)
paired_speedup.bug(
    "np.exp(np.mean(np.log(ratios)))",
    "np.sum(baseline_seconds) / np.sum(speculative_seconds)",
    think="the total times can be divided.",
    because="the longest text then decides alone; every pair should count alike.",
)
paired_speedup.bug(
    "np.array(baseline_seconds) / np.array(speculative_seconds)",
    "np.array(speculative_seconds) / np.array(baseline_seconds)",
    think="a speed-up is the new time over the old.",
    because="that is below 1 where it is faster; it is baseline over speculative.",
)
paired_speedup.bug(
    "np.exp(np.mean(np.log(ratios)))",
    "np.prod(ratios) ** (1 / len(ratios))",
    think="the product of all ratios can be taken first, then the root.",
    because="thousands of factors overflow a float, or vanish; sums of logarithms do neither.",
)
paired_speedup.bug(
    "if len(baseline_seconds) != len(speculative_seconds) or len(baseline_seconds) == 0",
    "n = min(len(baseline_seconds), len(speculative_seconds))\n"
    "    baseline_seconds, speculative_seconds = baseline_seconds[:n], speculative_seconds[:n]\n"
    "    if n == 0",
    think="a run without a partner can be skipped.",
    because="if one is missing, nobody knows which: from there on all pairs may be shifted.",
)
