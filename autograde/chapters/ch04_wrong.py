"""Known wrong answers of chapter 04, refuted. Several are in published code and lessons."""

import numpy as np
import torch

from autograde.chapters.parametrized import Misconceptions

WRONG = Misconceptions()


def _powers(alpha, low, high):
    """alpha^low + ... + alpha^high."""
    return float(sum(alpha**i for i in range(low, high + 1)))


expected_accepted = WRONG.exercise("expected_accepted")


@expected_accepted.wrong(
    think="the correction or bonus token is an accepted token too.",
    because="it comes from the target itself; only draft tokens are accepted.",
)
def with_the_last_token(alpha, k):
    return _powers(alpha, 0, k)


@expected_accepted.wrong(
    think="the sum begins with alpha to the power 0.",
    because="the first draft token is accepted with alpha, not for certain; this sum is the yield "
    "of a loop without the bonus token.",
)
def one_power_too_low(alpha, k):
    return _powers(alpha, 0, k - 1)


@expected_accepted.wrong(
    think="each of the k tokens is accepted with alpha, so k alpha are.",
    because="a token counts only where all before it were accepted.",
)
def all_counted_alike(alpha, k):
    return float(k * alpha)


@expected_accepted.wrong(
    think="a block is accepted whole or not at all.",
    because="the accepted prefix is kept, however short it is.",
)
def whole_blocks_only(alpha, k):
    return float(k * alpha**k)


@expected_accepted.wrong(
    think="the closed form holds for every alpha.",
    because="at alpha = 1 it is 0/0; the sum is k there.",
)
def divided_by_zero(alpha, k):
    return float(alpha) * (1 - float(alpha) ** k) / (1 - float(alpha))


@expected_accepted.wrong(
    think="the block is so long that its end does not matter.",
    because="alpha/(1 - alpha) is the limit for an endless block; k ends it earlier.",
)
def endless_block(alpha, k):
    return float(alpha / (1 - alpha)) if alpha < 1 else float(k)


@expected_accepted.wrong(
    think="the last draft token cannot be accepted, since none follows it.",
    because="it is judged like all others: the powers go up to k.",
)
def last_one_forgotten(alpha, k):
    return _powers(alpha, 1, k - 1)


expected_tokens = WRONG.exercise("expected_tokens")


@expected_tokens.wrong(
    think="a block writes its accepted tokens and no more.",
    because="the target's pass always gives one token on top, the correction or the bonus.",
)
def accepted_alone(alpha, k):
    return _powers(alpha, 1, k)


@expected_tokens.wrong(
    think="there is one token more only where the whole block was accepted.",
    because="after a rejection the correction is written, so there is one more in either case.",
)
def bonus_alone(alpha, k):
    return _powers(alpha, 1, k) + alpha**k


@expected_tokens.wrong(
    think="(1 - alpha^k)/(1 - alpha) counts the tokens.",
    because="that is a loop that throws the bonus token away; the power is k + 1.",
)
def no_bonus_loop(alpha, k):
    return _powers(alpha, 0, k - 1)


@expected_tokens.wrong(
    think="1/(1 - alpha) tokens come out of a block.",
    because="that is the limit for an endless block.",
    same_as=endless_block,
)
def endless_tokens(alpha, k):
    return float(1 / (1 - alpha)) if alpha < 1 else float(k + 1)


@expected_tokens.wrong(
    think="a block of k brings k alpha + 1 tokens.",
    because="later draft tokens count only where the earlier ones were accepted.",
)
def linear(alpha, k):
    return float(k * alpha + 1)


@expected_tokens.wrong(
    think="the closed form needs no care.",
    because="at alpha = 1 it divides 0 by 0; k + 1 tokens come out there.",
    same_as=divided_by_zero,
)
def tokens_divided_by_zero(alpha, k):
    return (1 - float(alpha) ** (k + 1)) / (1 - float(alpha))


walltime_speedup = WRONG.exercise("walltime_speedup")


@walltime_speedup.wrong(
    think="tokens per target pass are the speed-up.",
    because="the draft's steps and the longer pass take time too.",
)
def tokens_only(alpha, c, k, verify_cost=1.0):
    return _powers(alpha, 0, k)


