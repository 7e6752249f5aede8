"""Known wrong answers of chapter 08, each with its refutation. Most are in published code."""

import numpy as np
import torch

from autograde.chapters.parametrized import Misconceptions
from specdec_lib.sampling import Warp, sample_rows

WRONG = Misconceptions()


rollback = WRONG.exercise("rollback")


def _held(cache, length):
    """How many positions the cache holds, if `length` can be one of them."""
    held = int(cache.length[0])
    if not 0 <= length <= held:
        raise ValueError("no such length")
    return held


@rollback.wrong(
    think="one position fewer is on the safe side.",
    because="the forgotten position is of the text, and a model that reads on behind the gap sees "
    "another text.",
)
def one_too_many(cache, length):
    held = _held(cache, length)
    if length < held:
        cache.truncate(max(length - 1, 0))


@rollback.wrong(
    think="the correction stands at the next position, so that one may stay.",
    because="what is kept there was computed for the rejected token, not for the one written.",
)
def one_too_few(cache, length):
    held = _held(cache, length)
    if length < held:
        cache.truncate(min(length + 1, held))


@rollback.wrong(
    think="the number says how many positions to remove.",
    because="that is how transformers' crop takes it; here it is the length that is left.",
)
def a_number_to_remove(cache, length):
    held = _held(cache, length)
    if length > 0:
        cache.truncate(held - length)


@rollback.form_of(a_number_to_remove)
def a_number_to_remove_unless_all_stay(cache, length):
    held = _held(cache, length)
    if length < held:
        cache.truncate(held - length)


@rollback.wrong(
    think="an extra call does no harm.",
    because="on a GPU it is one more operation behind every block; where nothing is forgotten "
    "nothing is called.",
)
def always_called(cache, length):
    _held(cache, length)
    cache.truncate(length)


@rollback.wrong(
    think="the cache raises ValueError itself.",
    because="only this one does. The protocol does not say so: another cache may hold what was "
    "never read, and nothing would tell.",
)
def left_to_the_cache(cache, length):
    if int(cache.length[0]) != length:
        cache.truncate(length)


@rollback.form_of(left_to_the_cache)
def too_short_left_to_the_cache(cache, length):
    held = int(cache.length[0])
    if length > held:
        raise ValueError("no such length")
    if length < held:
        cache.truncate(length)


@rollback.wrong(
    think="a length that is too large means that all stays.",
    because="the caller believes that those positions are there, and nothing would tell it.",
)
def clamped(cache, length):
    held = int(cache.length[0])
    length = min(max(length, 0), held)
    if length < held:
        cache.truncate(length)


@rollback.wrong(
    think="an empty cache is of no use, so 0 is an error.",
    because="a text of one token has nothing that was read, and its cache is empty.",
)
def nothing_is_an_error(cache, length):
    held = int(cache.length[0])
    if not 0 < length <= held:
        raise ValueError("no such length")
    if length < held:
        cache.truncate(length)


@rollback.wrong(
    think="Python counts negative lengths from the end.",
    because="a slice does; a length below 0 is a mistake of the caller, and a cut hides it.",
)
def from_the_end(cache, length):
    held = int(cache.length[0])
    if length > held or length < -held:
        raise ValueError("no such length")
    length = length % held if length < 0 else length
    if length < held:
        cache.truncate(length)


@rollback.wrong(
    think="a rejected block means that the cache starts again.",
    because="then the whole text is read once a block, which is what a cache is there to avoid.",
)
def emptied(cache, length):
    held = _held(cache, length)
    if length < held:
        cache.truncate(0)


verify_block = WRONG.exercise("verify_block")


def _drafted(p, q, drafted):
    """The two probabilities of each draft token."""
    at = drafted[..., None]
    return p[:, :-1].gather(-1, at)[..., 0], q.gather(-1, at)[..., 0]


def _count(accepted):
    """How many stand, up to the first rejection."""
    return accepted.long().cumprod(-1).sum(-1)


def _right_count(p, q, drafted, r):
    """How many stand by the right rule, for wrong answers that err elsewhere."""
    p_x, q_x = _drafted(p, q, drafted)
    return _count(r * q_x < p_x)


