"""Known wrong answers of chapter 05, each with its refutation."""

import numpy as np

from autograde.chapters.parametrized import Misconceptions

WRONG = Misconceptions()


alpha_from_blocks = WRONG.exercise("alpha_from_blocks")


def _refuse(accepted, k):
    """The errors of the right answer, for wrong answers that err elsewhere."""
    if len(accepted) == 0 or min(accepted) < 0 or max(accepted) > k:
        raise ValueError("these are no counts of such blocks")


@alpha_from_blocks.wrong(
    think="every drafted token is a trial.",
    because="what stands behind a rejection was never looked at, so it says nothing about alpha.",
)
def accepted_by_drafted(accepted, k):
    _refuse(accepted, k)
    return sum(accepted) / (k * len(accepted))


@alpha_from_blocks.wrong(
    think="every block has one rejected token.",
    because="a block that is accepted whole has none: it judged K tokens, not K + 1.",
)
def whole_blocks_reject(accepted, k):
    _refuse(accepted, k)
    return sum(accepted) / sum(n + 1 for n in accepted)


@alpha_from_blocks.wrong(
    think="every block has a rate, and alpha is their average.",
    because="a block that judged one token then counts as much as one that judged five.",
)
def mean_of_block_rates(accepted, k):
    _refuse(accepted, k)
    return sum(n / min(n + 1, k) for n in accepted) / len(accepted)


@alpha_from_blocks.wrong(
    think="the acceptance rate is the mean number of tokens in a block.",
    because="that is the acceptance length; a rate lies between 0 and 1.",
)
def acceptance_length(accepted, k):
    _refuse(accepted, k)
    return sum(accepted) / len(accepted) + 1


@alpha_from_blocks.wrong(
    think="the bonus token is one more accepted token.",
    because="it is the target's own: no draft token was proposed there, so none was judged.",
)
def bonus_counted(accepted, k):
    _refuse(accepted, k)
    whole = sum(n == k for n in accepted)
    return (sum(accepted) + whole) / (sum(min(n + 1, k) for n in accepted) + whole)


@alpha_from_blocks.wrong(
    think="where nothing was judged the rate is 0.",
    because="0 would say that the draft is useless; without a trial nothing is known.",
)
def zero_without_trials(accepted, k):
    if len(accepted) == 0:
        return 0.0
    _refuse(accepted, k)
    return sum(accepted) / sum(min(n + 1, k) for n in accepted)


@alpha_from_blocks.wrong(
    think="the counts need no look: whoever recorded them knew K.",
    because="a count above K belongs to another K, and the result would be wrong without a word.",
)
def counts_unchecked(accepted, k):
    judged = sum(min(n + 1, k) for n in accepted)
    if judged == 0:
        raise ValueError("nothing was judged")
    return sum(accepted) / judged


@alpha_from_blocks.wrong(
    think="a block without a rejection tells nothing.",
    because="it tells of K tokens that passed. Without whole blocks the rate comes out too low.",
)
def whole_blocks_left_out(accepted, k):
    _refuse(accepted, k)
    stopped = [n for n in accepted if n < k]
    return sum(stopped) / sum(n + 1 for n in stopped) if stopped else 1.0


@alpha_from_blocks.wrong(
    think="every position has a rate, and alpha is their average.",
    because="few blocks reach the last position, and it then counts as much as the first.",
)
def mean_of_position_rates(accepted, k):
    _refuse(accepted, k)
    reached = [[n for n in accepted if n >= i] for i in range(k)]
    rates = [sum(n > i for n in each) / len(each) for i, each in enumerate(reached) if each]
    return sum(rates) / len(rates)


@alpha_from_blocks.wrong(
    think="if nothing was accepted, there is no rate.",
    because="tokens were judged and all were rejected: this is the rate 0.",
)
def nothing_accepted_refused(accepted, k):
    _refuse(accepted, k)
    if sum(accepted) == 0:
        raise ValueError("nothing was accepted")
    return sum(accepted) / sum(min(n + 1, k) for n in accepted)