@walltime_speedup.wrong(
    think="drafting a block takes c.",
    because="c is one draft step, and a block has k of them, one after the other.",
)
def one_draft_step(alpha, c, k, verify_cost=1.0):
    return _powers(alpha, 0, k) / (c + verify_cost)


@walltime_speedup.wrong(
    think="a verification costs one pass, whatever was measured.",
    because="verify_cost stands in the time of a block in place of the 1.",
)
def verification_for_one(alpha, c, k, verify_cost=1.0):
    return _powers(alpha, 0, k) / (c * k + 1)


@walltime_speedup.wrong(
    think="verify_cost is paid for each of the k + 1 tokens.",
    because="it is the time of the whole pass over all of them.",
)
def verification_per_token(alpha, c, k, verify_cost=1.0):
    return _powers(alpha, 0, k) / (c * k + verify_cost * (k + 1))


@walltime_speedup.wrong(
    think="only accepted tokens are gained.",
    because="plain decoding would have taken a pass for the correction or bonus as well.",
    same_as=accepted_alone,
)
def accepted_over_time(alpha, c, k, verify_cost=1.0):
    return _powers(alpha, 1, k) / (c * k + verify_cost)


@walltime_speedup.wrong(
    think="speculation can help and never hurts, so the least is 1.",
    because="quality is never hurt, time is: a block whose tokens are all rejected was paid for.",
)
def never_below_one(alpha, c, k, verify_cost=1.0):
    return max(1.0, _powers(alpha, 0, k) / (c * k + verify_cost))


@walltime_speedup.wrong(
    think="the draft is cheap enough to leave out.",
    because="at c = 0.128 and k = 4 it takes a third of the time.",
)
def free_draft(alpha, c, k, verify_cost=1.0):
    return _powers(alpha, 0, k) / verify_cost


@walltime_speedup.wrong(
    think="two digits are enough.",
    because="best_k compares speed-ups that differ by less: return all digits, and round to print.",
)
def rounded(alpha, c, k, verify_cost=1.0):
    return round(_powers(alpha, 0, k) / (c * k + verify_cost), 2)


best_k = WRONG.exercise("best_k")


def _speed(alpha, c, k):
    return sum(alpha**i for i in range(k + 1)) / (c * k + 1)


@best_k.wrong(
    think="the best K is 1/(1 - alpha).",
    because="the price of a draft token is not in it: the same alpha has its best K anywhere from "
    "0 to k_max.",
)
def one_over_one_minus_alpha(alpha, c, k_max):
    return k_max if alpha == 1 else int(min(k_max, max(1, round(1 / (1 - alpha)))))


@best_k.wrong(
    think="some K is always at least as good as none, so the search starts from 1.",
    because="where alpha is not above c every K loses, and the answer is 0.",
)
def never_zero(alpha, c, k_max):
    return max(range(1, k_max + 1), key=lambda k: (round(_speed(alpha, c, k), 13), -k))


@best_k.wrong(
    think="range(1, k_max) goes up to k_max.",
    because="Python's range stops before its end.",
)
def range_ends_early(alpha, c, k_max):
    return max(range(k_max), key=lambda k: (round(_speed(alpha, c, k), 13), -k))


@best_k.wrong(
    think="of equal speed-ups the later one may stay.",
    because="the smaller K drafts less for the same speed.",
)
def last_of_equals(alpha, c, k_max):
    return max(range(k_max + 1), key=lambda k: (round(_speed(alpha, c, k), 13), k))


@best_k.wrong(
    think="floating-point numbers that are equal on paper compare as equal.",
    because="rounding makes one of them larger by 1e-16; only a difference above 1e-12 counts.",
)
def compared_exactly(alpha, c, k_max):
    return max(range(k_max + 1), key=lambda k: _speed(alpha, c, k))


@best_k.wrong(
    think="the more tokens a block brings, the better.",
    because="they have to be paid for: k_max brings most tokens and is seldom the fastest.",
)
def most_tokens(alpha, c, k_max):
    return k_max if alpha > c else 0


@best_k.wrong(
    think="the gain is the accepted tokens over the time of a block.",
    because="the token that every block gets from the target counts as well; without it the best K "
    "comes out one to three too large.",
    same_as=accepted_alone,
)
def without_the_last_token(alpha, c, k_max):
    def accepted(k):
        return round((_speed(alpha, c, k) * (c * k + 1) - 1) / (c * k + 1), 13)

    return max(range(k_max + 1), key=lambda k: (accepted(k), -k)) if alpha > c else 0


