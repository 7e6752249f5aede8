"""Known wrong answers of chapter 02, refuted. Several are in published code and exercises."""

import numpy as np

from autograde.wrong import Misconceptions
from specdec_lib.sampling import sample_from

WRONG = Misconceptions()


def _ratio(p, q, token):
    """The right acceptance probability, for wrong answers that err elsewhere."""
    if p[token] == 0:
        return 0.0
    return 1.0 if q[token] == 0 else min(1.0, float(p[token] / q[token]))


def _residual(p, q):
    """The right residual, for wrong answers that err elsewhere."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p.copy()


acceptance_probability = WRONG.exercise("acceptance_probability")


@acceptance_probability.wrong(
    think="the ratio is draft over target.",
    because="the kept height is the target's share of the draft's bar, so p is the numerator.",
)
def inverted(p, q, token):
    if p[token] == 0:
        return 0.0
    return min(1.0, float(q[token] / p[token]))


@acceptance_probability.wrong(
    think="p/q is a probability as it stands.",
    because="where the draft understates a token the ratio is above 1; keeping for certain is 1.",
)
def no_cap(p, q, token):
    if p[token] == 0:
        return 0.0
    return 1.0 if q[token] == 0 else float(p[token] / q[token])


@acceptance_probability.form_of(no_cap)
def no_cap_and_no_guard(p, q, token):
    return float(np.asarray(p[token]) / np.asarray(q[token]))


@acceptance_probability.wrong(
    think="a token is kept or not, there is no coin.",
    because="keeping it only where p >= q loses the share p of every overstated token.",
)
def all_or_nothing(p, q, token):
    return 1.0 if p[token] >= q[token] and p[token] > 0 else 0.0


@acceptance_probability.wrong(
    think="the target's own probability decides.",
    because="the draft has made its choice already: it is p over q that repairs it, not p.",
)
def target_only(p, q, token):
    return float(p[token])


@acceptance_probability.wrong(
    think="a small number in the denominator takes care of the zeros.",
    because="it changes every other ratio a little, and no tolerance makes up for it over a text.",
)
def epsilon(p, q, token):
    return min(1.0, float(p[token] / (q[token] + 1e-3)))


@acceptance_probability.form_of(epsilon)
def epsilon_of_six_digits(p, q, token):
    return min(1.0, float(p[token] / (q[token] + 1e-6)))


@acceptance_probability.form_of(epsilon)
def epsilon_of_ten_digits(p, q, token):
    return min(1.0, float(p[token] / (q[token] + 1e-10)))


@acceptance_probability.form_of(epsilon)
def epsilon_at_least(p, q, token):
    return min(1.0, float(p[token] / max(q[token], 1e-10)))


@acceptance_probability.wrong(
    think="the answer is 1 wherever q is 0.",
    because="where p is 0 as well the target never writes the token, so 0 comes before 1.",
)
def one_where_q_is_zero(p, q, token):
    return 1.0 if q[token] == 0 else min(1.0, float(p[token] / q[token]))


@acceptance_probability.form_of(one_where_q_is_zero)
def plain_division(p, q, token):
    return min(1.0, float(np.asarray(p[token]) / np.asarray(q[token])))


@acceptance_probability.wrong(
    think="a token that the draft cannot propose has probability 0 here too.",
    because="with q = 0 the draft understates the token as far as it can, so the cap 1 applies.",
)
def zero_where_q_is_zero(p, q, token):
    return 0.0 if q[token] == 0 else _ratio(p, q, token)


speculative_accept = WRONG.exercise("speculative_accept")


def _prefix(draft_tokens, keep):
    """The draft tokens before the first position that `keep` rejects."""
    accepted = []
    for i, token in enumerate(draft_tokens):
        if not keep(i, token):
            break
        accepted.append(token)
    return accepted


@speculative_accept.wrong(
    think="a token is kept exactly where p is at least q.",
    because="below that a coin decides: it is kept with probability p/q, not never.",
    same_as=all_or_nothing,
)
def no_coin(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: p[i, t] >= q[i, t] and p[i, t] > 0)


@speculative_accept.form_of(no_coin)
def no_coin_and_no_guard(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: p[i, t] >= q[i, t])


@speculative_accept.wrong(
    think="one coin serves the whole block.",
    because="positions would then stand and fall together; each has a coin r[i] of its own.",
)
def first_coin_only(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: p[i, t] > 0 and r[0] <= _ratio(p[i], q[i], t))


@speculative_accept.wrong(
    think="the first row of p and q serves every position.",
    because="each position has a row of its own, computed after the tokens before it.",
)
def first_row_only(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: p[0, t] > 0 and r[i] <= _ratio(p[0], q[0], t))


@speculative_accept.wrong(
    think="the coin is held against q/p.",
    because="that rejects what the draft understates and keeps what it overstates.",
    same_as=inverted,
)
def ratio_inverted(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: p[i, t] > 0 and r[i] * p[i, t] <= q[i, t])


@speculative_accept.wrong(
    think="a token is kept where its coin is above the ratio.",
    because="a uniform number is below p/q with the probability p/q: above it, it rejects.",
)
def coin_reversed(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: r[i] > _ratio(p[i], q[i], t))


@speculative_accept.form_of(coin_reversed)
def coin_reversed_with_equal(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: r[i] >= _ratio(p[i], q[i], t))


@speculative_accept.form_of(coin_reversed)
def coin_reversed_but_not_at_zero(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: p[i, t] > 0 and r[i] > _ratio(p[i], q[i], t))


@speculative_accept.wrong(
    think="a token stays if it is the target's most probable one.",
    because="that is greedy decoding; in sampling the ratio decides, not the rank.",
)
def greedy_match(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: int(np.argmax(p[i])) == t)


@speculative_accept.wrong(
    think="the coin is held against the target's probability.",
    because="it was drawn with probability q already; with p alone it gets only q times p.",
    same_as=target_only,
)
def coin_against_p(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: p[i, t] > 0 and r[i] <= p[i, t])


@speculative_accept.wrong(
    think="one rejection costs one token, and the walk goes on.",
    because="the later tokens were scored after a token that is not in the text.",
)
def no_stop(draft_tokens, p, q, r):
    return [t for i, t in enumerate(draft_tokens) if p[i, t] > 0 and r[i] <= _ratio(p[i], q[i], t)]


@speculative_accept.wrong(
    think="the rejected token still belongs to the block.",
    because="it was rejected; another token will stand in its place.",
)
def rejected_kept(draft_tokens, p, q, r):
    kept = _prefix(draft_tokens, lambda i, t: p[i, t] > 0 and r[i] <= _ratio(p[i], q[i], t))
    return list(draft_tokens[: len(kept) + 1])


@speculative_accept.wrong(
    think="r = 0 keeps everything.",
    because="where p is 0 nothing may be kept, and a uniform number can be exactly 0.",
)
def impossible_token_kept(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: r[i] <= _ratio(p[i], q[i], t))


residual_distribution = WRONG.exercise("residual_distribution")


@residual_distribution.wrong(
    think="after a rejection the target itself is the right distribution.",
    because="its accepted tokens would be paid twice.",
)
def target_again(p, q):
    return p.copy()


@residual_distribution.wrong(
    think="the surplus of the draft is what is left over.",
    because="q - p is what was rejected; what is missing is p - q.",
)
def sign_flipped(p, q):
    return _residual(q, p)


@residual_distribution.wrong(
    think="the distance |p - q| is the part to repair.",
    because="it gives mass to the overstated tokens as well, which lack nothing.",
)
def absolute_difference(p, q):
    distance = np.abs(p - q)
    return distance / distance.sum() if distance.sum() > 0 else p.copy()


@residual_distribution.wrong(
    think="the positive part is a distribution already.",
    because="it sums to the rejected share, not to 1.",
)
def not_normalised(p, q):
    return np.maximum(p - q, 0)


@residual_distribution.wrong(
    think="negative entries cancel in the end.",
    because="a probability below 0 is none; only the positive part of p - q counts.",
)
def not_clipped(p, q):
    total = np.maximum(p - q, 0).sum()
    return (p - q) / total if total > 0 else p.copy()


@residual_distribution.wrong(
    think="with p equal to q there is always something to divide by.",
    because="the mass left is 0 then, and 0/0 fills the result with NaN.",
)
def nan_where_equal(p, q):
    missing = np.maximum(p - q, 0)
    return missing / missing.sum()


@residual_distribution.wrong(
    think="where nothing is missing all tokens are equally good.",
    because="with p equal to q the distribution to keep is p, not the uniform one.",
)
def uniform_where_equal(p, q):
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else np.full(len(p), 1 / len(p))


@residual_distribution.wrong(
    think="a small number in the sum takes care of an empty residual.",
    because="zeros over a small number are zeros: where p equals q no distribution comes out.",
    same_as=epsilon,
)
def epsilon_in_the_sum(p, q):
    missing = np.maximum(p - q, 0)
    return missing / (missing.sum() + 1e-10)


@residual_distribution.form_of(not_normalised)
def not_normalised_but_p_where_equal(p, q):
    missing = np.maximum(p - q, 0)
    return missing if missing.sum() > 0 else p.copy()


@residual_distribution.wrong(
    think="p and q that are equal to rounding are equal.",
    because="however little is missing, it is what a rejection has to bring: p stands for it only "
    "where exactly nothing is.",
)
def nearly_equal_is_equal(p, q):
    return p.copy() if np.allclose(p, q) else _residual(p, q)


@residual_distribution.wrong(
    think="p can be worked on in place.",
    because="the caller still needs p; a row of the block would be overwritten.",
)
def in_place(p, q):
    p -= q
    np.maximum(p, 0, out=p)
    total = p.sum()
    if total == 0:
        return q.copy()
    p /= total
    return p


correct_token = WRONG.exercise("correct_token")


def _one(p, q, token, r, replace):
    if p[token] > 0 and r <= _ratio(p, q, token):
        return token, True
    return replace(), False


@correct_token.wrong(
    think="the replacement is drawn from the target.",
    because="tokens with p below q have had their full share by acceptance.",
    same_as=target_again,
)
def replaced_from_target(p, q, token, r, u):
    return _one(p, q, token, r, lambda: sample_from(p, u))


@correct_token.wrong(
    think="the replacement is drawn from the draft again.",
    because="the draft's surplus is the trouble; drawing from it adds to it.",
)
def replaced_from_draft(p, q, token, r, u):
    return _one(p, q, token, r, lambda: sample_from(q, u))


@correct_token.wrong(
    think="the most probable token of the target is the best replacement.",
    because="then only this one token is paid with all of the rejected mass.",
)
def replaced_by_argmax(p, q, token, r, u):
    return _one(p, q, token, r, lambda: int(np.argmax(p)))


@correct_token.wrong(
    think="the most probable token of the residual is the best replacement.",
    because="the residual is a distribution to draw from; its other tokens lack mass as well.",
)
def replaced_by_residual_argmax(p, q, token, r, u):
    return _one(p, q, token, r, lambda: int(np.argmax(_residual(p, q))))


@correct_token.wrong(
    think="the residual is q - p.",
    because="that draws again just those tokens that were rejected for being too many.",
    same_as=sign_flipped,
)
def residual_sign_flipped(p, q, token, r, u):
    return _one(p, q, token, r, lambda: sample_from(_residual(q, p), u))


@correct_token.wrong(
    think="the coin r can serve for the replacement too.",
    because="after a rejection r is known to be large, so it is not uniform any more.",
)
def coin_used_twice(p, q, token, r, u):
    return _one(p, q, token, r, lambda: sample_from(_residual(p, q), r))


@correct_token.wrong(
    think="without a coin the better model decides.",
    because="every token with p below q would be rejected always, not in part.",
)
def replaced_without_coin(p, q, token, r, u):
    if p[token] >= q[token] and p[token] > 0:
        return token, True
    return sample_from(_residual(p, q), u), False


@correct_token.wrong(
    think="the flag says whether the token was corrected.",
    because="it says whether the draft's token was kept; True means kept.",
)
def flag_reversed(p, q, token, r, u):
    out, kept = _one(p, q, token, r, lambda: sample_from(_residual(p, q), u))
    return out, not kept


@correct_token.wrong(
    think="the token is kept where the coin is above the ratio.",
    because="a uniform number is below p/q with the probability p/q: above it, it rejects.",
    same_as=coin_reversed,
)
def kept_above_the_ratio(p, q, token, r, u):
    kept = r > _ratio(p, q, token)
    return (token, True) if kept else (sample_from(_residual(p, q), u), False)


@correct_token.form_of(kept_above_the_ratio)
def kept_from_the_ratio_on(p, q, token, r, u):
    kept = r >= _ratio(p, q, token)
    return (token, True) if kept else (sample_from(_residual(p, q), u), False)


@correct_token.form_of(kept_above_the_ratio)
def kept_above_a_ratio_that_is_not_zero(p, q, token, r, u):
    kept = p[token] > 0 and r > _ratio(p, q, token)
    return (token, True) if kept else (sample_from(_residual(p, q), u), False)


@correct_token.wrong(
    think="u is the coin, and r draws the replacement.",
    because="it is the other way round: r is held against the ratio, and u draws.",
)
def uniforms_swapped(p, q, token, r, u):
    return _one(p, q, token, u, lambda: sample_from(_residual(p, q), r))


@correct_token.form_of(uniforms_swapped)
def uniforms_swapped_without_a_look_at_zero(p, q, token, r, u):
    kept = u <= _ratio(p, q, token)
    return (token, True) if kept else (sample_from(_residual(p, q), r), False)


speculative_step = WRONG.exercise("speculative_step")


def _kept(draft_tokens, p, q, r):
    return _prefix(draft_tokens, lambda i, t: p[i, t] > 0 and r[i] <= _ratio(p[i], q[i], t))


@speculative_step.wrong(
    think="a block that is kept whole ends with its last draft token.",
    because="row K of p is paid for; without the bonus token a step yields less than it could.",
)
def no_bonus(draft_tokens, p, q, r, u):
    kept = _kept(draft_tokens, p, q, r)
    n = len(kept)
    return kept if n == len(draft_tokens) else [*kept, sample_from(_residual(p[n], q[n]), u)]


@speculative_step.wrong(
    think="a rejected token just ends the step.",
    because="the step owes one token; without it the rejected mass is never made up for.",
)
def no_correction(draft_tokens, p, q, r, u):
    kept = _kept(draft_tokens, p, q, r)
    k = len(draft_tokens)
    return [*kept, sample_from(p[k], u)] if len(kept) == k else kept


@speculative_step.wrong(
    think="the bonus token comes from the draft's last row.",
    because="the extra row is the target's; the draft knows nothing of that position.",
)
def bonus_from_draft(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = len(kept)
    if n < k:
        return [*kept, sample_from(_residual(p[n], q[n]), u)]
    return [*kept, sample_from(q[k - 1] if k else p[k], u)]


@speculative_step.wrong(
    think="the bonus token comes from row K - 1 of p.",
    because="that row is the distribution of the last draft token, not of the one after it.",
)
def stale_bonus_row(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = len(kept)
    last = _residual(p[n], q[n]) if n < k else p[max(k - 1, 0)]
    return [*kept, sample_from(last, u)]


@speculative_step.wrong(
    think="after a rejection the target's row is drawn from.",
    because="the replacement must come from what is missing, the residual of that row.",
    same_as=replaced_from_target,
)
def step_replaced_from_target(draft_tokens, p, q, r, u):
    kept = _kept(draft_tokens, p, q, r)
    return [*kept, sample_from(p[len(kept)], u)]


@speculative_step.wrong(
    think="the replacement comes from the last row.",
    because="the last row follows a text with the rejected token in it.",
)
def correction_from_last_row(draft_tokens, p, q, r, u):
    return [*_kept(draft_tokens, p, q, r), sample_from(p[len(draft_tokens)], u)]


@speculative_step.wrong(
    think="the residual of the first position serves all.",
    because="the rejected position n has its own p[n] and q[n].",
)
def residual_of_first_row(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    last = _residual(p[0], q[0]) if len(kept) < k else p[k]
    return [*kept, sample_from(last, u)]


@speculative_step.wrong(
    think="the residual of the last accepted position is drawn from.",
    because="the rejected position n has its own p[n] and q[n].",
)
def residual_of_the_row_before(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = len(kept)
    return [*kept, sample_from(_residual(p[n - 1], q[n - 1]) if n < k else p[k], u)]


@speculative_step.form_of(residual_of_the_row_before)
def residual_of_the_row_before_or_the_first(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = max(len(kept) - 1, 0)
    return [*kept, sample_from(_residual(p[n], q[n]) if len(kept) < k else p[k], u)]


@speculative_step.wrong(
    think="every block ends with a token from row K.",
    because="after a rejection the replacement ends the step: row K follows a text with the "
    "rejected token in it.",
)
def bonus_after_every_block(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = len(kept)
    own = [] if n == k else [sample_from(_residual(p[n], q[n]), u)]
    return [*kept, *own, sample_from(p[k], u)]


@speculative_step.wrong(
    think="the draft tokens after the rejected one can follow its replacement.",
    because="they were drafted and scored after another token.",
)
def rest_of_the_draft_kept(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = len(kept)
    last = _residual(p[n], q[n]) if n < k else p[k]
    return [*kept, sample_from(last, u), *draft_tokens[n + 1 :]]


@speculative_step.wrong(
    think="the rejected token is written, and then its replacement.",
    because="the replacement stands in its place, not behind it.",
)
def rejected_token_written(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = len(kept)
    last = _residual(p[n], q[n]) if n < k else p[k]
    return [*draft_tokens[: n + 1], sample_from(last, u)]


@speculative_step.wrong(
    think="a block of K tokens was accepted whole.",
    because="K - 1 accepted tokens and a replacement are K as well; only a block whose last draft "
    "token was kept gets a bonus token.",
)
def full_by_its_length(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = len(kept)
    out = kept if n == k else [*kept, sample_from(_residual(p[n], q[n]), u)]
    return [*out, sample_from(p[k], u)] if len(out) == k else out


@speculative_step.wrong(
    think="the last token of a block is the most probable one.",
    because="replacement and bonus are drawn, the one from the residual and the other from row K; "
    "their argmax follows another distribution.",
    same_as=replaced_by_residual_argmax,
)
def last_token_by_argmax(draft_tokens, p, q, r, u):
    kept, k = _kept(draft_tokens, p, q, r), len(draft_tokens)
    n = len(kept)
    return [*kept, int(np.argmax(_residual(p[n], q[n]) if n < k else p[k]))]