@alpha_from_blocks.wrong(
    think="two decimals are enough.",
    because="tables are rounded when they are printed; a function that others use is not.",
)
def two_decimals(accepted, k):
    _refuse(accepted, k)
    return round(sum(accepted) / sum(min(n + 1, k) for n in accepted), 2)


operations_factor = WRONG.exercise("operations_factor")


def _tokens(alpha, k):
    """1 + alpha + ... + alpha^k, for wrong answers that err elsewhere."""
    return sum(alpha**i for i in range(k + 1))


@operations_factor.wrong(
    think="the operations of a block are the answer.",
    because="a block brings several tokens; the factor is for one of them.",
)
def operations_of_a_block(alpha, c_hat, k):
    return c_hat * k + k + 1


@operations_factor.wrong(
    think="a block brings the tokens that were accepted.",
    because="it brings one more, the correction or the bonus; without it alpha = 0 divides by 0.",
)
def by_accepted_only(alpha, c_hat, k):
    return (c_hat * k + k + 1) / (_tokens(alpha, k) - 1)


@operations_factor.wrong(
    think="the target computes the K draft tokens.",
    because="it computes K + 1 positions: the token before the block is fed as well.",
)
def k_positions(alpha, c_hat, k):
    return (c_hat * k + k) / _tokens(alpha, k)


@operations_factor.wrong(
    think="only the positions that are kept cost operations.",
    because="the dropped ones were computed before anybody knew that they would be dropped.",
)
def kept_positions_only(alpha, c_hat, k):
    return (c_hat * k + _tokens(alpha, k)) / _tokens(alpha, k)


@operations_factor.wrong(
    think="the factor is tokens over operations.",
    because="that is what an operation brings; asked is what a token costs, above 1 mostly.",
)
def upside_down(alpha, c_hat, k):
    return _tokens(alpha, k) / (c_hat * k + k + 1)


@operations_factor.wrong(
    think="a verification counts as one pass.",
    because="in time it may; in operations it is K + 1 tokens' worth of work.",
)
def time_instead(alpha, c_hat, k):
    return (c_hat * k + 1) / _tokens(alpha, k)


@operations_factor.wrong(
    think="the draft's operations can be left out, they are small.",
    because="c_hat is an argument: a draft half as large as the target costs half as much.",
)
def draft_left_out(alpha, c_hat, k):
    return (k + 1) / _tokens(alpha, k)


@operations_factor.wrong(
    think="the draft too computes K + 1 positions.",
    because="it drafts K tokens, one step each; the token after the last is the target's.",
)
def draft_runs_once_more(alpha, c_hat, k):
    return (c_hat * (k + 1) + k + 1) / _tokens(alpha, k)


@operations_factor.wrong(
    think="the closed formula holds for every alpha.",
    because="at alpha = 1 it is 0/0, where the sum of the powers is K + 1.",
)
def closed_formula(alpha, c_hat, k):
    return (1 - alpha) * (c_hat * k + k + 1) / (1 - alpha ** (k + 1))


@operations_factor.wrong(
    think="a block brings 1 + K alpha tokens.",
    because="token i of a block counts only if all before it passed: alpha to the power of i.",
)
def tokens_on_a_line(alpha, c_hat, k):
    return (c_hat * k + k + 1) / (1 + k * alpha)


@operations_factor.wrong(
    think="the draft computes once a block.",
    because="it computes once for each of its K tokens, one after the other.",
)
def one_draft_token(alpha, c_hat, k):
    return (c_hat + k + 1) / _tokens(alpha, k)


@operations_factor.wrong(
    think="what comes on top of plain decoding is asked for.",
    because="it is the whole over plain decoding: equal amounts give 1 and not 0.",
)
def only_what_is_more(alpha, c_hat, k):
    return (c_hat * k + k + 1) / _tokens(alpha, k) - 1


@operations_factor.wrong(
    think="the sum of the tokens ends at alpha to the power of K - 1.",
    because="the bonus token comes with alpha to the power of K: the sum has K + 1 terms.",
)
def one_term_short(alpha, c_hat, k):
    return (c_hat * k + k + 1) / _tokens(alpha, max(k - 1, 0))


implied_alpha = WRONG.exercise("implied_alpha")