@best_k.wrong(
    think="a draft token pays as long as it brings more than it costs.",
    because="it must bring more for its time than the block does already, not just alpha^k > c.",
)
def while_it_covers_its_cost(alpha, c, k_max):
    k = 0
    while k < k_max and alpha ** (k + 1) > c + 1e-12:
        k += 1
    return k


prompt_lookup = WRONG.exercise("prompt_lookup")


def _found(tokens, size, order):
    """The first start in `order` at which the suffix of `size` tokens stands; None without one."""
    suffix = tokens[len(tokens) - size :]
    starts = order(range(len(tokens) - size))
    return next((i for i in starts if tokens[i : i + size] == suffix), None)


def _late(starts):
    return reversed(starts)


@prompt_lookup.wrong(
    think="the first occurrence in the text is as good as any.",
    because="the latest one is asked for: what was said last is closest to what is said now.",
)
def earliest_occurrence(tokens, k, max_ngram=3):
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        start = _found(tokens, size, iter)
        if start is not None:
            return tokens[start + size : start + size + k]
    return []


@prompt_lookup.wrong(
    think="the last of all occurrences is the suffix itself, so the one before it is asked for.",
    because="here the search has left the suffix out already, so the last one found counts.",
)
def second_latest(tokens, k, max_ngram=3):
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        starts = range(len(tokens) - size)
        found = [i for i in starts if tokens[i : i + size] == tokens[-size:]]
        if found:
            start = found[-2:][0]
            return tokens[start + size : start + size + k]
    return []


@prompt_lookup.wrong(
    think="the search may start at the suffix itself.",
    because="the suffix always equals itself, and nothing follows it.",
)
def finds_itself(tokens, k, max_ngram=3):
    size = min(max_ngram, len(tokens))
    return tokens[len(tokens) : len(tokens) + k] if size else []


@prompt_lookup.wrong(
    think="a single token is enough to look for.",
    because="a longer suffix is surer of what follows, so the longest one that occurs is taken.",
)
def shortest_first(tokens, k, max_ngram=3):
    for size in range(1, min(max_ngram, len(tokens) - 1) + 1):
        start = _found(tokens, size, _late)
        if start is not None:
            return tokens[start + size : start + size + k]
    return []


@prompt_lookup.wrong(
    think="only the suffix of max_ngram tokens is looked for.",
    because="where it does not occur a shorter one may: go down to a single token.",
)
def one_length_only(tokens, k, max_ngram=3):
    size = min(max_ngram, len(tokens) - 1)
    start = _found(tokens, size, _late) if size > 0 else None
    return [] if start is None else tokens[start + size : start + size + k]


@prompt_lookup.wrong(
    think="an occurrence with fewer than k tokens behind it is of no use.",
    because="a short draft is a draft: the latest occurrence wins even so.",
)
def wants_all_k(tokens, k, max_ngram=3):
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        suffix = tokens[-size:]
        for start in range(len(tokens) - size - k, -1, -1):
            if tokens[start : start + size] == suffix:
                return tokens[start + size : start + size + k]
    return []


