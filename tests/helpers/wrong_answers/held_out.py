"""Attempts that nothing was tuned on: they were written before any result was looked at."""

# ruff: noqa: F821 - an attempt calls the notebook's other functions

import numpy as np
import torch
from wrong_answers.attempts import Attempts

from specdec_lib.sampling import Warp, sample_from, sample_rows

CH00 = Attempts("00_bottleneck")


@CH00.at("forward_time")
def bytes_counted_in_the_flop(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    """Multiplies the FLOP by the bytes of a parameter."""
    memory = n_params * bytes_per_param / bandwidth
    compute = 2 * n_tokens * n_params * bytes_per_param / peak_flops
    return max(memory, compute)


@CH00.at("forward_time")
def root_of_squares(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    """Combines the two times as the sides of a right triangle."""
    memory = n_params * bytes_per_param / bandwidth
    compute = 2 * n_tokens * n_params / peak_flops
    return (memory**2 + compute**2) ** 0.5


@CH00.at("free_tokens", "rounded_to_nearest")
def rounded_to_the_nearest(bytes_per_param, bandwidth, peak_flops):
    """Rounds to the nearest whole number."""
    return max(1, round(bytes_per_param * peak_flops / (2 * bandwidth)))


@CH00.at("kv_cache_bytes", "keys_only", "shared_by_rows")
def keys_of_one_row(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    """Forgets the values and the batch."""
    per_token = n_layers * n_kv_heads * head_dim
    return n_tokens * per_token * bytes_per_value


@CH00.at("kv_cache_bytes")
def always_two_bytes(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    """Takes two bytes for every number."""
    return 2 * 2 * batch_size * n_tokens * n_layers * n_kv_heads * head_dim


CH01 = Attempts("01_draft_then_verify")


@CH01.at("draft_block")
def list_of_rows(draft_model, prefix, k, uniforms):
    """Returns a list of rows in place of an array."""
    tokens, rows = [], []
    for u in uniforms:
        row = draft_model(prefix + tokens)
        tokens.append(sample_from(row, u))
        rows.append(row)
    return tokens, rows


@CH01.at("draft_block")
def numbers_from_the_end(draft_model, prefix, k, uniforms):
    """Takes the uniforms from the end."""
    left, tokens, rows = list(uniforms), [], []
    for _ in range(k):
        rows.append(draft_model(prefix + tokens))
        tokens.append(sample_from(rows[-1], left.pop()))
    return tokens, np.array(rows)


@CH01.at("score_block", "no_bonus_row")
def slice_without_the_last(target_model, prefix, drafted):
    """Slices from the end and leaves out the bonus row."""
    rows = target_model(prefix + drafted)
    return rows[-len(drafted) - 1 : -1]


@CH01.at("score_block", "rows_one_late_scored")
def last_k_rows(target_model, prefix, drafted):
    """Takes the last K rows: one late, and all rows for an empty block."""
    rows = target_model(prefix + drafted)
    return rows[-len(drafted) :]


@CH01.at("greedy_prefix", "all_that_agree")
def length_less_the_misses(drafted, p):
    """Subtracts the number of disagreements."""
    wrong = 0
    for token, row in zip(drafted, p, strict=False):
        if np.argmax(row) != token:
            wrong += 1
    return len(drafted) - wrong


@CH01.at("greedy_prefix")
def half_is_enough(drafted, p):
    """Accepts where the target gives a token at least one half."""
    n = 0
    while n < len(drafted) and p[n, drafted[n]] >= 0.5:
        n += 1
    return n


@CH01.at("greedy_speculative_decode", "eos_at_block_ends")
def breaks_after_a_block(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Looks for eos at the end of a block only."""
    out = []
    while len(out) < max_new_tokens:
        context, block = list(prompt) + out, []
        for _ in range(min(k, max_new_tokens - len(out) - 1)):
            block.append(int(np.argmax(draft_model(context + block))))
        rows = score_block(target_model, context, block)
        n = greedy_prefix(block, rows)
        out.extend(block[:n])
        out.append(int(np.argmax(rows[n])))
        if out[-1] == eos:
            return out
    return out


@CH01.at("greedy_speculative_decode")
def second_call_for_the_bonus(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Asks the target a second time for the bonus token."""
    out = []
    while len(out) < max_new_tokens:
        context, block = list(prompt) + out, []
        for _ in range(min(k, max_new_tokens - len(out) - 1)):
            block.append(int(np.argmax(draft_model(context + block))))
        rows = score_block(target_model, context, block)
        n = greedy_prefix(block, rows)
        if n == len(block):
            last = int(np.argmax(target_model(context + block)[-1]))
        else:
            last = int(np.argmax(rows[n]))
        for token in block[:n] + [last]:
            out.append(token)
            if token == eos:
                return out
    return out


@CH01.at("greedy_speculative_decode", "prompt_returned", "eos_dropped")
def whole_text_without_eos(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Returns the prompt too, and drops eos."""
    text = list(prompt)
    end = len(prompt) + max_new_tokens
    while len(text) < end:
        block = []
        for _ in range(min(k, end - len(text) - 1)):
            block.append(int(np.argmax(draft_model(text + block))))
        rows = score_block(target_model, text, block)
        n = greedy_prefix(block, rows)
        for token in block[:n] + [int(np.argmax(rows[n]))]:
            if eos is not None and token == eos:
                return text
            text.append(token)
    return text


CH02 = Attempts("02_rejection_sampling")


@CH02.at("acceptance_probability", "plain_division")
def not_a_number_to_zero(p, q, token):
    """Divides first; min has made 1 of NaN before it could be repaired."""
    return float(np.nan_to_num(min(1.0, np.float64(p[token]) / np.float64(q[token])), nan=0.0))


@CH02.at("acceptance_probability", "plain_division")
def over_the_larger(p, q, token):
    """Divides p by the larger of p and q, which is 0/0 where both are 0."""
    larger = max(p[token], q[token])
    return float(p[token] / larger)


@CH02.at("acceptance_probability")
def one_minus_the_distance(p, q, token):
    """Takes 1 - |p - q|."""
    return float(1 - abs(p[token] - q[token]))


@CH02.at("speculative_accept", "impossible_token_kept")
def breaks_above_the_ratio(draft_tokens, p, q, r):
    """Divides first, so that r = 0 keeps a token of probability 0."""
    kept = []
    for i, token in enumerate(draft_tokens):
        if r[i] > p[i][token] / q[i][token]:
            break
        kept.append(token)
    return kept


@CH02.at("speculative_accept")
def how_many(draft_tokens, p, q, r):
    """Returns how many are accepted, not which."""
    for i, token in enumerate(draft_tokens):
        if p[i, token] == 0 or r[i] * q[i, token] > p[i, token]:
            return i
    return len(draft_tokens)


@CH02.at("residual_distribution", "sign_flipped", "nan_where_equal")
def surplus_without_a_guard(p, q):
    """Takes q - p, and divides by 0 where the two are equal."""
    rest = np.clip(q - p, 0, None)
    return rest / np.sum(rest)


@CH02.at("residual_distribution", "nearly_equal_is_equal")
def close_is_equal(p, q):
    """Takes nearly equal distributions for equal ones."""
    if np.allclose(p, q):
        return p.copy()
    rest = np.clip(p - q, 0, None)
    return rest / rest.sum()


@CH02.at("residual_distribution")
def the_same_array(p, q):
    """Returns p itself and no copy."""
    rest = np.where(p > q, p - q, 0.0)
    total = rest.sum()
    if total == 0:
        return p
    return rest / total


@CH02.at("residual_distribution")
def squares_of_what_is_missing(p, q):
    """Squares what is missing before it divides."""
    rest = np.maximum(p - q, 0) ** 2
    return rest / rest.sum() if rest.any() else np.array(p)


@CH02.at("correct_token")
def accepts_by_the_inverse(p, q, token, r, u):
    """Holds the coin against q/p; the residual is right."""
    if p[token] > 0 and r * p[token] <= q[token]:
        return token, True
    return sample_from(residual_distribution(p, q), u), False


@CH02.at("correct_token")
def coin_stretched(p, q, token, r, u):
    """Stretches the rejected coin to [0, 1) and takes it in place of u."""
    ratio = acceptance_probability(p, q, token)
    if p[token] > 0 and r <= ratio:
        return token, True
    return sample_from(residual_distribution(p, q), (r - ratio) / (1 - ratio)), False


@CH02.at("speculative_step", "stale_bonus_row")
def bonus_from_the_row_before(draft_tokens, p, q, r, u):
    """Takes the bonus from p[-2]."""
    accepted = speculative_accept(draft_tokens, p[: len(draft_tokens)], q, r)
    n = len(accepted)
    if n == len(draft_tokens):
        row = p[-2] if len(p) > 1 else p[-1]
    else:
        row = residual_distribution(p[n], q[n])
    return accepted + [sample_from(row, u)]


@CH02.at("speculative_step")
def bonus_by_argmax(draft_tokens, p, q, r, u):
    """Takes the most probable token for the bonus."""
    accepted = speculative_accept(draft_tokens, p[: len(draft_tokens)], q, r)
    n = len(accepted)
    if n == len(draft_tokens):
        return accepted + [int(np.argmax(p[n]))]
    return accepted + [sample_from(residual_distribution(p[n], q[n]), u)]


@CH02.at("speculative_step", "stale_bonus_row", "step_replaced_from_target")
def old_row_and_target_again(draft_tokens, p, q, r, u):
    """Takes the bonus from row K - 1, and replaces from the target."""
    accepted = speculative_accept(draft_tokens, p[: len(draft_tokens)], q, r)
    n = min(len(accepted), max(len(draft_tokens) - 1, 0))
    return accepted + [sample_from(p[n], u)]


CH03 = Attempts("03_lossless")


@CH03.at("total_variation")
def half_the_squares(p, q):
    """Takes half the sum of the squares."""
    return float(0.5 * np.sum((p - q) ** 2))


@CH03.at("acceptance_rate")
def shared_mass_averaged(p, q):
    """Averages the shared mass over the tokens."""
    return float(np.minimum(p, q).mean())


@CH03.at("two_paths")
def half_the_distance(p, q):
    """Gives half of |p - q| as corrected."""
    return np.minimum(p, q), np.abs(p - q) / 2


@CH03.at("two_paths", "other_way_round", "what_was_rejected")
def exchanged_and_flipped(p, q):
    """Exchanges the two, and takes q - p for the correction."""
    kept = np.minimum(p, q)
    return q - kept, kept


@CH03.at("argmax_draft_law")
def renormalised_at_the_end(p, q):
    """Adds the missing mass whole and renormalises at the end."""
    law = np.maximum(p - q, 0)
    token = np.argmax(q)
    law[token] += min(1, p[token] / q[token])
    return law / law.sum()


@CH03.at("warp", "small_instead_of_zero")
def never_below_a_millionth(logits, temperature=1.0, top_k=None, top_p=None):
    """Takes a tiny temperature for 0."""
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    scaled = logits / max(temperature, 1e-6)
    if top_k:
        kth = np.sort(scaled)[::-1][min(top_k, len(scaled)) - 1]
        scaled = np.where(scaled >= kth, scaled, -np.inf)
    probs = np.exp(scaled - scaled.max())
    probs /= probs.sum()
    if top_p is not None and top_p < 1:
        order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        gone = order[(before >= top_p) & (np.arange(len(order)) > 0)]
        probs[gone] = 0
        probs /= probs.sum()
    return probs


@CH03.at("warp", "mass_before_top_k")
def top_p_before_top_k(logits, temperature=1.0, top_k=None, top_p=None):
    """Applies top-p before top-k."""
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    if temperature == 0:
        probs = np.zeros(len(logits))
        probs[np.argmax(logits)] = 1
        return probs
    probs = np.exp((logits - logits.max()) / temperature)
    probs /= probs.sum()
    if top_p is not None and top_p < 1:
        order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        probs[order[(before >= top_p) & (np.arange(len(order)) > 0)]] = 0
        probs /= probs.sum()
    if top_k and top_k < len(probs):
        probs = np.where(probs >= np.sort(probs)[-top_k], probs, 0)
        probs /= probs.sum()
    return probs


@CH03.at("is_lossless")
def ends_of_the_interval(rule, p, q):
    """Asks at 64 points from 0 to 1, both ends included."""
    axis = np.linspace(0, 1, 64)
    r, u = (a.ravel() for a in np.meshgrid(axis, axis))
    law = np.zeros(len(p))
    for token in range(len(q)):
        if q[token] > 0:
            out = rule(p, q, np.full(len(r), token), r, u)
            law += q[token] * np.bincount(out, minlength=len(p)) / len(r)
    return bool(np.allclose(law, p, atol=1e-12, rtol=0))


CH04 = Attempts("04_choosing_the_draft")


@CH04.at("expected_accepted")
def one_at_the_end(alpha, k):
    """Returns 1 at alpha = 1."""
    if alpha == 1:
        return 1.0
    return alpha * (1 - alpha**k) / (1 - alpha)


@CH04.at("expected_tokens")
def one_more_times_alpha(alpha, k):
    """Counts (k + 1) alpha."""
    return float((k + 1) * alpha)


@CH04.at("walltime_speedup", "accepted_over_time")
def by_what_is_accepted(alpha, c, k, verify_cost=1.0):
    """Divides the accepted tokens by the time."""
    return expected_accepted(alpha, k) / (c * k + verify_cost)


@CH04.at("best_k", "compared_exactly")
def argmax_of_all(alpha, c, k_max):
    """Takes the argmax without a tolerance."""
    return int(np.argmax([walltime_speedup(alpha, c, k) for k in range(k_max + 1)]))


@CH04.at("best_k", "never_zero", "compared_exactly")
def argmax_from_one(alpha, c, k_max):
    """Begins at 1, and compares without a tolerance."""
    speeds = [walltime_speedup(alpha, c, k) for k in range(1, k_max + 1)]
    return 1 + int(np.argmax(speeds))


@CH04.at("prompt_lookup", "earliest_occurrence", "shortest_first")
def first_and_shortest(tokens, k, max_ngram=3):
    """Looks for the shortest suffix first, from the beginning."""
    for n in range(1, max_ngram + 1):
        for start in range(len(tokens) - n):
            if tokens[start : start + n] == tokens[-n:]:
                return tokens[start + n : start + n + k]
    return []


@CH04.at("bigram_probs")
def smoothed_after_dividing(tokens, vocab_size, smoothing=1.0):
    """Adds the smoothing to the probabilities, then divides again."""
    table = np.zeros((vocab_size, vocab_size))
    for a, b in zip(tokens[:-1], tokens[1:], strict=True):
        table[a, b] += 1
    sums = table.sum(1, keepdims=True)
    table = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0) + smoothing
    sums = table.sum(1, keepdims=True)
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1), 1 / vocab_size)


@CH04.at("distillation_loss")
def reverse_divergence(target_logits, draft_logits):
    """Takes the divergence of the draft from the target."""
    q = torch.softmax(draft_logits.float(), -1)
    log_p = torch.log_softmax(target_logits.float(), -1)
    return (q * (torch.log(q) - log_p)).sum(-1).mean()


@CH04.at("distillation_loss")
def largest_position(target_logits, draft_logits):
    """Takes the largest loss of a position, not the mean."""
    p = torch.softmax(target_logits.double(), -1)
    q = torch.softmax(draft_logits.double(), -1)
    return 0.5 * (p - q).abs().sum(-1).max()


CH05 = Attempts("05_results")


@CH05.at("alpha_from_blocks", "whole_blocks_reject", "counts_unchecked")
def one_rejection_a_block(accepted, k):
    """Counts a rejection in every block, and does not look at the counts."""
    if not accepted or k == 0:
        raise ValueError("no trials")
    return sum(accepted) / (sum(accepted) + len(accepted))


@CH05.at("operations_factor")
def not_divided_at_one(alpha, c_hat, k):
    """Forgets to divide at alpha = 1."""
    operations = c_hat * k + k + 1
    if alpha == 1:
        return operations
    return operations * (1 - alpha) / (1 - alpha ** (k + 1))


@CH05.at("implied_alpha")
def fine_grid(seconds_per_token, target_seconds, draft_seconds, k):
    """Searches a grid of ten thousandths."""
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if wanted < 1 - 1e-9 or wanted > k + 1 + 1e-9:
        raise ValueError("impossible")
    grid = np.linspace(0, 1, 10001)
    tokens = sum(grid**i for i in range(k + 1))
    return float(grid[np.argmin(np.abs(tokens - wanted))])


@CH05.at("acceptance_by_class", "last_run_of_a_label", "lengths_unchecked")
def grouped_as_they_come(accepted, classes):
    """Groups neighbours only, and does not look at the lengths."""
    import itertools

    result = {}
    pairs = zip(classes, accepted, strict=False)
    for label, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
        values = [value for _, value in group]
        result[label] = sum(values) / len(values)
    return result


@CH05.at("paired_speedup")
def of_the_mean_logs_base_two(baseline_seconds, speculative_seconds):
    """Takes logarithms to the base 2 and exp of their mean."""
    if len(baseline_seconds) != len(speculative_seconds) or not baseline_seconds:
        raise ValueError("pairs")
    logs = np.log2(np.array(baseline_seconds) / np.array(speculative_seconds))
    return float(np.exp(logs.mean()))


CH06 = Attempts("06_simulator")


@CH06.at("simulate_block", "boundary_accepted")
def product_of_the_passes(alpha, k, r):
    """Lets a coin pass that is equal to alpha."""
    return int(np.cumprod(np.asarray(r) <= alpha).sum())


@CH06.at("simulate_block")
def runs_over_the_end(alpha, k, r):
    """Reads past the last coin of a block that is accepted whole."""
    n = 0
    while r[n] < alpha:
        n += 1
    return n


@CH06.at("simulate_decode")
def one_verification_in_all(alpha, c, k, n_tokens, rng):
    """Pays for one verification only."""
    tokens, passes = 0, 0
    while tokens < n_tokens:
        tokens += simulate_block(alpha, k, rng.random(k)) + 1
        passes += 1
    time = passes * c * k + 1 if passes else 0.0
    return {"tokens": tokens, "target_passes": passes, "time": float(time)}


@CH06.at("simulate_decode", "cut_to_length", "free_draft")
def cut_and_free(alpha, c, k, n_tokens, rng):
    """Cuts the last block, and leaves the draft's time out."""
    tokens, passes = 0, 0
    while tokens < n_tokens:
        tokens += simulate_block(alpha, k, rng.random(k)) + 1
        passes += 1
    return {"tokens": min(tokens, n_tokens), "target_passes": passes, "time": float(passes)}


@CH06.at("lockstep_tokens")
def power_of_the_mean(alpha, k, batch_size):
    """Raises the mean block to the number of rows."""
    return float(sum(alpha**i for i in range(k + 1)) ** batch_size)


CH07 = Attempts("07_connections")


@CH07.at("one_hot_accept", "certain_not_strict")
def at_most_p(draft_token, p, r, u):
    """Accepts r equal to p."""
    if r <= p[draft_token] or np.count_nonzero(p) == 1 and p[draft_token] > 0:
        return draft_token, True
    rest = np.where(np.arange(len(p)) == draft_token, 0, p)
    return sample_from(rest / rest.sum(), u), False


@CH07.at("one_hot_accept")
def whatever_is_possible(draft_token, p, r, u):
    """Accepts every token that the target can write."""
    if p[draft_token] > 0:
        return draft_token, True
    return sample_from(p, u), False


@CH07.at("jacobi_decode")
def one_pass_too_many(target_greedy, prompt, guess):
    """Counts from 1, so one pass too many."""
    current, passes = list(guess), 1
    while True:
        after = target_greedy(prompt + current)[len(prompt) - 1 : -1]
        passes += 1
        if after == current:
            return current, passes
        current = after


@CH07.at("jacobi_decode", "jacobi_one_place_a_pass")
def place_after_place(target_greedy, prompt, guess):
    """Settles one place after the other, each by a pass of its own: plain decoding."""
    current, passes = list(guess), 0
    for i in range(len(guess)):
        current[i] = target_greedy(prompt + current)[len(prompt) - 1 + i]
        passes += 1
    return current, max(passes, 1)


@CH07.at("multi_candidate_accept", "candidates_one_residual")
def residual_of_the_pair(candidates, p, q, r, u):
    """Computes the residual from p each time."""
    wanted = p
    for i in range(len(candidates)):
        token = candidates[i]
        if r[i] * q[token] < wanted[token]:
            return token
        wanted = residual_distribution(p, q)
    return sample_from(wanted, u)


@CH07.at("tree_attention_mask", "mask_both_ways")
def both_directions(parents):
    """Lets nodes see their descendants as well."""
    mask = np.eye(len(parents), dtype=bool)
    for node in range(len(parents)):
        up = parents[node]
        while up >= 0:
            mask[node, up] = mask[up, node] = True
            up = parents[up]
    return mask


@CH07.at("map_draft", "mapped_to_the_last")
def added_at_every_id(q, draft_to_target, vocab_size):
    """Adds what is not shared to the last token."""
    out = np.zeros(vocab_size)
    np.add.at(out, draft_to_target, q)
    if out.sum() == 0:
        raise ValueError("nothing shared")
    return out / out.sum()


@CH07.at("map_draft", "mapped_not_normalised")
def over_the_drafts_sum(q, draft_to_target, vocab_size):
    """Divides by the sum of q, which is 1."""
    out = np.zeros(vocab_size)
    for i, target_id in enumerate(draft_to_target):
        if target_id != -1:
            out[target_id] += q[i]
    if not out.any():
        raise ValueError("nothing shared")
    return out / q.sum()


@CH07.at("map_draft", "mapped_overwritten", "mapped_not_normalised")
def assigned_as_they_are(q, draft_to_target, vocab_size):
    """Overwrites masses of one id, and does not divide."""
    out = np.zeros(vocab_size)
    for mass, target_id in zip(q, draft_to_target, strict=True):
        if target_id >= 0:
            out[target_id] = mass
    if out.sum() == 0:
        raise ValueError("nothing shared")
    return out


CH08 = Attempts("08_full_generation")


@CH08.at("rollback")
def cut_where_it_is_longer(cache, length):
    """Never looks whether the length can be."""
    if length < int(cache.length[0]):
        cache.truncate(length)


@CH08.at("rollback", "always_called")
def refuses_and_cuts(cache, length):
    """Cuts also where nothing is to be forgotten."""
    if length < 0 or length > int(cache.length):
        raise ValueError(f"cannot hold {length}")
    cache.truncate(length)


@CH08.at("verify_block")
def tiny_added_to_q(p, q, drafted, r, u):
    """Adds a tiny number to q before it divides."""
    px = torch.gather(p[:, :-1], 2, drafted.unsqueeze(-1)).squeeze(-1)
    qx = torch.gather(q, 2, drafted.unsqueeze(-1)).squeeze(-1)
    keep = r < (px / (qx + 1e-3)).clamp(max=1)
    count = torch.cumprod(keep.long(), 1).sum(1)
    rows = torch.arange(p.shape[0])
    padded = torch.cat([q, torch.zeros_like(p[:, :1])], 1)
    diff = (p[rows, count] - padded[rows, count]).clamp(min=0)
    total = diff.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(total > 0, diff / total, p[rows, count]), u)


@CH08.at("verify_block", "one_u_for_all_rows")
def first_u_for_all(p, q, drafted, r, u):
    """Draws the next token of every row with u[0]."""
    px = torch.gather(p[:, :-1], 2, drafted.unsqueeze(-1)).squeeze(-1)
    qx = torch.gather(q, 2, drafted.unsqueeze(-1)).squeeze(-1)
    count = torch.cumprod((r * qx < px).long(), 1).sum(1)
    rows = torch.arange(p.shape[0])
    padded = torch.cat([q, torch.zeros_like(p[:, :1])], 1)
    diff = (p[rows, count] - padded[rows, count]).clamp(min=0)
    total = diff.sum(-1, keepdim=True)
    law = torch.where(total > 0, diff / total, p[rows, count])
    return count, sample_rows(law, u[:1].expand_as(u))


@CH08.at("verify_block", "stale_bonus_row", "not_strict")
def old_bonus_row_and_at_most(p, q, drafted, r, u):
    """Takes the bonus from the last judged row, and accepts r q equal to p."""
    px = torch.gather(p[:, :-1], 2, drafted.unsqueeze(-1)).squeeze(-1)
    qx = torch.gather(q, 2, drafted.unsqueeze(-1)).squeeze(-1)
    count = torch.cumprod((r * qx <= px).long(), 1).sum(1)
    rows, k = torch.arange(p.shape[0]), drafted.shape[1]
    at = count.clamp(max=max(k - 1, 0))
    padded = torch.cat([q, torch.zeros_like(p[:, :1])], 1)
    diff = (p[rows, at] - padded[rows, at]).clamp(min=0)
    total = diff.sum(-1, keepdim=True)
    law = torch.where(total > 0, diff / total, p[rows, at])
    law = torch.where((count == k)[:, None], p[rows, at], law)
    return count, sample_rows(law, u)


@CH08.at("verify_block")
def counts_in_int32(p, q, drafted, r, u):
    """Returns the counts as int32."""
    px = torch.gather(p[:, :-1], 2, drafted.unsqueeze(-1)).squeeze(-1)
    qx = torch.gather(q, 2, drafted.unsqueeze(-1)).squeeze(-1)
    count = torch.cumprod((r * qx < px).long(), 1).sum(1)
    rows = torch.arange(p.shape[0])
    padded = torch.cat([q, torch.zeros_like(p[:, :1])], 1)
    diff = (p[rows, count] - padded[rows, count]).clamp(min=0)
    total = diff.sum(-1, keepdim=True)
    law = torch.where(total > 0, diff / total, p[rows, count])
    return count.int(), sample_rows(law, u)


@CH08.at("speculative_generate", "bonus_not_fed")
def only_the_last_token(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Feeds the draft nothing but the last token, and cuts both caches to len(text) - 1."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    tc, dc = target.new_cache(), draft.new_cache()
    fresh = text
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        a, r, u = (
            (rng.random(n), rng.random(n), rng.random()) if temperature else ([0] * n,) * 2 + (0.0,)
        )
        drafted, q = [], []
        for x in a:
            q.append(warp(draft.forward(torch.tensor([fresh]), dc)[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([float(x)]).double())))
            fresh = [drafted[-1]]
        p = warp(feed(target, tc, text + drafted)[:, -n - 1 :])
        count, token = verify_block(
            p, torch.cat([*q, p[:, :0]], 1), torch.tensor([drafted]).long(),
            torch.tensor([list(r)]).double(), torch.tensor([u]).double(),
        )  # fmt: skip
        new = drafted[: int(count)] + [int(token)]
        if eos_id in new:
            return text[len(prompt_ids) :] + new[: new.index(eos_id) + 1]
        text = text + new
        fresh = text[-1:]
        for cache in (tc, dc):
            if int(cache.length[0]) > len(text) - 1:
                cache.truncate(len(text) - 1)
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate", "draft_not_rolled_back")
def draft_cache_left_alone(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Rolls only the target's cache back; the draft keeps what was rejected."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    tc, dc = target.new_cache(), draft.new_cache()
    unread = list(text)
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        if temperature > 0:
            a, r, u = rng.random(n), rng.random(n), rng.random()
        else:
            a, r, u = np.zeros(n), np.zeros(n), 0.0
        drafted, q = [], []
        for x in a:
            q.append(warp(draft.forward(torch.tensor([unread]), dc)[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([x]))))
            unread = drafted[-1:]
        p = warp(feed(target, tc, text + drafted)[:, -n - 1 :])
        block = torch.tensor([drafted]).long(), torch.tensor(r)[None], torch.tensor([u]).double()
        count, token = verify_block(p, torch.cat([*q, p[:, :0]], 1), *block)
        new = drafted[: int(count)] + [int(token)]
        if eos_id in new:
            return text[len(prompt_ids) :] + new[: new.index(eos_id) + 1]
        text = text + new
        unread = text[-1:]
        rollback(tc, len(text) - 1)
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate", "numbers_used_again")
def one_list_of_numbers(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Draws n numbers for the draft and takes them as coins too."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    tc, dc = target.new_cache(), draft.new_cache()
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        a, u = (rng.random(n), rng.random()) if temperature > 0 else (np.zeros(n), 0.0)
        drafted, q = [], []
        for x in a:
            q.append(warp(feed(draft, dc, text + drafted)[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([x]))))
        p = warp(feed(target, tc, text + drafted)[:, -n - 1 :])
        block = torch.tensor([drafted]).long(), torch.tensor(a)[None], torch.tensor([u]).double()
        count, token = verify_block(p, torch.cat([*q, p[:, :0]], 1), *block)
        new = drafted[: int(count)] + [int(token)]
        if eos_id in new:
            return text[len(prompt_ids) :] + new[: new.index(eos_id) + 1]
        text = text + new
        rollback(tc, len(text) - 1)
        rollback(dc, min(int(dc.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate", "limit_off_by_one")
def drafts_up_to_the_limit(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Drafts min(k, left) tokens, and cuts the text at the end."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    tc, dc = target.new_cache(), draft.new_cache()
    while len(text) < end:
        n = min(k, end - len(text))
        if temperature > 0:
            a, r, u = rng.random(n), rng.random(n), rng.random()
        else:
            a, r, u = np.zeros(n), np.zeros(n), 0.0
        drafted, q = [], []
        for x in a:
            q.append(warp(feed(draft, dc, text + drafted)[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([x]))))
        p = warp(feed(target, tc, text + drafted)[:, -n - 1 :])
        block = torch.tensor([drafted]).long(), torch.tensor(r)[None], torch.tensor([u]).double()
        count, token = verify_block(p, torch.cat([*q, p[:, :0]], 1), *block)
        for new in drafted[: int(count)] + [int(token)]:
            text.append(new)
            if new == eos_id or len(text) == end:
                return text[len(prompt_ids) :]
        rollback(tc, len(text) - 1)
        rollback(dc, min(int(dc.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]


@CH08.at("speculative_generate")
def caches_from_the_start_of_the_block(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Goes back to where the block began, so that every accepted token is read again."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    tc, dc = target.new_cache(), draft.new_cache()
    while len(text) < end:
        start, n = len(text), min(k, end - len(text) - 1)
        if temperature > 0:
            a, r, u = rng.random(n), rng.random(n), rng.random()
        else:
            a, r, u = np.zeros(n), np.zeros(n), 0.0
        drafted, q = [], []
        for x in a:
            q.append(warp(feed(draft, dc, text + drafted)[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([x]))))
        p = warp(feed(target, tc, text + drafted)[:, -n - 1 :])
        block = torch.tensor([drafted]).long(), torch.tensor(r)[None], torch.tensor([u]).double()
        count, token = verify_block(p, torch.cat([*q, p[:, :0]], 1), *block)
        new = drafted[: int(count)] + [int(token)]
        if eos_id in new:
            return text[len(prompt_ids) :] + new[: new.index(eos_id) + 1]
        text = text + new
        rollback(tc, start)
        rollback(dc, min(int(dc.length[0]), start))
    return text[len(prompt_ids) :]


CHAPTERS = (CH00, CH01, CH02, CH03, CH04, CH05, CH06, CH07, CH08)
