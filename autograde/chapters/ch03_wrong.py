"""Known wrong answers of chapter 03, refuted. Several are in published code and explanations."""

import numpy as np

from autograde.chapters.parametrized import Misconceptions

WRONG = Misconceptions()


def _residual(p, q):
    """The right residual, for wrong answers that err elsewhere."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p.copy()


total_variation = WRONG.exercise("total_variation")


@total_variation.wrong(
    think="the distance is the sum of all differences.",
    because="what one has more the other has less, so the sum counts every mass twice.",
)
def not_halved(p, q):
    return float(np.abs(p - q).sum())


@total_variation.wrong(
    think="the differences add up with their signs.",
    because="both sum to 1, so the signed differences always cancel to 0.",
)
def signed(p, q):
    return float((p - q).sum() / 2)


@total_variation.wrong(
    think="the largest difference of one token is the distance.",
    because="a question about several tokens can differ by more than a question about one.",
)
def largest_difference(p, q):
    return float(np.abs(p - q).max())


@total_variation.form_of(largest_difference)
def largest_excess(p, q):
    return float((p - q).max())


@total_variation.wrong(
    think="it is the usual distance of two vectors, the root of the squares.",
    because="masses are moved, not squared; the Euclidean distance is no probability.",
)
def euclidean(p, q):
    return float(np.sqrt(((p - q) ** 2).sum()))


@total_variation.wrong(
    think="it is the mean difference of a token.",
    because="divided by the size of the vocabulary it would vanish for a large one.",
)
def averaged(p, q):
    return float(np.abs(p - q).mean())


@total_variation.wrong(
    think="the shared mass measures the distance.",
    because="that is 1 where the two are equal; the distance is what is not shared.",
)
def shared_instead(p, q):
    return float(np.minimum(p, q).sum())


@total_variation.wrong(
    think="the Kullback-Leibler divergence is the distance of two distributions.",
    because="it is not symmetric, has no upper end, and does not give the rejection rate.",
)
def kullback_leibler(p, q):
    some = (p > 0) & (q > 0)
    return float((p[some] * np.log(p[some] / q[some])).sum())


acceptance_rate = WRONG.exercise("acceptance_rate")


@acceptance_rate.wrong(
    think="the total variation is the accepted share.",
    because="it is the rejected one; the two add up to 1.",
)
def rejection_rate(p, q):
    return float(np.abs(p - q).sum() / 2)


@acceptance_rate.wrong(
    think="the mean of min(1, p/q) over the vocabulary is the rate.",
    because="tokens are not drafted equally often; token x counts with q(x).",
)
def mean_of_the_ratios(p, q):
    ratio = np.divide(p, q, out=np.ones(len(p)), where=q > 0)
    return float(np.minimum(1, ratio).mean())


@acceptance_rate.form_of(mean_of_the_ratios)
def mean_of_the_drafts_ratios(p, q):
    drafted = q > 0
    return float(np.minimum(1, p[drafted] / q[drafted]).mean())


@acceptance_rate.wrong(
    think="a token is accepted when two draws, one from p and one from q, agree.",
    because="that rule, exact as well, accepts the sum of p q only; this one needs no agreement.",
)
def two_draws_agree(p, q):
    return float((p * q).sum())


@acceptance_rate.wrong(
    think="the draft proposes its most probable token.",
    because="the draft token is drawn from q, so every token counts, not the argmax alone.",
)
def argmax_only(p, q):
    token = int(np.argmax(q))
    return float(min(1.0, p[token] / q[token]))


@acceptance_rate.wrong(
    think="min(1, p/q) is averaged with the weights p.",
    because="only the text follows p in the end: the drafts that are judged come from q.",
)
def weighted_by_target(p, q):
    ratio = np.divide(p, q, out=np.ones(len(p)), where=q > 0)
    return float((p * np.minimum(1, ratio)).sum())


@acceptance_rate.wrong(
    think="only tokens with p of at least q are accepted.",
    because="below that a coin accepts a share p/q; without it part of the mass is not counted.",
)
def certain_ones_only(p, q):
    return float(q[p >= q].sum())


@acceptance_rate.wrong(
    think="q times p/q is p, so everything is accepted.",
    because="the ratio is capped at 1: of an understated token only q can be accepted.",
)
def without_the_cap(p, q):
    return float(p[q > 0].sum())


@acceptance_rate.form_of(without_the_cap)
def without_the_cap_or_a_look_at_zeros(p, q):
    return float((q * (p / q)).sum())


@acceptance_rate.wrong(
    think="dividing by q is safe, since q is what was drawn from.",
    because="q is 0 on tokens that are never drawn, and the sum visits them too: 0/0 is NaN.",
)
def plain_division(p, q):
    return float((q * np.minimum(1, p / q)).sum())


two_paths = WRONG.exercise("two_paths")


@two_paths.wrong(
    think="the corrected mass comes first.",
    because="the first array is the mass by acceptance, the second by correction.",
)
def other_way_round(p, q):
    return np.maximum(p - q, 0), np.minimum(p, q)


@two_paths.wrong(
    think="the corrected mass is the residual distribution.",
    because="the residual is drawn from only after a rejection; its mass is 1 - beta times that.",
)
def residual_itself(p, q):
    return np.minimum(p, q), _residual(p, q)


@two_paths.form_of(residual_itself)
def residual_itself_or_nothing(p, q):
    missing = np.maximum(p - q, 0)
    return np.minimum(p, q), missing / (missing.sum() or 1)


@two_paths.wrong(
    think="the accepted mass is min(1, p/q).",
    because="that is the probability for a token that was drafted; it is drafted with q only.",
)
def ratio_instead_of_mass(p, q):
    ratio = np.divide(p, q, out=np.ones(len(p)), where=q > 0)
    return np.minimum(1, ratio), np.maximum(p - q, 0)


@two_paths.wrong(
    think="what is rejected of a token comes back to it.",
    because="q - p is what was too much; the correction brings what is missing, p - q.",
)
def what_was_rejected(p, q):
    return np.minimum(p, q), np.maximum(q - p, 0)


@two_paths.wrong(
    think="the correction closes the distance |p - q|.",
    because="overstated tokens would be paid again, though acceptance gives them all of p.",
)
def absolute_difference(p, q):
    return np.minimum(p, q), np.abs(p - q)


@two_paths.wrong(
    think="after a rejection the target is drawn from.",
    because="then every token gets (1 - beta) p on top, and the two no longer add up to p.",
)
def corrected_from_target(p, q):
    accepted = np.minimum(p, q)
    return accepted, (1 - accepted.sum()) * p


@two_paths.wrong(
    think="all that is drafted is accepted, and the correction makes up for it.",
    because="of an overstated token only p is accepted; no correction takes mass away again.",
)
def drafted_instead_of_accepted(p, q):
    return q.copy(), p - q


@two_paths.wrong(
    think="q was drawn from, so dividing by it is safe.",
    because="both arrays have every token, those with q = 0 too, and 0/0 is NaN.",
    same_as=plain_division,
)
def divided_by_q(p, q):
    accepted = q * np.minimum(1, p / q)
    return accepted, p - accepted


@two_paths.form_of(divided_by_q)
def accepted_by_division(p, q):
    return q * np.minimum(1, p / q), np.maximum(p - q, 0)


@two_paths.wrong(
    think="a rejected share times a residual needs no care.",
    because="with p equal to q there is no residual: 0/0 fills the corrected mass with NaN.",
)
def share_of_nothing(p, q):
    accepted, missing = np.minimum(p, q), np.maximum(p - q, 0)
    return accepted, (1 - accepted.sum()) * missing / missing.sum()


argmax_draft_law = WRONG.exercise("argmax_draft_law")


def _drafted(p, q):
    """The draft token, and the probability that it is accepted."""
    token = int(np.argmax(q))
    return token, min(1.0, float(p[token] / q[token]))


def _one_hot(token, size):
    return np.eye(size)[token]


def _missing_added(p, q, always):
    """What is missing comes on top as it is, `always` or after a rejection only."""
    token, kept = _drafted(p, q)
    added = np.maximum(p - q, 0) if always or kept < 1 else 0
    return kept * _one_hot(token, len(p)) + added


@argmax_draft_law.wrong(
    think="the target has the last word, so the law is p.",
    because="the rule repairs a token drawn from q; this one was not drawn from q.",
)
def still_the_target(p, q):
    return p.copy()


@argmax_draft_law.wrong(
    think="the draft's favourite is always written.",
    because="it still has to pass the coin; where p is below q it is rejected at times.",
)
def always_the_favourite(p, q):
    return _one_hot(int(np.argmax(q)), len(p))


@argmax_draft_law.wrong(
    think="after a rejection the replacement comes from p.",
    because="this library corrects with the residual of the full q, which is not p.",
    same_as=corrected_from_target,
)
def replaced_from_target(p, q):
    token, kept = _drafted(p, q)
    return kept * _one_hot(token, len(p)) + (1 - kept) * p


@argmax_draft_law.wrong(
    think="the correction brings max(0, p - q), as in the two paths.",
    because="there the rejected share cancels the divisor; here the share is another one.",
)
def divisor_cancelled(p, q):
    return _missing_added(p, q, always=True)


@argmax_draft_law.form_of(divisor_cancelled)
def divisor_cancelled_after_a_rejection(p, q):
    return _missing_added(p, q, always=False)


@argmax_draft_law.wrong(
    think="the residual is what comes on top.",
    because="it comes after a rejection, with 1 - min(1, p/q); else the law sums to more than 1.",
)
def rejected_share_forgotten(p, q):
    token, kept = _drafted(p, q)
    return kept * _one_hot(token, len(p)) + (_residual(p, q) if kept < 1 else 0)


@argmax_draft_law.wrong(
    think="a law that does not sum to 1 is divided by its sum.",
    because="that takes mass from the draft token, which stays with min(1, p/q).",
)
def normalised_at_the_end(p, q):
    law = _missing_added(p, q, always=True)
    return law / law.sum()


@argmax_draft_law.form_of(normalised_at_the_end)
def normalised_after_a_rejection(p, q):
    law = _missing_added(p, q, always=False)
    return law / law.sum()


@argmax_draft_law.wrong(
    think="the greedy token is the target's most probable one.",
    because="the draft decodes greedily, so the draft token is the argmax of q.",
)
def argmax_of_the_target(p, q):
    token = int(np.argmax(p))
    kept = min(1.0, float(p[token] / max(q[token], 1e-300)))
    return kept * _one_hot(token, len(p)) + (1 - kept) * _residual(p, q)


@argmax_draft_law.wrong(
    think="the accepted share is p/q.",
    because="above 1 it is no probability; the coin accepts for certain then, and no more.",
)
def no_cap(p, q):
    token = int(np.argmax(q))
    kept = float(p[token] / q[token])
    return kept * _one_hot(token, len(p)) + (1 - kept) * _residual(p, q)


@argmax_draft_law.wrong(
    think="of several largest entries any may be taken.",
    because="argmax takes the lowest index, as NumPy and torch do on a CPU.",
)
def last_of_equals(p, q):
    token = len(q) - 1 - int(np.argmax(q[::-1]))
    kept = min(1.0, float(p[token] / q[token]))
    return kept * _one_hot(token, len(p)) + (1 - kept) * _residual(p, q)


@argmax_draft_law.wrong(
    think="there is always a residual to divide by.",
    because="with p equal to q nothing is missing, and 0/0 fills the law with NaN.",
    same_as=share_of_nothing,
)
def empty_residual(p, q):
    token, kept = _drafted(p, q)
    missing = np.maximum(p - q, 0)
    return kept * _one_hot(token, len(p)) + (1 - kept) * missing / missing.sum()


@argmax_draft_law.wrong(
    think="the correction draws from q - p.",
    because="that is the draft's surplus; the residual is what the draft leaves missing.",
)
def residual_of_the_draft(p, q):
    token, kept = _drafted(p, q)
    return kept * _one_hot(token, len(p)) + (1 - kept) * _residual(q, p)


warp = WRONG.exercise("warp")


def _softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def _greedy_or_none(logits, temperature):
    """The right answer at temperature 0, the right error below it, else None."""
    if temperature < 0:
        raise ValueError("temperature below 0")
    return np.eye(len(logits))[np.argmax(logits)] if temperature == 0 else None


def _top_k(logits, top_k):
    if not top_k or top_k >= len(logits):
        return logits
    return np.where(logits < np.sort(logits)[-top_k], -np.inf, logits)


def _top_p(probs, top_p, mass=None):
    """The right top-p of `probs`, by the masses `mass` if they are other ones."""
    if top_p is None or top_p >= 1:
        return probs
    mass = probs if mass is None else mass
    order = np.argsort(-mass, kind="stable")
    before = np.cumsum(mass[order]) - mass[order]
    kept = np.zeros(len(probs))
    keep = order[(before < top_p) | (np.arange(len(probs)) == 0)]
    kept[keep] = probs[keep]
    return kept / kept.sum()


@warp.wrong(
    think="the logits are multiplied by the temperature.",
    because="a low temperature must sharpen; multiplied by 0.5 the logits come nearer together.",
)
def multiplied(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    return _top_p(_softmax(_top_k(logits * temperature, top_k)), top_p)


@warp.wrong(
    think="the probabilities are divided by the temperature.",
    because="renormalised they are as before; the logits are divided, before the softmax.",
)
def probabilities_divided(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    probs = _softmax(_top_k(logits, top_k)) / temperature
    return _top_p(probs / probs.sum(), top_p)


@warp.wrong(
    think="top-k keeps exactly k tokens.",
    because="logits that equal the k-th are no worse than it; the warpers in use keep them all.",
)
def exactly_k(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    scaled = logits / temperature
    if top_k:
        best = np.argsort(-scaled, kind="stable")[:top_k]
        cut = np.full(len(scaled), -np.inf)
        cut[best] = scaled[best]
        scaled = cut
    return _top_p(_softmax(scaled), top_p)


@warp.wrong(
    think="top-p keeps tokens while their sum stays within top_p.",
    because="the token that crosses it is kept: what counts is the mass before a token.",
)
def crossing_token_dropped(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    probs = _softmax(_top_k(logits / temperature, top_k))
    if top_p is None or top_p >= 1:
        return probs
    order = np.argsort(-probs, kind="stable")
    kept = np.zeros(len(probs))
    keep = order[(np.cumsum(probs[order]) <= top_p) | (np.arange(len(probs)) == 0)]
    kept[keep] = probs[keep]
    return kept / kept.sum()


@warp.wrong(
    think="a token is kept as long as the mass before it is at most top_p.",
    because="where that mass is top_p exactly, enough is kept already: the next token goes.",
)
def boundary_kept(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    probs = _softmax(_top_k(logits / temperature, top_k))
    if top_p is None or top_p >= 1:
        return probs
    order = np.argsort(-probs, kind="stable")
    before = np.cumsum(probs[order]) - probs[order]
    kept = np.zeros(len(probs))
    keep = order[before <= top_p]
    kept[keep] = probs[keep]
    return kept / kept.sum()


@warp.wrong(
    think="the masses are added up from the least probable token.",
    because="top-p keeps the most probable tokens: rank them first, the largest at the front.",
)
def least_probable_kept(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    probs = _softmax(_top_k(logits / temperature, top_k))
    if top_p is None or top_p >= 1:
        return probs
    order = np.argsort(probs, kind="stable")
    before = np.cumsum(probs[order]) - probs[order]
    kept = np.zeros(len(probs))
    keep = order[(before < top_p) | (np.arange(len(probs)) == 0)]
    kept[keep] = probs[keep]
    return kept / kept.sum()


@warp.wrong(
    think="the filters look at the model's own probabilities, the temperature comes last.",
    because="the temperature changes the masses that top-p adds up, so it comes first.",
)
def temperature_last(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    mass = _softmax(_top_k(logits, top_k))
    return _top_p(_softmax(_top_k(logits / temperature, top_k)), top_p, mass)


@warp.wrong(
    think="top-p adds up the masses from before top-k.",
    because="what top-k has left sums to 1 again before top-p looks at it.",
)
def mass_before_top_k(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    scaled = logits / temperature
    return _top_p(_softmax(_top_k(scaled, top_k)), top_p, _softmax(scaled))


@warp.wrong(
    think="what is filtered is cut, and the rest stays as it is.",
    because="what is sampled must sum to 1: the kept mass is renormalised.",
)
def not_renormalised(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    scaled = logits / temperature
    kept = _top_p(_softmax(_top_k(scaled, top_k)), top_p) > 0
    return np.where(kept, _softmax(scaled), 0.0)


@warp.wrong(
    think="softmax is exp over its sum.",
    because="exp of a logit above 709 is infinite; the largest is subtracted first.",
)
def overflowing_softmax(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    weights = np.exp(_top_k(logits / temperature, top_k))
    return _top_p(weights / weights.sum(), top_p)


@warp.wrong(
    think="a temperature of 0 is a very small temperature.",
    because="with 0.001 in its place two equal logits still share; 0 means the argmax alone.",
)
def small_instead_of_zero(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0:
        raise ValueError("temperature below 0")
    return _top_p(_softmax(_top_k(logits / max(temperature, 1e-3), top_k)), top_p)


@warp.wrong(
    think="a negative temperature is the caller's own fault.",
    because="it would turn the ranking round without a word; a ValueError says so.",
)
def negative_let_through(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    return _top_p(_softmax(_top_k(logits / temperature, top_k)), top_p)


@warp.wrong(
    think="the logits can be divided in place.",
    because="the caller still needs them; a second call would divide them again.",
)
def divided_in_place(logits, temperature=1.0, top_k=None, top_p=None):
    greedy = _greedy_or_none(logits, temperature)
    if greedy is not None:
        return greedy
    logits /= temperature
    return _top_p(_softmax(_top_k(logits, top_k)), top_p)


is_lossless = WRONG.exercise("is_lossless")


def _law(rule, p, q, r, u, weights):
    """The distribution of a rule over pairs of r and u, with `weights` for the draft tokens."""
    law = np.zeros(len(p))
    for token in np.flatnonzero(weights):
        out = rule(p, q, np.full(r.size, token), r, u)
        law += weights[token] * np.bincount(out, minlength=len(p)) / r.size
    return law


def _grid(start):
    """All pairs of 64 numbers, `start` cells from the lower end of each cell."""
    axis = (np.arange(64) + start) / 64
    r, u = np.meshgrid(axis, axis)
    return r.ravel(), u.ravel()


def _close(law, p, tolerance=1e-12):
    return bool(np.abs(law - p).max() < tolerance)


@is_lossless.wrong(
    think="enough draws show what a sampler does.",
    because="their noise is larger than a small bias, and a tolerance above it lets that through.",
)
def by_sampling(rule, p, q):
    rng = np.random.default_rng(0)
    drafts = rng.choice(len(q), size=20_000, p=q)
    out = rule(p, q, drafts, rng.random(20_000), rng.random(20_000))
    return _close(np.bincount(out, minlength=len(p)) / 20_000, p, 0.02)


@is_lossless.wrong(
    think="64 midpoints serve for r and u together.",
    because="r and u are independent, so all 4,096 pairs count; on the diagonal u is r again.",
)
def diagonal_only(rule, p, q):
    middles = (np.arange(64) + 0.5) / 64
    return _close(_law(rule, p, q, middles, middles, q), p)


@is_lossless.wrong(
    think="every draft token counts alike.",
    because="token x is drafted with q(x), and its cells weigh that much.",
)
def tokens_weigh_alike(rule, p, q):
    return _close(_law(rule, p, q, *_grid(0.5), np.full(len(q), 1 / len(q))), p)


@is_lossless.wrong(
    think="a lossless rule does the same as the known one in every cell.",
    because="many rules have the law p; only the law is asked for, not the same decisions.",
)
def same_decisions(rule, p, q):
    r, u = _grid(0.5)
    replacement = np.searchsorted(np.cumsum(_residual(p, q)), u, side="right").clip(0, len(p) - 1)
    tokens = np.flatnonzero(q)
    right = [np.where(r * q[t] < p[t], t, replacement) for t in tokens]
    out = [rule(p, q, np.full(r.size, t), r, u) for t in tokens]
    return all(np.array_equal(a, b) for a, b in zip(out, right, strict=True))


@is_lossless.wrong(
    think="a difference below a thousandth is rounding.",
    because="the grid counts exactly, so whatever is above 1e-12 is a bias.",
)
def below_a_thousandth(rule, p, q):
    return _close(_law(rule, p, q, *_grid(0.5), q), p, 1e-3)


@is_lossless.wrong(
    think="the draft proposes its most probable token.",
    because="drafts are drawn from q; the law for one draft token is not the law of the rule.",
    same_as=argmax_only,
)
def argmax_draft(rule, p, q):
    return _close(_law(rule, p, q, *_grid(0.5), np.eye(len(q))[np.argmax(q)]), p)


@is_lossless.wrong(
    think="the cells may be asked at their corners.",
    because="decisions fall on the corners, where <= and < differ; the middle is on no border.",
)
def at_the_corners(rule, p, q):
    return _close(_law(rule, p, q, *_grid(0.0), q), p)


@is_lossless.wrong(
    think="the draft's token must come out as often as the overlap says.",
    because="that is a question of speed: a rule that keeps fewer of them may be exact.",
)
def acceptance_instead_of_law(rule, p, q):
    r, u = _grid(0.5)
    same = [np.mean(rule(p, q, np.full(r.size, t), r, u) == t) for t in np.flatnonzero(q)]
    return _close(q[q > 0] @ np.array(same), np.minimum(p, q).sum())


impostor = WRONG.exercise("impostor")


def _right(p, q, tokens, r, u):
    """The right rule."""
    replacement = np.searchsorted(np.cumsum(_residual(p, q)), u, side="right").clip(0, len(p) - 1)
    return np.where(r * q[tokens] < p[tokens], tokens, replacement)


@impostor.wrong(
    think="the right rule is the best disguise.",
    because="it hides nothing: an impostor needs a bias, and counting must find it.",
)
def honest(p, q, tokens, r, u):
    return _right(p, q, tokens, r, u)


@impostor.wrong(
    think="any mistake that people really make hides among 200,000 samples.",
    because="the noise is 0.0015, and the smallest mistake of the line-up is five times as large.",
)
def too_loud(p, q, tokens, r, u):
    replacement = np.searchsorted(np.cumsum(p), u, side="right").clip(0, len(p) - 1)
    return np.where(r * q[tokens] < p[tokens], tokens, replacement)


@impostor.form_of(too_loud)
def keeps_everything(p, q, tokens, r, u):
    return tokens.copy()


@impostor.wrong(
    think="r and u may be compared with any small number.",
    because="the count asks once in each square; what is decided inside a square it cannot weigh.",
)
def between_the_lines(p, q, tokens, r, u):
    return np.where((r < 0.006) & (u < 0.5), 2, _right(p, q, tokens, r, u))


@impostor.wrong(
    think="the smaller the bias, the better the forgery.",
    because="it earns more with every square, as long as the samples do not show it.",
)
def one_square(p, q, tokens, r, u):
    return np.where((r < 1 / 64) & (u < 1 / 64), 2, _right(p, q, tokens, r, u))