@prompt_lookup.wrong(
    think="an occurrence must not overlap the suffix.",
    because="in a text that repeats itself the latest occurrence does, and it is a good one.",
)
def no_overlap(tokens, k, max_ngram=3):
    for size in range(min(max_ngram, len(tokens) // 2), 0, -1):
        suffix = tokens[-size:]
        for start in range(len(tokens) - 2 * size, -1, -1):
            if tokens[start : start + size] == suffix:
                return tokens[start + size : start + size + k]
    return []


@prompt_lookup.wrong(
    think="the draft begins with the tokens that were found.",
    because="they stand at the end of the text already; the draft is what followed them.",
)
def repeats_the_match(tokens, k, max_ngram=3):
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        start = _found(tokens, size, _late)
        if start is not None:
            return tokens[start : start + k]
    return []


@prompt_lookup.wrong(
    think="the draft must have k tokens, so it is filled up.",
    because="tokens that nobody looked up are rejected, and each costs verification.",
)
def filled_up(tokens, k, max_ngram=3):
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        start = _found(tokens, size, _late)
        if start is not None:
            found = tokens[start + size : start + size + k]
            return found + [0] * (k - len(found))
    return []


@prompt_lookup.wrong(
    think="nothing found is None.",
    because="the caller drafts with what comes back: an empty list is a draft of no tokens.",
)
def none_for_nothing(tokens, k, max_ngram=3):
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        start = _found(tokens, size, _late)
        if start is not None:
            return tokens[start + size : start + size + k]
    return None


bigram_probs = WRONG.exercise("bigram_probs")


def _pairs(tokens, vocab_size, smoothing):
    counts = np.full((vocab_size, vocab_size), float(smoothing))
    for before, after in zip(tokens, tokens[1:], strict=False):
        counts[before, after] += 1
    return counts


def _normalised(counts):
    counts[counts.sum(axis=1) == 0] = 1.0
    return counts / counts.sum(axis=1, keepdims=True)


@bigram_probs.wrong(
    think="the row is the token that follows.",
    because="a draft knows the token before and asks for what follows, so that one is the row.",
)
def transposed(tokens, vocab_size, smoothing=1.0):
    return _normalised(_pairs(tokens, vocab_size, smoothing).T.copy())


@bigram_probs.wrong(
    think="a pair that occurs twice counts once.",
    because="each occurrence adds 1. With arrays of indices counts[a, b] += 1 adds 1 to a cell "
    "once, and np.add.at every time.",
)
def each_pair_once(tokens, vocab_size, smoothing=1.0):
    ids = np.asarray(tokens, dtype=int)
    counts = np.full((vocab_size, vocab_size), float(smoothing))
    counts[ids[:-1], ids[1:]] += 1
    return _normalised(counts)


@bigram_probs.wrong(
    think="the counts are divided by their sum over the whole table.",
    because="that is the probability of the pair; a draft needs it given the token before, row by "
    "row.",
)
def joint(tokens, vocab_size, smoothing=1.0):
    counts = _pairs(tokens, vocab_size, smoothing)
    counts[counts.sum(axis=1) == 0] = 1.0
    return counts / counts.sum()


@bigram_probs.wrong(
    think="columns are divided by their sums, axis 0.",
    because="each row has to be a distribution: sum along it, axis 1.",
)
def columns_normalised(tokens, vocab_size, smoothing=1.0):
    counts = _pairs(tokens, vocab_size, smoothing)
    totals = counts.sum(axis=0, keepdims=True)
    return counts / np.where(totals == 0, 1.0, totals)


@bigram_probs.wrong(
    think="counts / counts.sum(axis=1) divides each row by its sum.",
    because="NumPy lines (V,) sums up with the columns: keepdims=True leaves each at its row.",
)
def sums_without_keepdims(tokens, vocab_size, smoothing=1.0):
    counts = _pairs(tokens, vocab_size, smoothing)
    counts[counts.sum(axis=1) == 0] = 1.0
    return counts / counts.sum(axis=1)


@bigram_probs.form_of(sums_without_keepdims)
def sums_without_keepdims_or_a_look_at_zeros(tokens, vocab_size, smoothing=1.0):
    counts = _pairs(tokens, vocab_size, smoothing)
    return counts / counts.sum(axis=1)


@bigram_probs.wrong(
    think="[[smoothing] * V] * V makes V rows.",
    because="it names one row V times, so every row gets the counts of all tokens.",
)
def one_row_in_all_places(tokens, vocab_size, smoothing=1.0):
    table = [[float(smoothing)] * vocab_size] * vocab_size
    for before, after in zip(tokens, tokens[1:], strict=False):
        table[before][after] += 1
    return _normalised(np.array(table))


@bigram_probs.wrong(
    think="the smoothing is 1, whatever is asked for.",
    because="the argument says how much every count starts with.",
)
def always_one(tokens, vocab_size, smoothing=1.0):
    return _normalised(_pairs(tokens, vocab_size, 1.0))


@bigram_probs.wrong(
    think="only tokens that occur need smoothing.",
    because="a count of 0 is a count: every cell starts at the smoothing.",
)
def only_where_seen(tokens, vocab_size, smoothing=1.0):
    counts = _pairs(tokens, vocab_size, 0.0)
    return _normalised(np.where(counts > 0, counts + smoothing, 0.0))


@bigram_probs.wrong(
    think="a row without counts takes care of itself.",
    because="with smoothing 0 it is 0/0, and NaN is no distribution; uniform is asked for.",
)
def nan_rows(tokens, vocab_size, smoothing=1.0):
    counts = _pairs(tokens, vocab_size, smoothing)
    return counts / counts.sum(axis=1, keepdims=True)


@bigram_probs.wrong(
    think="a row without counts stays 0.",
    because="every row has to sum to 1, or nothing could be drawn from it.",
)
def empty_rows(tokens, vocab_size, smoothing=1.0):
    counts = _pairs(tokens, vocab_size, smoothing)
    totals = counts.sum(axis=1, keepdims=True)
    return counts / np.where(totals == 0, 1.0, totals)


distillation_loss = WRONG.exercise("distillation_loss")


@distillation_loss.wrong(
    think="distillation is the Kullback-Leibler divergence.",
    because="that is another distance; the share of rejected tokens is the total variation.",
)
def kullback_leibler(target_logits, draft_logits):
    p, log_p = target_logits.softmax(-1), target_logits.log_softmax(-1)
    return (p * (log_p - draft_logits.log_softmax(-1))).sum(-1).mean()


@distillation_loss.wrong(
    think="distillation is the cross-entropy.",
    because="it is not 0 for equal models, and it is not the share of rejected tokens.",
)
def cross_entropy(target_logits, draft_logits):
    return -(target_logits.softmax(-1) * draft_logits.log_softmax(-1)).sum(-1).mean()


@distillation_loss.wrong(
    think="the sum of |p - q| is the total variation.",
    because="it counts each moved bit of mass twice, where it is missing and where it is too much; "
    "half of it is right.",
)
def not_halved(target_logits, draft_logits):
    return (target_logits.softmax(-1) - draft_logits.softmax(-1)).abs().sum(-1).mean()


@distillation_loss.wrong(
    think="alpha itself is what training works on.",
    because="training makes its loss small, and alpha should become large: 1 - alpha.",
)
def alpha_itself(target_logits, draft_logits):
    return torch.minimum(target_logits.softmax(-1), draft_logits.softmax(-1)).sum(-1).mean()


@distillation_loss.wrong(
    think="the losses of all positions are added up.",
    because="a longer text would then have a larger loss; the mean is 1 - alpha.",
)
def summed(target_logits, draft_logits):
    p, q = target_logits.softmax(-1), draft_logits.softmax(-1)
    return (1 - torch.minimum(p, q).sum(-1)).sum()


@distillation_loss.wrong(
    think="mean() over everything is the mean over positions.",
    because="it divides by the size of the vocabulary as well: sum over the last axis first.",
)
def mean_over_vocabulary(target_logits, draft_logits):
    return (target_logits.softmax(-1) - draft_logits.softmax(-1)).abs().mean() / 2


@distillation_loss.wrong(
    think="logits can be compared as they are.",
    because="they are known up to a constant only; softmax turns them into probabilities.",
)
def without_softmax(target_logits, draft_logits):
    return (target_logits - draft_logits).abs().sum(-1).mean() / 2


@distillation_loss.wrong(
    think="softmax over the first axis will do.",
    because="the vocabulary is the last axis; the first one counts positions or texts.",
)
def softmax_of_the_first_axis(target_logits, draft_logits):
    p, q = target_logits.softmax(0), draft_logits.softmax(0)
    return (p - q).abs().sum(-1).mean() / 2


@distillation_loss.wrong(
    think="the value is right, so the loss is.",
    because="training needs its gradient: item(), detach(), NumPy and a new tensor cut it off.",
)
def no_gradient(target_logits, draft_logits):
    p, q = target_logits.float().softmax(-1), draft_logits.detach().float().softmax(-1)
    return 1 - torch.minimum(p, q).sum(-1).mean()


@distillation_loss.wrong(
    think="the dtype of the logits is good enough.",
    because="bfloat16 has three digits, and thousands of small probabilities are added up.",
)
def narrow(target_logits, draft_logits):
    return 1 - torch.minimum(target_logits.softmax(-1), draft_logits.softmax(-1)).sum(-1).mean()
