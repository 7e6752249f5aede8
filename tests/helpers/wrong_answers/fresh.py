"""Attempts written from the exercises' cards alone, and labelled before any of them was graded."""

# ruff: noqa: B905, F821 - students pass no `strict`, and call the notebook's other functions

import numpy as np
import torch
from wrong_answers.attempts import Attempts

from specdec_lib.sampling import Warp, sample_from, sample_rows

CH00 = Attempts("00_bottleneck")


@CH00.at("arithmetic_intensity", "read_for_every_token")
def weights_for_every_token(n_tokens, bytes_per_param):
    """Reads the weights again for every token, so the tokens cancel out."""
    flops = 2 * n_tokens
    data = n_tokens * bytes_per_param
    return flops / data


@CH00.at("arithmetic_intensity", "whole_numbers_only")
def whole_quotient(n_tokens, bytes_per_param):
    """Divides with //, so half bytes lose the fraction."""
    return float(2 * n_tokens // bytes_per_param)


@CH00.at("forward_time", "the_smaller")
def the_faster_one(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    """Takes the shorter of the two times."""
    read = n_params * bytes_per_param / bandwidth
    compute = 2 * n_tokens * n_params / peak_flops
    return min(read, compute)


@CH00.at("forward_time")
def flops_of_one_token(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    """Forgets the tokens in the time of calculating."""
    return max(n_params * bytes_per_param / bandwidth, 2 * n_params / peak_flops)


@CH00.at("forward_time", "read_n_times", "added")
def rereads_and_adds(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    """Reads the weights for every token, and adds the two times."""
    t_mem = n_tokens * n_params * bytes_per_param / bandwidth
    t_flops = 2 * n_tokens * n_params / peak_flops
    return t_mem + t_flops


@CH00.at("free_tokens", "rounded_up")
def rounded_up(bytes_per_param, bandwidth, peak_flops):
    """Rounds up, so the last token makes the pass longer."""
    tokens = bytes_per_param * peak_flops / (2 * bandwidth)
    return max(1, int(tokens) + (tokens > int(tokens)))


@CH00.at("free_tokens", "format_ignored")
def ridge_of_two_bytes(bytes_per_param, bandwidth, peak_flops):
    """Takes every parameter for two bytes."""
    ridge = peak_flops / bandwidth
    return max(1, int(ridge))


@CH00.at("kv_cache_bytes", "keys_only", "shared_by_rows")
def keys_of_one_row(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    """Forgets the values beside the keys, and the rows of the batch."""
    return n_tokens * n_layers * n_kv_heads * head_dim * bytes_per_value


@CH00.at("kv_cache_bytes", "one_layer")
def layers_left_out(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    """Counts a single layer."""
    return 2 * batch_size * n_tokens * n_kv_heads * head_dim * bytes_per_value


CH01 = Attempts("01_draft_then_verify")


@CH01.at("draft_block", "same_prefix")
def prefix_never_grows(draft_model, prefix, k, uniforms):
    """Asks the draft about the prefix every time, without the tokens drafted so far."""
    tokens, rows = [], []
    for i in range(k):
        q = draft_model(list(prefix))
        tokens.append(sample_from(q, uniforms[i]))
        rows.append(q)
    return tokens, np.stack(rows)


@CH01.at("draft_block", "argmax_draft")
def most_probable_token(draft_model, prefix, k, uniforms):
    """Takes the most probable token, and uses no uniform number."""
    ctx, toks, qs = list(prefix), [], []
    for _ in range(k):
        q = draft_model(list(ctx))
        toks.append(int(np.argmax(q)))
        ctx.append(toks[-1])
        qs.append(q)
    return toks, np.array(qs)


@CH01.at("score_block", "rows_one_late_scored")
def rows_from_the_first_draft_token(target_model, prefix, drafted):
    """Begins a row late: the row that judges the first draft token is missing."""
    return target_model(prefix + drafted)[len(prefix) :]


@CH01.at("score_block", "no_bonus_row")
def one_row_for_each_draft_token(target_model, prefix, drafted):
    """Leaves out the row behind the block."""
    rows = target_model(prefix + drafted)
    start = len(prefix) - 1
    return rows[start : start + len(drafted)]


@CH01.at("greedy_prefix", "all_that_agree")
def all_matches(drafted, p):
    """Counts every match, also those behind the first miss."""
    return int(sum(int(np.argmax(p[i])) == t for i, t in enumerate(drafted)))


@CH01.at("greedy_prefix")
def index_of_the_last_look(drafted, p):
    """Returns the index at which the loop ended: one too few if all are accepted."""
    i = 0
    for i in range(len(drafted)):
        if np.argmax(p[i]) != drafted[i]:
            break
    return i


@CH01.at("greedy_prefix", "next_row", "all_that_agree")
def compares_with_the_next_row(drafted, p):
    """Compares each draft token with the row behind it, and counts all matches."""
    n = 0
    for i in range(len(drafted)):
        if np.argmax(p[i + 1 if i + 1 < len(p) else i]) == drafted[i]:
            n += 1
    return n


@CH01.at("greedy_speculative_decode", "no_bonus")
def no_token_of_its_own(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Adds the target's token after a miss only: none after a block that is accepted whole."""
    out = []
    while len(out) < max_new_tokens:
        text, block = prompt + out, []
        for _ in range(max(1, min(k, max_new_tokens - len(out) - 1))):
            block.append(int(np.argmax(draft_model(text + block))))
        p = score_block(target_model, text, block)
        n = greedy_prefix(block, p)
        out += block[:n]
        if n < len(block):
            out.append(int(np.argmax(p[n])))
        if eos is not None and eos in out:
            return out[: out.index(eos) + 1]
    return out


@CH01.at("greedy_speculative_decode", "eos_dropped")
def eos_cut_off(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Ends the text before eos, which is thereby lost."""
    out = []
    while len(out) < max_new_tokens:
        text, block = prompt + out, []
        for _ in range(min(k, max_new_tokens - len(out) - 1)):
            block.append(int(np.argmax(draft_model(text + block))))
        p = score_block(target_model, text, block)
        n = greedy_prefix(block, p)
        for token in [*block[:n], int(np.argmax(p[n]))]:
            if token == eos:
                return out
            out.append(token)
    return out


@CH01.at("greedy_speculative_decode", "limit_passed")
def whole_blocks_without_eos(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Never looks for eos, and writes whole blocks beyond max_new_tokens."""
    out = []
    while len(out) < max_new_tokens:
        text, block = prompt + out, []
        for _ in range(k):
            block.append(int(np.argmax(draft_model(text + block))))
        p = score_block(target_model, text, block)
        n = greedy_prefix(block, p)
        out += [*block[:n], int(np.argmax(p[n]))]
    return out


CH02 = Attempts("02_rejection_sampling")


@CH02.at("acceptance_probability", "inverted")
def upside_down(p, q, token):
    """Divides q by p."""
    if p[token] == 0:
        return 0.0
    return float(min(1, q[token] / p[token]))


@CH02.at("acceptance_probability")
def smaller_of_the_two(p, q, token):
    """Returns the smaller of p and q: the probability that the token is drafted and accepted."""
    return float(min(p[token], q[token]))


@CH02.at("acceptance_probability", "zero_where_q_is_zero")
def never_what_the_draft_excludes(p, q, token):
    """Gives 0 where q is 0 although the target wants the token."""
    if q[token] == 0:
        return 0.0
    return min(1.0, float(p[token] / q[token]))


@CH02.at("acceptance_probability", "target_only")
def target_alone(p, q, token):
    """Accepts with the target's probability alone."""
    return float(p[token])


@CH02.at("speculative_accept")
def coin_on_the_wrong_side(draft_tokens, p, q, r):
    """Accepts where the coin is above the ratio."""
    accepted = []
    for i, token in enumerate(draft_tokens):
        if r[i] < acceptance_probability(p[i], q[i], token):
            break
        accepted.append(token)
    return accepted


@CH02.at("speculative_accept", "rejected_kept")
def keeps_the_rejected_one(draft_tokens, p, q, r):
    """Appends a token before it is judged, so the rejected one is in the list."""
    accepted = []
    for i, token in enumerate(draft_tokens):
        accepted.append(token)
        if p[i, token] == 0 or r[i] > acceptance_probability(p[i], q[i], token):
            break
    return accepted


@CH02.at("speculative_accept", "no_coin")
def no_coins(draft_tokens, p, q, r):
    """Throws no coin: a token passes where the target gives it at least as much as the draft."""
    n = 0
    while n < len(draft_tokens) and p[n, draft_tokens[n]] >= q[n, draft_tokens[n]]:
        n += 1
    return list(draft_tokens[:n])


@CH02.at("speculative_accept", "first_row_only", "no_stop")
def first_row_and_no_stop(draft_tokens, p, q, r):
    """Judges all tokens by the first rows of p and q, and goes on after a rejection."""
    return [
        t
        for t, coin in zip(draft_tokens, r)
        if p[0, t] > 0 and coin <= acceptance_probability(p[0], q[0], t)
    ]


@CH02.at("speculative_accept")
def vectorised_without_the_prefix(draft_tokens, p, q, r):
    """Counts the passing tokens and takes as many from the front."""
    rows = np.arange(len(draft_tokens))
    tokens = np.array(draft_tokens, dtype=int)
    passed = r * q[rows, tokens] < p[rows, tokens]
    return list(draft_tokens[: int(passed.sum())])


@CH02.at("residual_distribution", "absolute_difference")
def absolute_difference(p, q):
    """Takes the absolute difference, so tokens of which the draft has too much get mass too."""
    d = np.abs(p - q)
    return d / d.sum() if d.sum() > 0 else p.copy()


@CH02.at("residual_distribution")
def p_where_it_is_larger(p, q):
    """Keeps all of p where p is larger, and does not subtract q."""
    kept = np.where(p > q, p, 0.0)
    if kept.sum() == 0:
        return p.copy()
    return kept / kept.sum()


@CH02.at("residual_distribution", "sign_flipped", "not_normalised")
def draft_minus_target_unscaled(p, q):
    """Subtracts the wrong way round, and does not divide by the sum."""
    rest = np.maximum(q - p, 0)
    return p.copy() if rest.sum() == 0 else rest


@CH02.at("correct_token")
def coins_exchanged(p, q, token, r, u):
    """Judges with u and draws with r."""
    if p[token] > 0 and u <= acceptance_probability(p, q, token):
        return token, True
    return sample_from(residual_distribution(p, q), r), False


@CH02.at("correct_token", "replaced_from_draft")
def drafts_again(p, q, token, r, u):
    """Draws the replacement from the draft q."""
    if p[token] > 0 and r <= acceptance_probability(p, q, token):
        return token, True
    return sample_from(q, u), False


@CH02.at("correct_token", "replaced_from_target", "coin_used_twice")
def drawn_from_p_with_the_old_coin(p, q, token, r, u):
    """Draws the replacement from p, and with r again."""
    if p[token] > 0 and r <= acceptance_probability(p, q, token):
        return token, True
    return sample_from(p, r), False


@CH02.at("speculative_step", "stale_bonus_row")
def bonus_of_the_last_draft_row(draft_tokens, p, q, r, u):
    """Draws the bonus from the last draft row's target, not from the row behind the block."""
    k = len(draft_tokens)
    good = speculative_accept(draft_tokens, p[:k], q, r)
    n = len(good)
    if n == k:
        return good + [sample_from(p[max(k - 1, 0)], u)]
    return good + [sample_from(residual_distribution(p[n], q[n]), u)]


@CH02.at("speculative_step")
def residual_of_the_accepted_row(draft_tokens, p, q, r, u):
    """Takes the residual of the last accepted position."""
    k = len(draft_tokens)
    good = speculative_accept(draft_tokens, p[:k], q, r)
    if len(good) == k:
        law = p[k]
    else:
        i = max(len(good) - 1, 0)
        law = residual_distribution(p[i], q[i])
    return [*good, sample_from(law, u)]


CH03 = Attempts("03_lossless")


@CH03.at("total_variation", "largest_difference")
def largest_gap(p, q):
    """Takes the largest difference of one token."""
    return float(np.max(np.abs(p - q)))


@CH03.at("total_variation", "signed")
def signed_gaps(p, q):
    """Adds the differences with their signs, which gives 0."""
    return float(abs((p - q).sum()) / 2)


@CH03.at("acceptance_rate", "mean_of_the_ratios")
def ratio_not_weighted(p, q):
    """Averages the ratios over the tokens the draft can propose, each as often as the others."""
    possible = q > 0
    return float(np.minimum(1, p[possible] / q[possible]).mean())


@CH03.at("acceptance_rate", "two_draws_agree")
def both_draw_the_same(p, q):
    """Takes the probability that target and draft draw the same token."""
    return float(np.dot(p, q))


@CH03.at("two_paths", "residual_itself")
def second_normalised(p, q):
    """Normalises the correction: given a rejection, not together with it."""
    missing = np.maximum(p - q, 0)
    total = missing.sum()
    return np.minimum(p, q), missing / total if total > 0 else missing


@CH03.at("two_paths", "drafted_instead_of_accepted")
def proposals_and_the_rest(p, q):
    """Counts all that is drafted as accepted, and the rest with its sign."""
    return q.copy(), p - q


@CH03.at("argmax_draft_law", "still_the_target")
def the_usual_two_paths(p, q):
    """Accepts min(p, q) as if the draft token were drawn from q, so the law is p."""
    accepted = np.minimum(p, q)
    rest = np.maximum(p - q, 0)
    if rest.sum() == 0:
        return p.copy()
    return accepted + (1 - accepted.sum()) * rest / rest.sum()


@CH03.at("warp", "multiplied")
def multiplies_by_the_temperature(logits, temperature=1.0, top_k=None, top_p=None):
    """Multiplies the logits by the temperature."""
    if temperature < 0:
        raise ValueError("temperature")
    if temperature == 0:
        out = np.zeros(len(logits))
        out[np.argmax(logits)] = 1
        return out
    x = logits * temperature
    if top_k and top_k < len(x):
        x = np.where(x < np.sort(x)[-top_k], -np.inf, x)
    probs = np.exp(x - x.max())
    probs = probs / probs.sum()
    if top_p is not None and top_p < 1:
        order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        drop = before >= top_p
        drop[0] = False
        probs[order[drop]] = 0
    return probs / probs.sum()


@CH03.at("warp", "exactly_k", "crossing_token_dropped")
def k_exactly_and_p_not_passed(logits, temperature=1.0, top_k=None, top_p=None):
    """Keeps exactly k of equals, and leaves out the token that crosses top_p."""
    if temperature < 0:
        raise ValueError("negative temperature")
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    order = np.argsort(-logits, kind="stable")
    x = logits[order] / temperature
    probs = np.exp(x - x[0])
    if top_k:
        probs[top_k:] = 0
    probs /= probs.sum()
    if top_p is not None and top_p < 1:
        keep = np.cumsum(probs) <= top_p
        keep[0] = True
        probs = np.where(keep, probs, 0)
    out = np.zeros(len(logits))
    out[order] = probs / probs.sum()
    return out


@CH03.at("is_lossless", "diagonal_only")
def same_coin_twice(rule, p, q):
    """Asks the rule with r equal to u alone: 64 pairs, not all cells."""
    x = (np.arange(64) + 0.5) / 64
    law = np.zeros(len(p))
    for t in range(len(q)):
        out = rule(p, q, np.full(64, t), x, x)
        law += q[t] * np.bincount(out, minlength=len(p)) / 64
    return bool(np.abs(law - p).max() < 1e-12)


@CH03.at("is_lossless", "tokens_weigh_alike")
def drafts_weighed_alike(rule, p, q):
    """Weighs every draft token alike, not by q."""
    mid = (np.arange(64) + 0.5) / 64
    r, u = np.repeat(mid, 64), np.tile(mid, 64)
    law = np.zeros(len(p))
    for token in range(len(q)):
        out = rule(p, q, np.full(4096, token), r, u)
        law += np.bincount(out, minlength=len(p)) / 4096 / len(q)
    return bool(np.abs(law - p).max() <= 1e-12)


CH04 = Attempts("04_choosing_the_draft")


@CH04.at("expected_accepted", "one_power_too_low")
def from_power_zero(alpha, k):
    """Begins at alpha to the 0: one too many at the front, one too few at the end."""
    return float(sum(alpha**i for i in range(k)))


@CH04.at("expected_accepted", "all_counted_alike")
def each_on_its_own(alpha, k):
    """Lets every draft token count, also behind a rejection."""
    return float(k * alpha)


@CH04.at("expected_tokens", "bonus_alone")
def bonus_if_all_pass(alpha, k):
    """Adds the extra token only if the whole block passes."""
    return expected_accepted(alpha, k) + alpha**k


@CH04.at("walltime_speedup", "one_draft_step", "accepted_over_time")
def one_draft_call_and_no_bonus(alpha, c, k, verify_cost=1.0):
    """Pays for one draft pass a block, and counts accepted tokens alone."""
    return expected_accepted(alpha, k) / (c + verify_cost)


@CH04.at("walltime_speedup", "verification_per_token")
def target_pays_per_token(alpha, c, k, verify_cost=1.0):
    """Multiplies the cost of verifying by the positions of the block."""
    return expected_tokens(alpha, k) / (c * k + verify_cost * (k + 1))


@CH04.at("best_k", "range_ends_early")
def last_k_left_out(alpha, c, k_max):
    """Tries no k_max: range ends before it."""
    best, fastest = 0, 1.0
    for k in range(1, k_max):
        speed = walltime_speedup(alpha, c, k)
        if speed > fastest + 1e-12:
            best, fastest = k, speed
    return best


@CH04.at("best_k", "never_zero")
def first_that_falls(alpha, c, k_max):
    """Never gives 0: it takes the best of 1 to k_max, however slow."""
    speeds = [walltime_speedup(alpha, c, k) for k in range(1, k_max + 1)]
    return int(np.argmax(np.array(speeds) > max(speeds) - 1e-12)) + 1


@CH04.at("prompt_lookup", "earliest_occurrence")
def from_the_left(tokens, k, max_ngram=3):
    """Takes the earliest occurrence."""
    for n in range(min(max_ngram, len(tokens) - 1), 0, -1):
        for i in range(len(tokens) - n):
            if tokens[i : i + n] == tokens[-n:]:
                return tokens[i + n : i + n + k]
    return []


@CH04.at("prompt_lookup", "shortest_first", "repeats_the_match")
def shortest_and_copied(tokens, k, max_ngram=3):
    """Tries short suffixes first, and returns the suffix itself with what follows."""
    for n in range(1, min(max_ngram, len(tokens) - 1) + 1):
        for i in range(len(tokens) - n - 1, -1, -1):
            if tokens[i : i + n] == tokens[-n:]:
                return tokens[i : i + k]
    return []


@CH04.at("bigram_probs", "each_pair_once")
def repeated_pairs_lost(tokens, vocab_size, smoothing=1.0):
    """Adds to fancy indices with +=, which counts a repeated pair once."""
    t = np.array(tokens, dtype=int)
    table = np.full((vocab_size, vocab_size), float(smoothing))
    table[t[:-1], t[1:]] += 1
    table[table.sum(1) == 0] = 1
    return table / table.sum(1, keepdims=True)


@CH04.at("bigram_probs", "transposed")
def transposed_and_plain(tokens, vocab_size, smoothing=1.0):
    """Counts into [next, previous], and adds no smoothing."""
    table = np.zeros((vocab_size, vocab_size))
    for a, b in zip(tokens, tokens[1:]):
        table[b, a] += 1
    table[table.sum(axis=1) == 0] = 1
    return table / table.sum(axis=1, keepdims=True)


@CH04.at("distillation_loss", "summed")
def summed_positions(target_logits, draft_logits):
    """Adds the positions and does not average them."""
    p = torch.softmax(target_logits.float(), -1)
    q = torch.softmax(draft_logits.float(), -1)
    return 0.5 * (p - q).abs().sum()


@CH04.at("distillation_loss", "mean_over_vocabulary")
def mean_over_everything(target_logits, draft_logits):
    """Averages the differences over the vocabulary too."""
    p = torch.softmax(target_logits.float(), -1)
    q = torch.softmax(draft_logits.float(), -1)
    return 0.5 * (p - q).abs().mean()


CH05 = Attempts("05_results")


@CH05.at("alpha_from_blocks", "accepted_by_drafted")
def share_of_the_drafted(accepted, k):
    """Divides by all drafted tokens, also those that nobody judged."""
    if len(accepted) == 0 or k == 0 or min(accepted) < 0 or max(accepted) > k:
        raise ValueError("bad counts")
    return sum(accepted) / (k * len(accepted))


@CH05.at("alpha_from_blocks", "whole_blocks_reject")
def judged_one_more(accepted, k):
    """Counts a rejection in every block, also in those accepted whole."""
    if not accepted or k < 1 or any(n < 0 or n > k for n in accepted):
        raise ValueError("bad counts")
    return sum(accepted) / sum(n + 1 for n in accepted)


@CH05.at("operations_factor", "time_instead")
def verifies_one_token(alpha, c_hat, k):
    """Counts the target's pass as one token's operations."""
    return (c_hat * k + 1) / expected_tokens(alpha, k)


@CH05.at("operations_factor", "k_positions", "by_accepted_only")
def forgets_the_free_row(alpha, c_hat, k):
    """Lets the target calculate k positions, and divides by the accepted tokens alone."""
    accepted = expected_tokens(alpha, k) - 1
    return (c_hat * k + k) / accepted if accepted else float("inf")


@CH05.at("implied_alpha", "share_of_the_draft")
def straight_line(seconds_per_token, target_seconds, draft_seconds, k):
    """Takes the tokens of a block for 1 + k alpha."""
    tokens = (k * draft_seconds + target_seconds) / seconds_per_token
    alpha = (tokens - 1) / k if k else 0.0
    if abs(tokens - 1) <= 1e-9:
        return 0.0
    if abs(tokens - k - 1) <= 1e-9:
        return 1.0
    if not 0 <= alpha <= 1:
        raise ValueError("no alpha")
    return alpha


@CH05.at("acceptance_by_class", "over_all_tokens")
def shares_of_all(accepted, classes):
    """Divides by the number of all tokens, not of the label's."""
    if len(accepted) != len(classes):
        raise ValueError("lengths")
    return {
        c: sum(a for a, d in zip(accepted, classes) if d == c) / len(accepted)
        for c in dict.fromkeys(classes)
    }


@CH05.at("paired_speedup", "arithmetic_mean")
def mean_of_the_ratios(baseline_seconds, speculative_seconds):
    """Takes the arithmetic mean of the ratios."""
    if not len(baseline_seconds) or len(baseline_seconds) != len(speculative_seconds):
        raise ValueError("lengths")
    return float(np.mean(np.array(baseline_seconds) / np.array(speculative_seconds)))


@CH05.at("paired_speedup", "ratio_of_sums", "the_other_way_round")
def inverse_of_the_totals(baseline_seconds, speculative_seconds):
    """Divides totals, and the wrong way round."""
    if not len(baseline_seconds) or len(baseline_seconds) != len(speculative_seconds):
        raise ValueError("lengths")
    return float(sum(speculative_seconds) / sum(baseline_seconds))


CH06 = Attempts("06_simulator")


@CH06.at("simulate_block", "no_stop")
def coins_that_pass(alpha, k, r):
    """Counts every coin that passes, also behind the first that does not."""
    return int((np.asarray(r[:k]) < alpha).sum())


@CH06.at("simulate_block", "boundary_accepted", "rejected_counted")
def one_for_the_correction(alpha, k, r):
    """Counts the correction too, and lets a coin equal to alpha pass."""
    n = 0
    while n < k and r[n] <= alpha:
        n += 1
    return min(n + 1, k)


@CH06.at("simulate_decode", "cut_to_length")
def cut_to_length(alpha, c, k, n_tokens, rng):
    """Cuts the last block at n_tokens."""
    tokens, passes, time = 0, 0, 0.0
    while tokens < n_tokens:
        tokens += simulate_block(alpha, k, rng.random(k)) + 1
        passes += 1
        time += 1 + c * k
    return {"tokens": min(tokens, n_tokens), "target_passes": passes, "time": time}


@CH06.at("simulate_decode", "accepted_ones_paid")
def pays_for_the_accepted(alpha, c, k, n_tokens, rng):
    """Pays the draft for accepted tokens alone."""
    tokens, passes, time = 0, 0, 0.0
    while tokens < n_tokens:
        n = simulate_block(alpha, k, rng.random(k))
        tokens += n + 1
        passes += 1
        time += 1 + c * n
    return {"tokens": tokens, "target_passes": passes, "time": time}


@CH06.at("simulate_decode", "bonus_alone", "free_draft")
def accepted_only_in_k_steps(alpha, c, k, n_tokens, rng):
    """Counts no correction where a block fails, and no draft cost."""
    tokens = passes = 0
    while tokens < n_tokens:
        n = simulate_block(alpha, k, rng.random(k))
        tokens += k + 1 if n == k else max(n, 1)
        passes += 1
    return {"tokens": tokens, "target_passes": passes, "time": float(passes)}


@CH06.at("lockstep_tokens", "of_all_rows", "mean_of_one_row")
def rows_add_up(alpha, k, batch_size):
    """Adds the tokens of all rows, and lets each go on alone."""
    return float(batch_size * sum(alpha**i for i in range(k + 1)))


@CH06.at("lockstep_tokens", "no_token_on_top")
def no_wait_for_the_bonus(alpha, k, batch_size):
    """Leaves out the correction or bonus token."""
    return float(sum(alpha ** (batch_size * i) for i in range(1, k + 1)))


@CH06.at("mixture_quantile", "slowest_kind")
def last_of_all_kinds(laws, weights, share):
    """Takes the largest of the kinds' own quantiles."""
    return int(max(np.searchsorted(np.cumsum(law), share - 1e-12) for law in laws))


@CH06.at("mixture_quantile", "weights_ignored")
def kinds_alike(laws, weights, share):
    """Takes each kind for equally frequent."""
    n, done = -1, 0.0
    while done < share - 1e-12:
        n += 1
        done += sum(law[n] for law in laws if n < len(law)) / len(laws)
    return n


@CH06.at("choose_k", "room_forgotten")
def every_waiting_row(queue_length, running, alpha, costs):
    """Reads the costs of more rows than there is room for."""
    rates = np.cumsum(alpha ** np.arange(costs.shape[1])) / costs[queue_length + running]
    return int(np.argmax(rates))


@CH06.at("choose_k", "queue_ignored")
def rows_that_run_now(queue_length, running, alpha, costs):
    """Takes the rows before the waiting ones are taken in."""
    rates = np.cumsum(alpha ** np.arange(costs.shape[1])) / costs[running if running else 1]
    return rates.tolist().index(max(rates))


@CH06.at("choose_k", "correction_forgotten")
def accepted_tokens_only(queue_length, running, alpha, costs):
    """Leaves out the token that every block writes on top."""
    rows = min(queue_length + running, len(costs) - 1)
    best, most = 0, 0.0
    for k in range(1, costs.shape[1]):
        tokens = sum(alpha**i for i in range(1, k + 1))
        if tokens / costs[rows][k] > most:
            best, most = k, tokens / costs[rows][k]
    return best


@CH06.at("choose_k", "shortest_step")
def quickest_step(queue_length, running, alpha, costs):
    """Takes the step of the fewest milliseconds, whatever it writes."""
    times = costs[min(queue_length + running, len(costs) - 1)].tolist()
    return times.index(min(times))


@CH06.at("choose_k", "always_four")
def five_for_everybody(queue_length, running, alpha, costs):
    """Drafts the same under every load."""
    return min(5, costs.shape[1] - 1)


@CH06.at("choose_k")
def fixed_thresholds(queue_length, running, alpha, costs):
    """Looks neither at the costs nor at alpha."""
    rows = queue_length + running
    return 4 if rows <= 2 else 2 if rows <= 6 else 0


CH07 = Attempts("07_connections")


@CH07.at("one_hot_accept", "certain_replaced_from_target")
def draws_from_all_of_p(draft_token, p, r, u):
    """Leaves the rejected token in the distribution of the replacement."""
    if r < p[draft_token] or p.sum() == p[draft_token]:
        return draft_token, True
    return sample_from(p, u), False


@CH07.at("one_hot_accept", "certain_not_normalised")
def rest_not_divided(draft_token, p, r, u):
    """Does not divide the rest, so the last token gets too much."""
    if r < p[draft_token]:
        return draft_token, True
    rest = p.copy()
    rest[draft_token] = 0
    if rest.sum() == 0:
        return draft_token, True
    return sample_from(rest, u), False


@CH07.at("jacobi_decode", "jacobi_last_pass_not_counted")
def stops_before_the_check(target_greedy, prompt, guess):
    """Does not count the last pass, which changes nothing."""
    now, n = list(guess), 0
    while True:
        out = target_greedy(list(prompt) + now)
        new = list(out[len(prompt) - 1 : len(prompt) - 1 + len(now)])
        if new == now:
            return now, n
        now = new
        n += 1


@CH07.at("jacobi_decode", "jacobi_off_by_one")
def a_row_late(target_greedy, prompt, guess):
    """Takes the rows one late, and limits the passes to the length of the guess."""
    now, n = list(guess), 0
    for _ in range(len(guess) + 1):
        out = target_greedy(list(prompt) + now)
        n += 1
        new = list(out[len(prompt) : len(prompt) + len(now)])
        new += now[len(new) :]
        if new == now:
            break
        now = new
    return now, n


@CH07.at("multi_candidate_accept", "candidates_against_p", "candidates_one_residual")
def always_against_p(candidates, p, q, r, u):
    """Judges every candidate by p, and takes the residual only at the end."""
    for x, coin in zip(candidates, r):
        if coin * q[x] < p[x]:
            return x
    return sample_from(residual_distribution(p, q) if candidates else p, u)


@CH07.at("multi_candidate_accept", "candidates_one_coin")
def first_coin_for_all(candidates, p, q, r, u):
    """Judges all candidates with the first coin."""
    left = p
    for x in candidates:
        if r[0] * q[x] < left[x]:
            return x
        left = residual_distribution(left, q)
    return sample_from(left, u)


@CH07.at("multi_candidate_accept", "candidates_taken_as_certain", "candidates_drawn_from_target")
def q_forgotten_and_p_at_the_end(candidates, p, q, r, u):
    """Compares the coin with the residual alone, and draws from p at the end."""
    left = p
    for i, x in enumerate(candidates):
        if r[i] < left[x]:
            return x
        left = residual_distribution(left, q)
    return sample_from(p, u)


@CH07.at("tree_attention_mask", "mask_parent_only")
def parent_and_self(parents):
    """Shows a node its parent alone, not the ancestors above."""
    mask = np.eye(len(parents), dtype=bool)
    for i, parent in enumerate(parents):
        if parent != -1:
            mask[i, parent] = True
    return mask


@CH07.at("tree_attention_mask", "mask_transposed")
def columns_see_rows(parents):
    """Fills the mask the wrong way round: columns see rows."""
    n = len(parents)
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        j = i
        while j >= 0:
            mask[j, i] = True
            j = parents[j]
    return mask


@CH07.at("walk_tree", "walk_without_bonus")
def stops_at_the_leaf(parents, tokens, p, q, r, u):
    """Returns at a leaf what was accepted, without the bonus token."""
    out, at = [], -1
    while True:
        below = [i for i in range(len(parents)) if parents[i] == at]
        if out and not below:
            return out
        left = p[at + 1]
        for i in below:
            if r[i] * q[at + 1][tokens[i]] < left[tokens[i]]:
                out.append(tokens[i])
                at = i
                break
            left = residual_distribution(left, q[at + 1])
        else:
            return [*out, sample_from(left, u)]


@CH07.at("walk_tree", "walk_drawn_from_target")
def draws_from_p_after_all(parents, tokens, p, q, r, u):
    """Draws the last token from the row of p, whatever was rejected there."""
    out, at, going = [], -1, True
    while going:
        left, going = p[at + 1], False
        for i in [i for i, parent in enumerate(parents) if parent == at]:
            if not going and r[i] * q[at + 1][tokens[i]] < left[tokens[i]]:
                out, taken, going = [*out, tokens[i]], i, True
            elif not going:
                left = residual_distribution(left, q[at + 1])
        at = taken if going else at
    return [*out, sample_from(p[at + 1], u)]


@CH07.at("map_draft", "mapped_overwritten")
def last_one_wins(q, draft_to_target, vocab_size):
    """Overwrites the mass where two tokens share an id."""
    out = np.zeros(vocab_size)
    for mass, target in zip(q, draft_to_target):
        if target >= 0:
            out[target] = mass
    if out.sum() == 0:
        raise ValueError("nothing shared")
    return out / out.sum()


@CH07.at("expected_experts", "experts_never_shared")
def new_ones_while_there_are(n_tokens, n_experts, active):
    """Gives each token new experts until all are read."""
    read = 0
    for _ in range(n_tokens):
        read = min(read + active, n_experts)
    return float(read)


@CH07.at("expected_experts", "experts_with_repeats")
def balls_in_urns(n_tokens, n_experts, active):
    """Throws active balls a token into n_experts urns, each ball by itself."""
    empty = n_experts * ((n_experts - 1) / n_experts) ** (active * n_tokens)
    return n_experts - empty


@CH07.at("expected_experts", "experts_in_equal_steps")
def second_token_again_and_again(n_tokens, n_experts, active):
    """Lets each further token find as many new experts as the second one does."""
    if n_tokens == 0:
        return 0.0
    return active + (n_tokens - 1) * active * (1 - active / n_experts)


@CH07.at("map_draft", "mapped_to_the_last")
def minus_one_is_an_index(q, draft_to_target, vocab_size):
    """Adds what is not shared to the last token, because -1 is an index."""
    out = np.zeros(vocab_size)
    np.add.at(out, draft_to_target, q)
    if not (draft_to_target >= 0).any():
        raise ValueError("nothing shared")
    return out / out.sum()


CH08 = Attempts("08_full_generation")


@CH08.at("rollback", "a_number_to_remove")
def number_to_remove(cache, length):
    """Hands over how many positions to remove, as the library's crop has it."""
    held = int(cache.length[0])
    if length < 0 or length > held:
        raise ValueError("length")
    if length != held:
        cache.truncate(held - length)


@CH08.at("rollback", "always_called")
def always_cuts(cache, length):
    """Calls truncate also where there is nothing to forget."""
    if length < 0 or length > int(cache.length[0]):
        raise ValueError("length")
    cache.truncate(length)


@CH08.at("rollback", "clamped")
def quiet_about_lengths(cache, length):
    """Does nothing, without an error, where the length does not fit."""
    if 0 <= length < int(cache.length[0]):
        cache.truncate(length)


@CH08.at("verify_block", "no_stop")
def counts_all_that_pass(p, q, drafted, r, u):
    """Counts all tokens that pass, also those behind a rejection."""
    k = drafted.shape[1]
    p_x = p[:, :k].gather(2, drafted.unsqueeze(2)).squeeze(2)
    q_x = q.gather(2, drafted.unsqueeze(2)).squeeze(2)
    n = (r * q_x < p_x).long().sum(1)
    rows = torch.arange(p.shape[0])
    q_more = torch.cat([q, torch.zeros_like(p[:, :1])], 1)
    rest = (p[rows, n] - q_more[rows, n]).clamp(min=0)
    total = rest.sum(-1, keepdim=True)
    law = torch.where(total > 0, rest / total, p[rows, n])
    return n, sample_rows(law, u)


@CH08.at("verify_block", "not_normalised")
def rest_left_as_it_is(p, q, drafted, r, u):
    """Does not divide the residual by its sum."""
    k = drafted.shape[1]
    p_x = p[:, :k].gather(2, drafted.unsqueeze(2)).squeeze(2)
    q_x = q.gather(2, drafted.unsqueeze(2)).squeeze(2)
    n = (r * q_x < p_x).long().cumprod(1).sum(1)
    rows = torch.arange(p.shape[0])
    q_more = torch.cat([q, torch.zeros_like(p[:, :1])], 1)
    rest = (p[rows, n] - q_more[rows, n]).clamp(min=0)
    law = torch.where(rest.sum(-1, keepdim=True) > 0, rest, p[rows, n])
    return n, sample_rows(law, u)


@CH08.at("verify_block", "from_the_target")
def next_from_the_last_row(p, q, drafted, r, u):
    """Takes the next token of every row from the row behind the block."""
    k = drafted.shape[1]
    p_x = p[:, :k].gather(2, drafted.unsqueeze(2)).squeeze(2)
    q_x = q.gather(2, drafted.unsqueeze(2)).squeeze(2)
    n = (r * q_x < p_x).long().cumprod(1).sum(1)
    return n, sample_rows(p[:, -1], u)


@CH08.at("verify_block", "from_the_target")
def replacement_of_the_target(p, q, drafted, r, u):
    """Draws the replacement from p, not from the residual."""
    k = drafted.shape[1]
    p_x = p[:, :k].gather(2, drafted.unsqueeze(2)).squeeze(2)
    q_x = q.gather(2, drafted.unsqueeze(2)).squeeze(2)
    n = (r * q_x < p_x).long().cumprod(1).sum(1)
    rows = torch.arange(p.shape[0])
    return n, sample_rows(p[rows, n], u)


@CH08.at("verify_block", "not_strict")
def zero_coin_passes(p, q, drafted, r, u):
    """Compares with <=, so a coin of 0 accepts a token of p = 0."""
    k = drafted.shape[1]
    p_x = p[:, :k].gather(2, drafted.unsqueeze(2)).squeeze(2)
    q_x = q.gather(2, drafted.unsqueeze(2)).squeeze(2)
    n = (r * q_x <= p_x).long().cumprod(1).sum(1)
    rows = torch.arange(p.shape[0])
    q_more = torch.cat([q, torch.zeros_like(p[:, :1])], 1)
    rest = (p[rows, n] - q_more[rows, n]).clamp(min=0)
    total = rest.sum(-1, keepdim=True)
    law = torch.where(total > 0, rest / total, p[rows, n])
    return n, sample_rows(law, u)


@CH08.at("verify_block", "rows_one_late", "from_the_target")
def rows_shifted_and_last_row(p, q, drafted, r, u):
    """Judges draft token i by row i + 1 of p, and draws the next token from the last row."""
    p_x = p[:, 1:].gather(2, drafted.unsqueeze(2)).squeeze(2)
    q_x = q.gather(2, drafted.unsqueeze(2)).squeeze(2)
    n = (r * q_x < p_x).long().cumprod(1).sum(1)
    return n, sample_rows(p[:, -1], u)


@CH08.at("verify_block")
def rejected_one_counted(p, q, drafted, r, u):
    """Counts the token in whose place the replacement stands."""
    k = drafted.shape[1]
    p_x = p[:, :k].gather(2, drafted.unsqueeze(2)).squeeze(2)
    q_x = q.gather(2, drafted.unsqueeze(2)).squeeze(2)
    n = (r * q_x < p_x).long().cumprod(1).sum(1)
    rows = torch.arange(p.shape[0])
    q_more = torch.cat([q, torch.zeros_like(p[:, :1])], 1)
    rest = (p[rows, n] - q_more[rows, n]).clamp(min=0)
    total = rest.sum(-1, keepdim=True)
    law = torch.where(total > 0, rest / total, p[rows, n])
    return (n + 1).clamp(max=k), sample_rows(law, u)


@CH08.at("speculative_generate")
def prompt_too(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    """Returns the prompt with the new tokens."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    cache_t, cache_d = target.new_cache(), draft.new_cache()
    where = {"dtype": torch.float64, "device": cache_t.length.device}
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        coins, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            coins, r, u = rng.random(n), rng.random(n), rng.random()
        drafted, q = [], []
        for coin in coins:
            law = warp(feed(draft, cache_d, text + drafted)[:, -1:])
            q.append(law)
            drafted.append(int(sample_rows(law[0], torch.tensor([coin], **where))))
        p = warp(feed(target, cache_t, text + drafted)[:, -n - 1 :])
        q = torch.cat([*q, p[:, :0]], 1)
        count, token = verify_block(
            p,
            q,
            torch.tensor([drafted], **where).long(),
            torch.tensor([r.tolist()], **where),
            torch.tensor([u], **where),
        )
        new = [*drafted[: int(count)], int(token)]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
            end = len(text) + len(new)
        text += new
        rollback(cache_t, len(text) - 1)
        rollback(cache_d, min(int(cache_d.length[0]), len(text) - 1))
    return text


@CH08.at("speculative_generate")
def coins_before_drafting(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Draws the coins of r before those of the draft tokens."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    cache_t, cache_d = target.new_cache(), draft.new_cache()
    where = {"dtype": torch.float64, "device": cache_t.length.device}
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        coins, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            r, coins, u = rng.random(n), rng.random(n), rng.random()
        drafted, q = [], []
        for coin in coins:
            law = warp(feed(draft, cache_d, text + drafted)[:, -1:])
            q.append(law)
            drafted.append(int(sample_rows(law[0], torch.tensor([coin], **where))))
        p = warp(feed(target, cache_t, text + drafted)[:, -n - 1 :])
        q = torch.cat([*q, p[:, :0]], 1)
        count, token = verify_block(
            p,
            q,
            torch.tensor([drafted], **where).long(),
            torch.tensor([r.tolist()], **where),
            torch.tensor([u], **where),
        )
        new = [*drafted[: int(count)], int(token)]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
            end = len(text) + len(new)
        text += new
        rollback(cache_t, len(text) - 1)
        rollback(cache_d, min(int(cache_d.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate", "draft_not_rolled_back")
def draft_never_goes_back(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Leaves rejected tokens in the draft's cache."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    cache_t, cache_d = target.new_cache(), draft.new_cache()
    where = {"dtype": torch.float64, "device": cache_t.length.device}
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        coins, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            coins, r, u = rng.random(n), rng.random(n), rng.random()
        drafted, q = [], []
        for coin in coins:
            law = warp(feed(draft, cache_d, text + drafted)[:, -1:])
            q.append(law)
            drafted.append(int(sample_rows(law[0], torch.tensor([coin], **where))))
        p = warp(feed(target, cache_t, text + drafted)[:, -n - 1 :])
        q = torch.cat([*q, p[:, :0]], 1)
        count, token = verify_block(
            p,
            q,
            torch.tensor([drafted], **where).long(),
            torch.tensor([r.tolist()], **where),
            torch.tensor([u], **where),
        )
        new = [*drafted[: int(count)], int(token)]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
            end = len(text) + len(new)
        text += new
        rollback(cache_t, len(text) - 1)
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate")
def target_unwarped(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    """Leaves the temperature out of the target's distribution."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    cache_t, cache_d = target.new_cache(), draft.new_cache()
    where = {"dtype": torch.float64, "device": cache_t.length.device}
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        coins, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            coins, r, u = rng.random(n), rng.random(n), rng.random()
        drafted, q = [], []
        for coin in coins:
            law = warp(feed(draft, cache_d, text + drafted)[:, -1:])
            q.append(law)
            drafted.append(int(sample_rows(law[0], torch.tensor([coin], **where))))
        p = feed(target, cache_t, text + drafted)[:, -n - 1 :].softmax(-1)
        q = torch.cat([*q, p[:, :0]], 1)
        count, token = verify_block(
            p,
            q,
            torch.tensor([drafted], **where).long(),
            torch.tensor([r.tolist()], **where),
            torch.tensor([u], **where),
        )
        new = [*drafted[: int(count)], int(token)]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
            end = len(text) + len(new)
        text += new
        rollback(cache_t, len(text) - 1)
        rollback(cache_d, min(int(cache_d.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate")
def eos_without_an_end(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    """Cuts the block at eos_id, and writes on."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    cache_t, cache_d = target.new_cache(), draft.new_cache()
    where = {"dtype": torch.float64, "device": cache_t.length.device}
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        coins, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            coins, r, u = rng.random(n), rng.random(n), rng.random()
        drafted, q = [], []
        for coin in coins:
            law = warp(feed(draft, cache_d, text + drafted)[:, -1:])
            q.append(law)
            drafted.append(int(sample_rows(law[0], torch.tensor([coin], **where))))
        p = warp(feed(target, cache_t, text + drafted)[:, -n - 1 :])
        q = torch.cat([*q, p[:, :0]], 1)
        count, token = verify_block(
            p,
            q,
            torch.tensor([drafted], **where).long(),
            torch.tensor([r.tolist()], **where),
            torch.tensor([u], **where),
        )
        new = [*drafted[: int(count)], int(token)]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
        text += new
        rollback(cache_t, len(text) - 1)
        rollback(cache_d, min(int(cache_d.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate", "limit_overshot")
def blind_to_eos_and_length(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Knows no eos_id, and drafts k tokens at the end too."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    cache_t, cache_d = target.new_cache(), draft.new_cache()
    where = {"dtype": torch.float64, "device": cache_t.length.device}
    while len(text) < end:
        n = k
        coins, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            coins, r, u = rng.random(n), rng.random(n), rng.random()
        drafted, q = [], []
        for coin in coins:
            law = warp(feed(draft, cache_d, text + drafted)[:, -1:])
            q.append(law)
            drafted.append(int(sample_rows(law[0], torch.tensor([coin], **where))))
        p = warp(feed(target, cache_t, text + drafted)[:, -n - 1 :])
        q = torch.cat([*q, p[:, :0]], 1)
        count, token = verify_block(
            p,
            q,
            torch.tensor([drafted], **where).long(),
            torch.tensor([r.tolist()], **where),
            torch.tensor([u], **where),
        )
        new = [*drafted[: int(count)], int(token)]
        text += new
        rollback(cache_t, len(text) - 1)
        rollback(cache_d, min(int(cache_d.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate", "numbers_at_temperature_0")
def numbers_when_greedy(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Draws its numbers at temperature 0 as well."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    cache_t, cache_d = target.new_cache(), draft.new_cache()
    where = {"dtype": torch.float64, "device": cache_t.length.device}
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        coins, r, u = rng.random(n), rng.random(n), rng.random()
        drafted, q = [], []
        for coin in coins:
            law = warp(feed(draft, cache_d, text + drafted)[:, -1:])
            q.append(law)
            drafted.append(int(sample_rows(law[0], torch.tensor([coin], **where))))
        p = warp(feed(target, cache_t, text + drafted)[:, -n - 1 :])
        q = torch.cat([*q, p[:, :0]], 1)
        count, token = verify_block(
            p,
            q,
            torch.tensor([drafted], **where).long(),
            torch.tensor([r.tolist()], **where),
            torch.tensor([u], **where),
        )
        new = [*drafted[: int(count)], int(token)]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
            end = len(text) + len(new)
        text += new
        rollback(cache_t, len(text) - 1)
        rollback(cache_d, min(int(cache_d.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate", "prompt_read_every_block")
def text_as_fresh_caches(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Reads the whole text again in every block."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    cache_t, cache_d = target.new_cache(), draft.new_cache()
    where = {"dtype": torch.float64, "device": cache_t.length.device}
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        coins, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            coins, r, u = rng.random(n), rng.random(n), rng.random()
        cache_t, cache_d = target.new_cache(), draft.new_cache()
        drafted, q = [], []
        for coin in coins:
            law = warp(feed(draft, cache_d, text + drafted)[:, -1:])
            q.append(law)
            drafted.append(int(sample_rows(law[0], torch.tensor([coin], **where))))
        p = warp(feed(target, cache_t, text + drafted)[:, -n - 1 :])
        q = torch.cat([*q, p[:, :0]], 1)
        count, token = verify_block(
            p,
            q,
            torch.tensor([drafted], **where).long(),
            torch.tensor([r.tolist()], **where),
            torch.tensor([u], **where),
        )
        new = [*drafted[: int(count)], int(token)]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
            end = len(text) + len(new)
        text += new
        rollback(cache_t, len(text) - 1)
        rollback(cache_d, min(int(cache_d.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]


CHAPTERS = (CH00, CH01, CH02, CH03, CH04, CH05, CH06, CH07, CH08)