def _next(p, q, count):
    """p and q after `count` tokens; after a whole block q is 0."""
    rows = torch.arange(len(p))
    return p[rows, count], torch.nn.functional.pad(q, (0, 0, 0, 1))[rows, count]


def _residual(p, q):
    """max(p - q, 0), normalised; p if that is empty."""
    rest = (p - q).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return torch.where(mass > 0, rest / mass, p)


@verify_block.wrong(
    think="every accepted token counts, wherever it stands.",
    because="a token behind a rejected one was judged after a text that is not written.",
)
def no_stop(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = (r * q_x < p_x).sum(-1)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="r q <= p is the same rule.",
    because="it accepts a token of probability 0 when r is 0, and 0 <= 0 where both are 0.",
)
def not_strict(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = _count(r * q_x <= p_x)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="the published rule can be copied as it stands: r <= p/q.",
    because="with r = 0 it accepts a token of probability 0, and 0/0 is not a number; the product "
    "r q < p needs no case for either.",
)
def published_rule(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = _count(r <= p_x / q_x)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="the ratio is the draft over the target.",
    because="a token that the draft overstates is the one to reject.",
)
def ratio_swapped(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = _count(r * p_x < q_x)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="no coin is needed: a token passes where p is at least q.",
    because="overstated tokens would then never be written; the coin gives each its share.",
)
def no_coin(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = _count(q_x <= p_x)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="a token passes with the target's probability of it.",
    because="that is the rule for a draft without a law of its own. This one proposed the token "
    "with probability q already, and r < p counts that twice.",
)
def without_q(p, q, drafted, r, u):
    count = _count(r < _drafted(p, q, drafted)[0])
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="a token passes where the target, drawing by itself, draws the same one.",
    because="the share accepted is the sum of p q then, not of min(p, q), though the law is kept.",
)
def match_with_the_targets_own(p, q, drafted, r, u):
    rows, k = drafted.shape
    own = sample_rows(p[:, :-1].flatten(0, 1), r.flatten()).view(rows, k)
    count = _count(own == drafted)
    behind = torch.cat([own, sample_rows(p[:, -1], u)[:, None]], 1)
    return count, behind[torch.arange(rows), count]


@verify_block.wrong(
    think="at most probable is good enough: a token passes where it is the target's argmax.",
    because="that is the rule of temperature 0, where p is one-hot; elsewhere the less probable "
    "tokens would never be accepted.",
)
def greedy_match(p, q, drafted, r, u):
    count = _count(p[:, :-1].argmax(-1) == drafted)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="the first rejection is where argmax finds it.",
    because="in a row without a rejection argmax gives 0, as if its first token were rejected.",
)
def argmax_of_none(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    refused = ~(r * q_x < p_x)
    count = refused.long().argmax(-1) if refused.shape[1] else torch.zeros(len(p)).long()
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="a batch goes on together, so the row with the fewest accepted tokens decides.",
    because="each row has a count of its own; the others would throw good tokens away.",
)
def slowest_row(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = _count(r * q_x < p_x).min().expand(len(p))
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="one uniform number serves the whole row.",
    because="the verdicts would then be tied to each other; r[:, i] is there for position i.",
)
def one_uniform_reused(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = _count(r[:, :1] * q_x < p_x)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="one row of coins serves all rows.",
    because="the rows of a batch are texts of their own, and each has coins of its own in r.",
)
def one_row_of_coins(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = _count(r[:1] * q_x < p_x)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="one u serves all rows.",
    because="the rows of a batch are texts of their own, and u has a number for each of them.",
)
def one_u_for_all_rows(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    return count, sample_rows(_residual(*_next(p, q, count)), u[:1].expand(len(p)))


@verify_block.wrong(
    think="the coin of the rejected token can pick the next one, too.",
    because="after a rejection r is known to be large, so the pick would be biased; u is fresh.",
)
def coin_used_again(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    behind = torch.cat([r.to(u.dtype), u[:, None]], 1)
    return count, sample_rows(_residual(*_next(p, q, count)), behind[torch.arange(len(p)), count])


@verify_block.wrong(
    think="after a rejection the target is simply asked again.",
    because="tokens that the draft proposed often enough would be paid twice. (If you did take q "
    "off: without the clamp p - q sums to 0, and p takes its place all the same.)",
)
def from_the_target(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    return count, sample_rows(_next(p, q, count)[0], u)


@verify_block.form_of(from_the_target)
def not_clamped(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = p_next - q_next
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 0, rest / mass, p_next), u)


@verify_block.wrong(
    think="what a rejection leaves is p without the rejected token.",
    because="that is the rule for a draft that always proposes the same token. This one was drawn "
    "from q, so q is taken off every token.",
)
def rejected_token_taken_out(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    law = _next(p, q, count)[0].clone()
    if q.shape[1]:
        rows, at = torch.arange(len(p)), count.clamp(max=q.shape[1] - 1)
        law[rows, drafted[rows, at]] *= (count == q.shape[1]).to(p.dtype)
    mass = law.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 0, law / mass, p[:, 0]), u)


@verify_block.wrong(
    think="the residual is how far p and q are apart.",
    because="tokens that the draft overstates are apart as well, and those lack nothing.",
)
def absolute_difference(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).abs()
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 0, rest / mass, p_next), u)