def _solve(tokens, wanted):
    """The alpha in [0, 1] at which the growing function `tokens` is `wanted`, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tokens(middle) < wanted else (low, middle)
    return low


def _implied(wanted, k):
    """The right answer from the tokens a block, for wrong answers that err before."""
    if abs(wanted - 1) <= 1e-9 or abs(wanted - (k + 1)) <= 1e-9:
        return 0.0 if abs(wanted - 1) <= 1e-9 else 1.0
    if not 1 < wanted < k + 1:
        raise ValueError("no alpha fits")
    return _solve(lambda alpha: sum(alpha**i for i in range(k + 1)), wanted)


@implied_alpha.wrong(
    think="a block of K brings at most K tokens.",
    because="the bonus makes it K + 1; without it every clock implies too high a rate.",
)
def without_the_bonus(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if not 1 - 1e-9 <= wanted <= k + 1 + 1e-9:
        raise ValueError("no alpha fits")
    return _solve(lambda alpha: sum(alpha**i for i in range(k)), wanted)


@implied_alpha.wrong(
    think="the block's tokens are those that were accepted.",
    because="one more comes with every block, the correction or the bonus.",
    same_as=by_accepted_only,
)
def accepted_tokens_only(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if not 1 - 1e-9 <= wanted <= k + 1 + 1e-9:
        raise ValueError("no alpha fits")
    return _solve(lambda alpha: sum(alpha ** (i + 1) for i in range(k)), wanted)


@implied_alpha.wrong(
    think="alpha is the share of the K draft tokens that were accepted.",
    because="that counts the never judged ones as failures, so it is below alpha.",
)
def share_of_the_draft(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    _implied(wanted, k)
    return (wanted - 1) / k


@implied_alpha.wrong(
    think="tokens a block are 1 / (1 - alpha).",
    because="that is the limit of an endless block; a block of K stops at K + 1.",
)
def endless_block(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    _implied(wanted, k)
    return 1 - 1 / wanted


@implied_alpha.wrong(
    think="the draft's time is too short to matter.",
    because="with Chen et al. a third of the loop is drafting: 7.2 of 21.3 ms.",
    same_as=draft_left_out,
)
def draft_for_nothing(seconds_per_token, target_seconds, draft_seconds, k):
    return _implied(target_seconds / seconds_per_token, k)


@implied_alpha.wrong(
    think="the draft runs once a block.",
    because="it runs once for each of the K tokens, one after the other.",
)
def one_draft_step(seconds_per_token, target_seconds, draft_seconds, k):
    return _implied((draft_seconds + target_seconds) / seconds_per_token, k)


@implied_alpha.wrong(
    think="a clock outside the range means alpha 0 or 1.",
    because="slower than alpha = 0 allows means that something else costs time; say so.",
)
def clipped(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    return _implied(min(max(wanted, 1.0), k + 1.0), k)


@implied_alpha.wrong(
    think="a few decimals are enough.",
    because="the papers round; a function that others build on does not.",
)
def on_a_grid(seconds_per_token, target_seconds, draft_seconds, k):
    return round(_implied((k * draft_seconds + target_seconds) / seconds_per_token, k), 2)


@implied_alpha.form_of(on_a_grid)
def on_a_fine_grid(seconds_per_token, target_seconds, draft_seconds, k):
    return round(_implied((k * draft_seconds + target_seconds) / seconds_per_token, k), 4)


@implied_alpha.wrong(
    think="the ends need no care.",
    because="rounding puts E a hair outside 1 to K + 1, and a right answer becomes an error.",
)
def ends_by_rounding(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if not 1 <= wanted <= k + 1:
        raise ValueError("no alpha fits")
    return _solve(lambda alpha: sum(alpha**i for i in range(k + 1)), wanted)


@implied_alpha.wrong(
    think="the draft makes K + 1 steps.",
    because="it makes one for each of the K draft tokens; the last token is the target's.",
    same_as=draft_runs_once_more,
)
def one_draft_step_more(seconds_per_token, target_seconds, draft_seconds, k):
    return _implied(((k + 1) * draft_seconds + target_seconds) / seconds_per_token, k)


@implied_alpha.wrong(
    think="twenty halvings are enough.",
    because="they leave an error of 1e-6, and 1e-9 is asked: every halving saves a factor of 2.",
)
def too_few_halvings(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    alpha = _implied(wanted, k)
    return alpha if alpha in (0.0, 1.0) else (int(alpha * 2**20) + 0.5) / 2**20


@implied_alpha.wrong(
    think="a larger alpha is needed if E is too large.",
    because="E grows with alpha: where E is too small, the upper half is kept.",
)
def the_wrong_half(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if _implied(wanted, k) in (0.0, 1.0):
        return _implied(wanted, k)
    return _solve(lambda alpha: -sum(alpha**i for i in range(k + 1)), -wanted)


@implied_alpha.wrong(
    think="near an end is at the end.",
    because="only within 1e-9 it may be rounding; further inside E has an alpha of its own.",
)
def wide_ends(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if abs(wanted - 1) <= 1e-3 or abs(wanted - (k + 1)) <= 1e-3:
        return 0.0 if abs(wanted - 1) <= 1e-3 else 1.0
    return _implied(wanted, k)


acceptance_by_class = WRONG.exercise("acceptance_by_class")


def _by_label(accepted, classes):
    """The verdicts of every label; ValueError on unequal lengths."""
    if len(accepted) != len(classes):
        raise ValueError("unequal lengths")
    lists = {}
    for verdict, label in zip(accepted, classes, strict=True):
        lists.setdefault(label, []).append(verdict)
    return lists


@acceptance_by_class.wrong(
    think="the share of a label among all accepted tokens is its rate.",
    because="that says how frequent the label is; its rate is over its own tokens.",
)
def share_of_accepted(accepted, classes):
    lists = _by_label(accepted, classes)
    return {label: sum(each) / max(sum(accepted), 1) for label, each in lists.items()}


@acceptance_by_class.wrong(
    think="all labels have the same denominator, the number of tokens.",
    because="a rare label would have a low rate whatever was accepted of it.",
)
def over_all_tokens(accepted, classes):
    lists = _by_label(accepted, classes)
    return {label: sum(each) / len(accepted) for label, each in lists.items()}


@acceptance_by_class.wrong(
    think="counting the accepted tokens is enough.",
    because="a frequent label has many accepted tokens and may have a low rate.",
)
def counts_not_means(accepted, classes):
    return {label: float(sum(each)) for label, each in _by_label(accepted, classes).items()}


@acceptance_by_class.wrong(
    think="a label of which nothing passed need not be listed.",
    because="its rate is 0, which is a result; left out it looks as if it had never come up.",
)
def zeros_left_out(accepted, classes):
    lists = _by_label(accepted, classes)
    return {label: sum(each) / len(each) for label, each in lists.items() if sum(each)}


@acceptance_by_class.wrong(
    think="zip takes care of the lengths.",
    because="it stops at the shorter list without a word, and the labels may be shifted.",
)
def lengths_unchecked(accepted, classes):
    pairs = list(zip(accepted, classes, strict=False))
    sums = {label: [v for v, each in pairs if each == label] for _, label in pairs}
    return {label: sum(each) / len(each) for label, each in sums.items()}


@acceptance_by_class.wrong(
    think="the question is how often a kind of token is rejected.",
    because="it is the mean of accepted: 1 where all passed.",
)
def rejected_share(accepted, classes):
    return {
        label: 1 - sum(each) / len(each) for label, each in _by_label(accepted, classes).items()
    }


@acceptance_by_class.wrong(
    think="equal labels stand next to each other.",
    because="labels alternate in a text; the last run of a label would overwrite the others.",
)
def last_run_of_a_label(accepted, classes):
    _by_label(accepted, classes)
    runs, previous = {}, None
    for verdict, label in zip(accepted, classes, strict=True):
        runs[label] = [*(runs[label] if label == previous else []), verdict]
        previous = label
    return {label: sum(each) / len(each) for label, each in runs.items()}


@acceptance_by_class.wrong(
    think="two empty lists are an error.",
    because="their lengths are equal. No token has no label, so the dictionary is empty.",
)
def empty_refused(accepted, classes):
    if not accepted:
        raise ValueError("nothing to judge")
    return {label: sum(each) / len(each) for label, each in _by_label(accepted, classes).items()}


paired_speedup = WRONG.exercise("paired_speedup")


def _ratios(baseline, speculative):
    """Baseline over speculative, pair by pair; ValueError as in the right answer."""
    if len(baseline) != len(speculative) or len(baseline) == 0:
        raise ValueError("every run needs a partner")
    return np.array(baseline) / np.array(speculative)


@paired_speedup.wrong(
    think="the mean of the ratios is their sum over their number.",
    because="then 2 and 1/2 give 1.25, and so do 1/2 and 2: both sides would be faster.",
)
def arithmetic_mean(baseline_seconds, speculative_seconds):
    return float(np.mean(_ratios(baseline_seconds, speculative_seconds)))


@paired_speedup.wrong(
    think="the total times can be divided.",
    because="the longest text then decides alone; every pair should count alike.",
)
def ratio_of_sums(baseline_seconds, speculative_seconds):
    _ratios(baseline_seconds, speculative_seconds)
    return float(sum(baseline_seconds) / sum(speculative_seconds))


@paired_speedup.wrong(
    think="a speed-up is the new time over the old.",
    because="that is below 1 where it is faster; it is baseline over speculative.",
)
def the_other_way_round(baseline_seconds, speculative_seconds):
    ratios = _ratios(baseline_seconds, speculative_seconds)
    return float(np.exp(-np.mean(np.log(ratios))))


@paired_speedup.wrong(
    think="the median is safer than any mean.",
    because="it is a good thing to report beside it; asked is the geometric mean.",
)
def median_ratio(baseline_seconds, speculative_seconds):
    return float(np.median(_ratios(baseline_seconds, speculative_seconds)))


@paired_speedup.wrong(
    think="rates are averaged by the harmonic mean.",
    because="that holds for speeds over equal distances; 2 and 1/2 would give 0.8.",
)
def harmonic_mean(baseline_seconds, speculative_seconds):
    return float(1 / np.mean(1 / _ratios(baseline_seconds, speculative_seconds)))


@paired_speedup.wrong(
    think="the product of all ratios can be taken first, then the root.",
    because="some thousand factors overflow a float, or vanish; sums of logarithms do neither.",
)
def product_first(baseline_seconds, speculative_seconds):
    ratios = _ratios(baseline_seconds, speculative_seconds)
    with np.errstate(all="ignore"):
        return float(np.prod(ratios) ** (1 / len(ratios)))


@paired_speedup.wrong(
    think="the ratios multiply, and that is all.",
    because="the product grows with the number of pairs; its root is the mean.",
)
def without_the_root(baseline_seconds, speculative_seconds):
    with np.errstate(all="ignore"):
        return float(np.prod(_ratios(baseline_seconds, speculative_seconds)))


@paired_speedup.wrong(
    think="a run without a partner can be skipped.",
    because="if one is missing, nobody knows which: from there on all pairs may be shifted.",
)
def partners_unchecked(baseline_seconds, speculative_seconds):
    pairs = list(zip(baseline_seconds, speculative_seconds, strict=False))
    return float(np.exp(np.mean([np.log(b / s) for b, s in pairs])))


def _log_mean(baseline, speculative):
    return float(np.mean(np.log(_ratios(baseline, speculative))))


@paired_speedup.wrong(
    think="the mean of the logarithms is the answer.",
    because="it is the logarithm of the answer: exp leads back from it.",
)
def exp_forgotten(baseline_seconds, speculative_seconds):
    return _log_mean(baseline_seconds, speculative_seconds)


@paired_speedup.wrong(
    think="without pairs nothing changes: the answer is 1.",
    because="nothing was measured, so there is no answer: raise ValueError.",
)
def one_without_pairs(baseline_seconds, speculative_seconds):
    if len(baseline_seconds) == len(speculative_seconds) == 0:
        return 1.0
    return float(np.exp(_log_mean(baseline_seconds, speculative_seconds)))