@verify_block.wrong(
    think="sample_rows divides by the sum itself.",
    because="it takes its rows as they are, and a sum below 1 leaves too much to the last token.",
)
def not_normalised(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0)
    return count, sample_rows(torch.where(rest.sum(-1, keepdim=True) > 0, rest, p_next), u)


@verify_block.wrong(
    think="a very small residual is rounding, and p may stand for it.",
    because="however small it is, it is the law of what a rejection leaves; p stands for it only "
    "where there is none.",
)
def small_residual_dropped(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 1e-3, rest / mass, p_next), u)


@verify_block.form_of(small_residual_dropped)
def residual_below_rounding_dropped(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 1e-8, rest / mass, p_next), u)


@verify_block.form_of(small_residual_dropped)
def residual_within_rounding_dropped(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 1e-12, rest / mass, p_next), u)


@verify_block.wrong(
    think="a tiny number added to the residual's sum saves the division and changes nothing.",
    because="a residual can be as small as the number that was added, and then its law no longer "
    "sums to 1: the last token would get what is missing.",
)
def added_to_the_sum(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 0, rest / (mass + 1e-12), p_next), u)


@verify_block.form_of(added_to_the_sum)
def sum_of_a_least_size(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 0, rest / mass.clamp(min=1e-8), p_next), u)


@verify_block.wrong(
    think="a tiny number added to every entry of the residual keeps it from being empty.",
    because="every token would get a part of it, and one that p excludes could be drawn.",
)
def added_to_every_entry(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0) + 1e-12
    return count, sample_rows(rest / rest.sum(-1, keepdim=True), u)


@verify_block.form_of(added_to_every_entry)
def entries_of_a_least_size(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=1e-12)
    return count, sample_rows(rest / rest.sum(-1, keepdim=True), u)


@verify_block.wrong(
    think="where the residual is empty, any token is as good.",
    because="an empty residual means that p and q are equal, and then every token of p is as good; "
    "one that p excludes is not.",
)
def uniform_where_empty(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    even = torch.full_like(rest, 1 / p.shape[-1])
    return count, sample_rows(torch.where(mass > 0, rest / mass, even), u)


@verify_block.wrong(
    think="behind a whole block the draft goes on: its last row gives the bonus.",
    because="nothing judges the bonus, so it must come from the target itself.",
)
def bonus_from_the_draft(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    law = _residual(*_next(p, q, count))
    if q.shape[1]:
        law = torch.where((count == q.shape[1])[:, None], q[:, -1], law)
    return count, sample_rows(law, u)


@verify_block.wrong(
    think="the bonus is a correction too, so the draft's last row is taken off.",
    because="that row was for the token before; at the bonus nothing was drafted, and q is 0.",
)
def bonus_less_the_last_row(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    if q.shape[1]:
        q_next = torch.where((count == q.shape[1])[:, None], q[:, -1], q_next)
    return count, sample_rows(_residual(p_next, q_next), u)


@verify_block.wrong(
    think="the bonus token comes from the last row that was judged.",
    because="row K of p stands behind the whole block; row K - 1 was for the last draft token.",
)
def stale_bonus_row(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count.clamp(max=max(q.shape[1] - 1, 0)))
    whole = (count == q.shape[1])[:, None]
    return count, sample_rows(torch.where(whole, p_next, _residual(p_next, q_next)), u)


@verify_block.wrong(
    think="the row behind a token judges it.",
    because="row i of p is the distribution that draft token i was to be drawn from.",
)
def rows_one_late(p, q, drafted, r, u):
    p_x = p[:, 1:].gather(-1, drafted[..., None])[..., 0]
    q_x = q.gather(-1, drafted[..., None])[..., 0]
    count = _count(r * q_x < p_x)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="half precision is enough for a probability.",
    because="a residual is a small difference of two numbers, and in half precision most of it is "
    "rounding.",
)
def residual_in_half_precision(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    return count, sample_rows(_residual(p_next.half(), q_next.half()), u)


@verify_block.wrong(
    think="models give float32, so the block is judged in float32.",
    because="p and q come in the dtype that the caller has chosen, and a residual finer than "
    "float32 is lost.",
)
def in_single_precision(p, q, drafted, r, u):
    p, q = p.float(), q.float()
    count = _right_count(p, q, drafted, r)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.form_of(in_single_precision)
def law_in_single_precision(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    return count, sample_rows(_residual(*_next(p, q, count)).float(), u)


@verify_block.form_of(in_single_precision)
def all_in_single_precision(p, q, drafted, r, u):
    p, q, r, u = p.float(), q.float(), r.float(), u.float()
    count = _right_count(p, q, drafted, r)
    return count, sample_rows(_residual(*_next(p, q, count)), u)


@verify_block.wrong(
    think="a count is a number, of whatever dtype.",
    because="whoever indexes with it needs whole numbers, and a device refuses others.",
)
def count_in_floats(p, q, drafted, r, u):
    p_x, q_x = _drafted(p, q, drafted)
    count = (r * q_x < p_x).double().cumprod(-1).sum(-1)
    return count, sample_rows(_residual(*_next(p, q, count.long())), u)


@verify_block.wrong(
    think="where nothing is left of the residual, nothing needs to be done.",
    because="0 over 0 is not a number, and no token can be drawn from it.",
)
def no_guard(p, q, drafted, r, u):
    count = _right_count(p, q, drafted, r)
    p_next, q_next = _next(p, q, count)
    rest = (p_next - q_next).clamp(min=0)
    return count, sample_rows(rest / rest.sum(-1, keepdim=True), u)


@verify_block.wrong(
    think="a loop over the rows is clearer and costs nothing.",
    because="it starts the same operators once for every row, and a GPU waits for Python.",
)
def loop_over_rows(p, q, drafted, r, u):
    counts, tokens = [], []
    for row in range(len(p)):
        one = slice(row, row + 1)
        p_x, q_x = _drafted(p[one], q[one], drafted[one])
        count = _count(r[one] * q_x < p_x)
        counts.append(count)
        tokens.append(sample_rows(_residual(*_next(p[one], q[one], count)), u[one]))
    return torch.cat(counts), torch.cat(tokens)


speculative_generate = WRONG.exercise("speculative_generate")


def _feed(model, cache, tokens):
    """The logits after what the cache did not hold."""
    return model.forward(torch.tensor([tokens[int(cache.length[0]) :]]), cache)


def _numbers(rng, n, temperature):
    """The numbers of a block."""
    if temperature == 0:
        return np.zeros(n), np.zeros(n), 0.0
    return rng.random(n), rng.random(n), rng.random()


def _draft(model, cache, text, uniforms, warp):
    """Draft tokens and their distributions, each (1, 1, V)."""
    drafted, q = [], []
    for u in uniforms:
        q.append(warp(_feed(model, cache, text + drafted)[:, -1:]))
        drafted.append(int(sample_rows(q[-1][0], torch.tensor([u]))))
    return drafted, q


def _rows(model, cache, text, n):
    """The target's logits after the last n + 1 tokens."""
    return _feed(model, cache, text)[:, -n - 1 :]


def _verdict(p, q, drafted, r, u):
    """The new tokens of a block."""
    q = torch.cat([*q, p[:, :0]], 1)
    tokens = torch.tensor([drafted]).long()
    at = tokens[..., None]
    coins = torch.tensor([list(r)], dtype=torch.float64)
    accepted = coins * q.gather(-1, at)[..., 0] < p[:, :-1].gather(-1, at)[..., 0]
    n = int(accepted.long().cumprod(-1).sum(-1))
    behind = torch.nn.functional.pad(q, (0, 0, 0, 1))
    rest = (p[:, n] - behind[:, n]).clamp(min=0)
    law = rest / rest.sum() if rest.sum() > 0 else p[:, n]
    return drafted[:n] + [int(sample_rows(law, torch.tensor([u])))]


def _ended(new, eos_id):
    """The new tokens up to the end, and whether there is one."""
    return (new[: new.index(eos_id) + 1], True) if eos_id in new else (new, False)


def _back(cache, length):
    """Cut the cache to `length` if it holds more."""
    if int(cache.length[0]) > length:
        cache.truncate(length)


def _write(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None, **other):
    """The right loop, but for the parts in `other`: functions in the place of those above."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended = (target.new_cache(), draft.new_cache()), False
    while len(text) < end and not ended:
        n = min(k, end - len(text) - 1)
        u_draft, r, u = other.get("numbers", _numbers)(rng, n, temperature)
        drafted, q = other.get("propose", _draft)(draft, caches[1], text, u_draft, warp)
        p = warp(other.get("rows", _rows)(target, caches[0], text + drafted, n))
        new = other.get("verdict", _verdict)(p, q, drafted, r, u)
        new, ended = _ended(new, eos_id)
        text += new
        other.get("back", _back)(caches[0], len(text) - 1)
        _back(caches[1], len(text) - 1)
    return text[len(prompt_ids) :]


@speculative_generate.wrong(
    think="the target's cache may lose one more position: it is read again anyway.",
    because="then an accepted token is read twice, in every block.",
)
def rollback_too_far(*request):
    def back(cache, length):
        _back(cache, max(length - 1, 0))

    return _write(*request, back=back)


@speculative_generate.wrong(
    think="the draft reads its last token as well, so that both caches go back alike.",
    because="that pass helps only after a block that was accepted whole, and there the draft can "
    "read this token together with the bonus. In every block it costs a draft step.",
)
def draft_reads_its_last_token(*request):
    def propose(model, cache, text, uniforms, warp):
        drafted, q = _draft(model, cache, text, uniforms, warp)
        if drafted:
            _feed(model, cache, text + drafted)
        return drafted, q

    return _write(*request, propose=propose)


@speculative_generate.wrong(
    think="the caches take care of themselves.",
    because="without a rollback the rejected tokens stay in them, and every later pass sees them.",
)
def no_rollback(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended = (target.new_cache(), draft.new_cache()), False
    feeds = [list(text), list(text)]
    while len(text) < end and not ended:
        n = min(k, end - len(text) - 1)
        u_draft, r, u = _numbers(rng, n, temperature)
        drafted, q = [], []
        for u_i in u_draft:
            q.append(warp(draft.forward(torch.tensor([feeds[1]]), caches[1])[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([u_i]))))
            feeds[1] = drafted[-1:]
        p = warp(target.forward(torch.tensor([feeds[0] + drafted]), caches[0])[:, -n - 1 :])
        new, ended = _ended(_verdict(p, q, drafted, r, u), eos_id)
        text += new
        feeds = [text[-1:], text[-1:]]
    return text[len(prompt_ids) :]


@speculative_generate.wrong(
    think="the draft goes on behind the last token, so that is all it reads.",
    because="behind a block that was accepted whole it has not read its own last token either: its "
    "cache stays a position short, and it drafts behind another text.",
)
def bonus_not_fed(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended, unread = (target.new_cache(), draft.new_cache()), False, list(prompt_ids)
    while len(text) < end and not ended:
        n = min(k, end - len(text) - 1)
        u_draft, r, u = _numbers(rng, n, temperature)
        drafted, q, before = [], [], int(caches[1].length[0]) + len(unread)
        for u_i in u_draft:
            q.append(warp(draft.forward(torch.tensor([unread]), caches[1])[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([u_i]))))
            unread = drafted[-1:]
        p = warp(_feed(target, caches[0], text + drafted)[:, -n - 1 :])
        new, ended = _ended(_verdict(p, q, drafted, r, u), eos_id)
        text += new
        unread = text[-1:]
        _back(caches[0], len(text) - 1)
        _back(caches[1], min(before + len(new) - 1, before + max(n - 1, 0)))
    return text[len(prompt_ids) :]


def _newest_only(target, draft, request, held):
    """The loop with a draft that is fed its newest token alone, and cut back to `held`(length)."""
    prompt_ids, k, max_new_tokens, temperature, rng, eos_id = request
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended, unread = (target.new_cache(), draft.new_cache()), False, list(prompt_ids)
    while len(text) < end and not ended:
        n = min(k, end - len(text) - 1)
        u_draft, r, u = _numbers(rng, n, temperature)
        drafted, q = [], []
        for u_i in u_draft:
            q.append(warp(draft.forward(torch.tensor([unread]), caches[1])[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([u_i]))))
            unread = drafted[-1:]
        p = warp(_feed(target, caches[0], text + drafted)[:, -n - 1 :])
        new, ended = _ended(_verdict(p, q, drafted, r, u), eos_id)
        text += new
        unread = text[-1:]
        _back(caches[0], len(text) - 1)
        _back(caches[1], held(len(text)))
    return text[len(prompt_ids) :]


@speculative_generate.form_of(bonus_not_fed)
def newest_token_alone(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    request = prompt_ids, k, max_new_tokens, temperature, rng, eos_id
    return _newest_only(target, draft, request, lambda length: length - 1)


@speculative_generate.form_of(bonus_not_fed)
def newest_token_alone_behind_the_prompt(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended = (target.new_cache(), draft.new_cache()), False
    if max_new_tokens and len(text) > 1:
        _feed(draft, caches[1], text[:-1])
    while len(text) < end and not ended:
        n = min(k, end - len(text) - 1)
        u_draft, r, u = _numbers(rng, n, temperature)
        drafted, q = [], []
        for u_i in u_draft:
            last = [*text, *drafted][-1:]
            q.append(warp(draft.forward(torch.tensor([last]), caches[1])[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([u_i]))))
        p = warp(_feed(target, caches[0], text + drafted)[:, -n - 1 :])
        new, ended = _ended(_verdict(p, q, drafted, r, u), eos_id)
        text += new
        for cache in caches:
            _back(cache, len(text) - 1)
    return text[len(prompt_ids) :]


@speculative_generate.wrong(
    think="only the target's cache needs a rollback.",
    because="the draft has read its rejected tokens too, and drafts on behind them.",
    same_as=no_rollback,
)
def draft_not_rolled_back(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    request = prompt_ids, k, max_new_tokens, temperature, rng, eos_id
    return _newest_only(target, draft, request, lambda length: 10**6)


@speculative_generate.wrong(
    think="a coin equal to the ratio accepts.",
    because="r q <= p accepts a token of probability 0 where r is 0, and at temperature 0 every "
    "coin is 0.",
    same_as=not_strict,
)
def coin_at_most(*request):
    def verdict(p, q, drafted, r, u):
        return _verdict(p, q, drafted, np.nextafter(r, -1), u)

    return _write(*request, verdict=verdict)


@speculative_generate.wrong(
    think="with `left` tokens to write a block may draft min(k, left).",
    because="one token of a block comes from the target in any case: draft left - 1 at most.",
)
def limit_off_by_one(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended = (target.new_cache(), draft.new_cache()), False
    while len(text) < end and not ended:
        n = min(k, end - len(text))
        u_draft, r, u = _numbers(rng, n, temperature)
        drafted, q = _draft(draft, caches[1], text, u_draft, warp)
        p = warp(_feed(target, caches[0], text + drafted)[:, -n - 1 :])
        new, ended = _ended(_verdict(p, q, drafted, r, u), eos_id)
        text += new
        for cache in caches:
            _back(cache, len(text) - 1)
    return text[len(prompt_ids) : end]


@speculative_generate.form_of(limit_off_by_one)
def limit_off_by_one_uncut(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended = (target.new_cache(), draft.new_cache()), False
    while len(text) < end and not ended:
        n = min(k, end - len(text))
        u_draft, r, u = _numbers(rng, n, temperature)
        drafted, q = _draft(draft, caches[1], text, u_draft, warp)
        p = warp(_feed(target, caches[0], text + drafted)[:, -n - 1 :])
        new, ended = _ended(_verdict(p, q, drafted, r, u), eos_id)
        text += new
        for cache in caches:
            _back(cache, len(text) - 1)
    return text[len(prompt_ids) :]


@speculative_generate.wrong(
    think="temperature 0 is for drawing, and any other for the argmax.",
    because="it is the other way round: at temperature 0 the argmax is written, above it tokens "
    "are drawn.",
)
def sampling_and_greedy_exchanged(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    other = 0.0 if temperature else 1.0
    return _write(target, draft, prompt_ids, k, max_new_tokens, other, rng, eos_id)


@speculative_generate.wrong(
    think="the last token of the text opens the next block, whether it was read or not.",
    because="a cache that has read the whole prompt already takes it a second time, one position "
    "late.",
)
def last_token_fed_twice(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended = (target.new_cache(), draft.new_cache()), False
    if max_new_tokens:
        target.forward(torch.tensor([text]), caches[0])
    while len(text) < end and not ended:
        n = min(k, end - len(text) - 1)
        u_draft, r, u = _numbers(rng, n, temperature)
        drafted, q = _draft(draft, caches[1], text, u_draft, warp)
        p = warp(target.forward(torch.tensor([text[-1:] + drafted]), caches[0])[:, -n - 1 :])
        new, ended = _ended(_verdict(p, q, drafted, r, u), eos_id)
        text += new
        _back(caches[0], len(text))
        _back(caches[1], len(text) - 1)
    return text[len(prompt_ids) :]


@speculative_generate.wrong(
    think="a fresh cache for every block is simpler.",
    because="the prompt is then read again in every block, and a long one costs more than all the "
    "rest.",
)
def prompt_read_every_block(*request):
    def propose(model, cache, text, uniforms, warp):
        return _draft(model, model.new_cache(), text, uniforms, warp)

    def rows(model, cache, text, n):
        return _rows(model, model.new_cache(), text, n)

    return _write(*request, propose=propose, rows=rows)


@speculative_generate.wrong(
    think="only the last token of a block can end the text.",
    because="an accepted draft token may be eos_id as well, and what stands behind it is no text.",
)
def end_inside_a_block_ignored(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches = target.new_cache(), draft.new_cache()
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        u_draft, r, u = _numbers(rng, n, temperature)
        drafted, q = _draft(draft, caches[1], text, u_draft, warp)
        p = warp(_feed(target, caches[0], text + drafted)[:, -n - 1 :])
        text += _verdict(p, q, drafted, r, u)
        for cache in caches:
            _back(cache, len(text) - 1)
        if text[-1] == eos_id:
            break
    return text[len(prompt_ids) :]


@speculative_generate.wrong(
    think="the prompt's tokens count as well.",
    because="a prompt may hold eos_id, between two documents for example; only new tokens end the "
    "text.",
)
def end_in_the_prompt(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    if eos_id in prompt_ids:
        return []
    return _write(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id)


@speculative_generate.wrong(
    think="whole blocks are written, and the limit is where one ends.",
    because="the caller asked for max_new_tokens and no more; near the end draft fewer.",
)
def limit_overshot(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches, ended = (target.new_cache(), draft.new_cache()), False
    while len(text) < end and not ended:
        u_draft, r, u = _numbers(rng, k, temperature)
        drafted, q = _draft(draft, caches[1], text, u_draft, warp)
        p = warp(_feed(target, caches[0], text + drafted)[:, -k - 1 :])
        new, ended = _ended(_verdict(p, q, drafted, r, u), eos_id)
        text += new
        for cache in caches:
            _back(cache, len(text) - 1)
    return text[len(prompt_ids) :]


@speculative_generate.wrong(
    think="the draft proposes its most probable token.",
    because="the rule divides by the probability with which a token was drawn; an argmax was not.",
)
def argmax_draft(*request):
    def propose(model, cache, text, uniforms, warp):
        drafted, q = [], []
        for _ in uniforms:
            q.append(warp(_feed(model, cache, text + drafted)[:, -1:]))
            drafted.append(int(q[-1].argmax()))
        return drafted, q

    return _write(*request, propose=propose)


@speculative_generate.wrong(
    think="the numbers that picked the draft tokens can serve as coins, too.",
    because="a token's coin would then depend on which token it is, and the law changes.",
)
def numbers_used_again(*request):
    def numbers(rng, n, temperature):
        u_draft, _, u = _numbers(rng, n, temperature)
        return u_draft, u_draft, u

    return _write(*request, numbers=numbers)


@speculative_generate.form_of(numbers_used_again)
def one_list_for_both(*request):
    def numbers(rng, n, temperature):
        if temperature == 0:
            return np.zeros(n), np.zeros(n), 0.0
        u_draft = rng.random(n)
        return u_draft, u_draft, rng.random()

    return _write(*request, numbers=numbers)


@speculative_generate.wrong(
    think="at temperature 0 the numbers do no harm.",
    because="a generator that two texts share would then move on, and greedy text must not depend "
    "on it.",
)
def numbers_at_temperature_0(*request):
    def numbers(rng, n, temperature):
        return _numbers(rng, n, 1.0)

    return _write(*request, numbers=numbers)


@speculative_generate.wrong(
    think="the first K + 1 rows of a pass judge the block.",
    because="a pass over a prompt has rows for the prompt as well; those of the block are its last "
    "K + 1.",
)
def rows_from_the_front(*request):
    def rows(model, cache, text, n):
        return _feed(model, cache, text)[:, : n + 1]

    return _write(*request, rows=rows)


@speculative_generate.wrong(
    think="q is what the draft model gives, and the temperature is for the drawing.",
    because="a token was drawn from the law with the temperature in it, and by that law it must "
    "be judged.",
)
def draft_law_before_its_temperature(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    def propose(model, cache, text, uniforms, warp):
        drafted, q = _draft(model, cache, text, uniforms, warp)
        before = [law**temperature for law in q]
        return drafted, [law / law.sum() for law in before] if temperature else q

    return _write(
        target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id, propose=propose
    )


@speculative_generate.wrong(
    think="a block takes the numbers of k tokens, however many it drafts.",
    because="near the end it drafts fewer, and whatever is drawn after that is another number.",
)
def numbers_for_k(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    def numbers(rng, n, temperature):
        u_draft, r, u = _numbers(rng, k, temperature)
        return u_draft[:n], r[:n], u

    return _write(
        target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id, numbers=numbers
    )


@speculative_generate.wrong(
    think="a block brings the accepted tokens, or a correction.",
    because="behind a whole block the target's pass holds one row more: a token for nothing.",
)
def bonus_dropped(*request):
    def verdict(p, q, drafted, r, u):
        return _verdict(p, q, drafted, r, u)[: max(len(drafted), 1)]

    return _write(*request, verdict=verdict)


@speculative_generate.wrong(
    think="reading the prompt first is always right.",
    because="where 0 tokens are asked for, nothing is to be read at all.",
)
def prompt_read_for_nothing(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    if not max_new_tokens:
        _feed(target, target.new_cache(), prompt_ids)
    return _write(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id)


@speculative_generate.wrong(
    think="the target is asked for one row at a time.",
    because="that is plain decoding with a draft on top; one pass reads the whole block.",
)
def target_called_for_each_token(*request):
    def rows(model, cache, text, n):
        parts = [text[: len(text) - n + i] for i in range(n + 1)]
        return torch.cat([_feed(model, cache, part)[:, -1:] for part in parts], 1)

    return _write(*request, rows=rows)
