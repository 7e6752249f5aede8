"""Attempts by which the grader's causes were made: among them those that were told a wrong one."""

# ruff: noqa: F821 - an attempt calls the notebook's other functions

import numpy as np
import torch
from wrong_answers.attempts import Attempts

from specdec_lib.sampling import Warp, sample_from, sample_rows

CH00 = Attempts("00_bottleneck")


@CH00.at("arithmetic_intensity", "one_flop", "bytes_multiplied")
def one_flop_times_the_bytes(n_tokens, bytes_per_param):
    """Counts one FLOP, and multiplies by the bytes."""
    return float(n_tokens * bytes_per_param)


@CH00.at("forward_time", "added", "half_the_flop")
def sum_with_half_the_flop(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    """Adds the two times, and counts one FLOP a parameter."""
    return n_params * bytes_per_param / bandwidth + n_tokens * n_params / peak_flops


@CH00.at("forward_time", "reading_only")
def only_the_bytes(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    """Counts reading alone."""
    size = n_params * bytes_per_param
    return size / bandwidth


@CH00.at("free_tokens", "none_free", "two_forgotten")
def floor_without_the_two(bytes_per_param, bandwidth, peak_flops):
    """Forgets the two FLOP, and gives 0 where arithmetic is slow."""
    return int(np.floor(bytes_per_param * peak_flops / bandwidth))


@CH00.at("kv_cache_bytes", "one_layer", "keys_only")
def keys_of_a_layer(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    """Counts the keys of one layer."""
    return batch_size * n_tokens * n_kv_heads * head_dim * bytes_per_value


CH01 = Attempts("01_draft_then_verify")


@CH01.at("draft_block", "argmax_draft")
def most_probable_each_time(draft_model, prefix, k, uniforms):
    """Drafts greedily."""
    text, rows = list(prefix), []
    while len(rows) < k:
        rows.append(draft_model(list(text)))
        text.append(int(rows[-1].argmax()))
    return text[len(prefix) :], np.stack(rows)


@CH01.at("draft_block", "one_hot_rows", "one_number")
def one_number_and_one_hot(draft_model, prefix, k, uniforms):
    """Draws with the first number always, and returns one-hot rows."""
    drafted, rows = [], []
    for _ in range(k):
        row = draft_model(prefix + drafted)
        drafted.append(sample_from(row, uniforms[0]))
        one_hot = np.zeros_like(row)
        one_hot[drafted[-1]] = 1.0
        rows.append(one_hot)
    return drafted, np.array(rows)


@CH01.at("draft_block")
def a_call_at_the_end(draft_model, prefix, k, uniforms):
    """Calls the draft once more at the end and drops what it gives."""
    drafted, q = [], []
    for i in range(k):
        q.append(draft_model([*prefix, *drafted]))
        drafted.append(sample_from(q[-1], uniforms[i]))
    draft_model([*prefix, *drafted])
    return drafted, np.array(q)


@CH01.at("greedy_prefix", "ties_both_ways", "correction_counted")
def ties_and_one_more(drafted, p):
    """Takes either of two equal tokens, and counts the correction."""
    n = 0
    for token, row in zip(drafted, p, strict=False):
        if row[token] != row.max():
            break
        n += 1
    return n + 1


@CH01.at("greedy_speculative_decode", "limit_off_by_one")
def drafts_what_is_left(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Drafts min(k, left) tokens, so the last block writes one too many."""
    new = []
    while len(new) < max_new_tokens:
        text, draft = prompt + new, []
        for _ in range(min(k, max_new_tokens - len(new))):
            draft.append(int(np.argmax(draft_model(text + draft))))
        p = score_block(target_model, text, draft)
        n = greedy_prefix(draft, p)
        block = draft[:n] + [int(np.argmax(p[n]))]
        if eos in block:
            return new + block[: block.index(eos) + 1]
        new += block
    return new


@CH01.at("greedy_speculative_decode", "eos_dropped", "limit_passed")
def whole_blocks_without_eos(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Writes whole blocks past the limit, and drops eos."""
    new = []
    while len(new) < max_new_tokens:
        text, draft = prompt + new, []
        for _ in range(k):
            draft.append(int(np.argmax(draft_model(text + draft))))
        p = score_block(target_model, text, draft)
        n = greedy_prefix(draft, p)
        block = draft[:n] + [int(np.argmax(p[n]))]
        if eos in block:
            return new + block[: block.index(eos)]
        new += block
    return new


@CH01.at("greedy_speculative_decode")
def bonus_by_another_pass(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Asks the target once more for every bonus token."""
    new = []
    while len(new) < max_new_tokens:
        text, draft = [*prompt, *new], []
        for _ in range(min(k, max_new_tokens - len(new) - 1)):
            draft.append(int(np.argmax(draft_model([*text, *draft]))))
        p = target_model([*text, *draft])[len(text) - 1 :]
        n = 0
        while n < len(draft) and draft[n] == int(np.argmax(p[n])):
            n += 1
        bonus = int(np.argmax(target_model([*text, *draft[:n]])[-1]))
        block = [*draft[:n], bonus]
        if eos in block:
            return new + block[: block.index(eos) + 1]
        new += block
    return new


CH02 = Attempts("02_rejection_sampling")


@CH02.at("acceptance_probability", "draft_zero_alone_guarded")
def one_where_q_is_zero(p, q, token):
    """Guards q = 0 alone, so that 0/0 is 1."""
    return 1.0 if q[token] <= 0 else min(1.0, float(p[token] / q[token]))


@CH02.at("acceptance_probability", "no_cap")
def ratio_as_it_is(p, q, token):
    """Divides, and that is all."""
    return p[token] / q[token]


@CH02.at("acceptance_probability", "inverted", "no_cap")
def inverted_without_a_cap(p, q, token):
    """Divides q by p, and does not cap."""
    if p[token] == 0:
        return 0.0
    return float(q[token] / p[token])


@CH02.at("speculative_accept")
def ratio_first_with_warnings(draft_tokens, p, q, r):
    """Divides first: right values, with a warning."""
    accepted = []
    for i, token in enumerate(draft_tokens):
        ratio = p[i, token] / q[i, token]
        if p[i, token] == 0 or r[i] > ratio:
            break
        accepted.append(token)
    return accepted


@CH02.at("speculative_accept", "no_stop", "impossible_token_kept")
def filter_of_all(draft_tokens, p, q, r):
    """Goes on after a rejection, and keeps a token of probability 0 where r is 0."""
    return [t for i, t in enumerate(draft_tokens) if r[i] * q[i, t] <= p[i, t]]


@CH02.at("speculative_accept", "first_coin_only", "rejected_kept")
def first_coin_and_rejected(draft_tokens, p, q, r):
    """Uses one coin, and returns the rejected token too."""
    accepted = []
    for i, token in enumerate(draft_tokens):
        accepted.append(token)
        if p[i, token] == 0 or r[0] * q[i, token] > p[i, token]:
            break
    return accepted


@CH02.at("residual_distribution", "absolute_difference", "nan_where_equal")
def distance_without_a_guard(p, q):
    """Takes |p - q|, and divides by 0 where the two are equal."""
    gap = abs(p - q)
    return gap / gap.sum()


@CH02.at("residual_distribution", "nearly_equal_is_equal")
def nearly_equal(p, q):
    """Takes nearly equal for equal."""
    if np.allclose(p, q):
        return p.copy()
    missing = np.maximum(p - q, 0)
    return missing / missing.sum()


@CH02.at("residual_distribution")
def returns_p(p, q):
    """Returns p itself where nothing is missing."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p


@CH02.at("residual_distribution", "not_normalised")
def clipped_only(p, q):
    """Does not divide, except that nothing missing gives p."""
    missing = np.clip(p - q, 0, 1)
    return missing if missing.any() else p.copy()


@CH02.at("correct_token")
def ratio_first(p, q, token, r, u):
    """Divides first: right values, with a warning."""
    ratio = p[token] / q[token]
    if p[token] > 0 and r <= ratio:
        return token, True
    return sample_from(residual_distribution(p, q), u), False


@CH02.at("correct_token", "flag_reversed", "replaced_from_target")
def target_again_and_corrected(p, q, token, r, u):
    """Replaces from the target, and says whether it did."""
    if p[token] > 0 and r <= acceptance_probability(p, q, token):
        return token, False
    return sample_from(p, u), True


@CH02.at("speculative_step", "no_bonus", "step_replaced_from_target")
def no_bonus_and_target_again(draft_tokens, p, q, r, u):
    """Replaces from the target, and writes no bonus."""
    accepted = speculative_accept(draft_tokens, p[: len(draft_tokens)], q, r)
    n = len(accepted)
    return accepted if n == len(draft_tokens) else accepted + [sample_from(p[n], u)]


@CH02.at("speculative_step", "bonus_from_draft")
def bonus_from_the_last_q(draft_tokens, p, q, r, u):
    """Draws the bonus from the draft's last row."""
    accepted = speculative_accept(draft_tokens, p[: len(draft_tokens)], q, r)
    n = len(accepted)
    if n < len(draft_tokens):
        return accepted + [sample_from(residual_distribution(p[n], q[n]), u)]
    return accepted + [sample_from(q[-1], u)]


CH03 = Attempts("03_lossless")


@CH03.at("total_variation", "not_halved")
def norm_of_order_one(p, q):
    """Takes the norm of order 1."""
    return float(np.linalg.norm(p - q, 1))


@CH03.at("acceptance_rate")
def ratio_with_a_warning(p, q):
    """Divides first and repairs it: right values, with a warning."""
    return float(np.nansum(q * np.minimum(1, p / q)))


@CH03.at("argmax_draft_law", "no_cap", "empty_residual")
def neither_cap_nor_guard(p, q):
    """Does not cap the ratio, and divides by 0 where nothing is missing."""
    token = int(np.argmax(q))
    stays = p[token] / q[token]
    rest = np.clip(p - q, 0, None)
    law = (1 - stays) * rest / rest.sum()
    law[token] += stays
    return law


@CH03.at("warp", "least_probable_kept")
def ascending_order(logits, temperature=1.0, top_k=None, top_p=None):
    """Adds up from the least probable token."""
    if temperature < 0:
        raise ValueError("temperature")
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    z = logits / temperature
    if top_k and top_k < len(z):
        z = np.where(z < np.sort(z)[-top_k], -np.inf, z)
    e = np.exp(z - z.max())
    probs = e / e.sum()
    if top_p is not None and top_p < 1:
        order = np.argsort(probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        keep = order[(before < top_p) | (np.arange(len(order)) == 0)]
        cut = np.zeros(len(probs))
        cut[keep] = probs[keep]
        probs = cut / cut.sum()
    return probs


@CH03.at("warp", "exactly_k", "not_renormalised")
def exactly_k_unscaled(logits, temperature=1.0, top_k=None, top_p=None):
    """Keeps exactly k of equal logits, and does not divide after a cut."""
    if temperature < 0:
        raise ValueError("temperature")
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    z = logits / temperature
    whole = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    if top_k and top_k < len(z):
        keep = np.argsort(-z, kind="stable")[:top_k]
        z = np.where(np.isin(np.arange(len(z)), keep), z, -np.inf)
    probs = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    if top_p is not None and top_p < 1:
        order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        probs[order[(before >= top_p) & (np.arange(len(order)) > 0)]] = 0
    return np.where(probs > 0, whole, 0.0)


@CH03.at("is_lossless")
def a_large_sample(rule, p, q):
    """Samples a hundred thousand drafts."""
    rng = np.random.default_rng(1)
    tokens = rng.choice(len(q), 100_000, p=q)
    out = rule(p, q, tokens, rng.random(100_000), rng.random(100_000))
    return bool(np.abs(np.bincount(out, minlength=len(p)) / 100_000 - p).max() < 0.006)


CH04 = Attempts("04_choosing_the_draft")


@CH04.at("walltime_speedup", "one_draft_step", "verification_for_one")
def one_step_one_pass(alpha, c, k, verify_cost=1.0):
    """Counts one draft step, and one pass whatever was measured."""
    return expected_tokens(alpha, k) / (c + 1)


@CH04.at("best_k", "range_ends_early", "compared_exactly")
def argmax_of_a_short_range(alpha, c, k_max):
    """Compares without a tolerance, and never looks at k_max."""
    return max(range(k_max), key=lambda k: walltime_speedup(alpha, c, k))


@CH04.at("bigram_probs", "transposed", "always_one")
def columns_with_one(tokens, vocab_size, smoothing=1.0):
    """Puts the token after in the row, and smooths by 1."""
    counts = np.ones((vocab_size, vocab_size))
    for a, b in zip(tokens[:-1], tokens[1:], strict=True):
        counts[b, a] += 1
    return counts / counts.sum(axis=1, keepdims=True)


@CH04.at("distillation_loss", "no_gradient")
def value_by_numpy(target_logits, draft_logits):
    """Computes the value without a gradient."""
    with torch.no_grad():
        p = target_logits.double().softmax(-1)
        q = draft_logits.double().softmax(-1)
        return (p - q).clamp(min=0).sum(-1).mean()


@CH04.at("distillation_loss", "not_halved", "summed")
def all_differences_added(target_logits, draft_logits):
    """Adds up all differences, over positions too."""
    p = target_logits.float().softmax(-1)
    return (p - draft_logits.float().softmax(-1)).abs().sum()


CH05 = Attempts("05_results")


@CH05.at("alpha_from_blocks", "accepted_by_drafted", "zero_without_trials")
def over_all_drafts(accepted, k):
    """Divides by all drafted tokens, and gives 0 where there are none."""
    if k * len(accepted) == 0:
        return 0.0
    if max(accepted) > k or min(accepted) < 0:
        raise ValueError("impossible count")
    return sum(accepted) / (k * len(accepted))


@CH05.at("acceptance_by_class", "zeros_left_out", "rejected_share")
def rejected_where_any(accepted, classes):
    """Gives the rejected share, and only for labels with an accepted token."""
    if len(accepted) != len(classes):
        raise ValueError("lengths")
    found = {}
    for verdict, label in zip(accepted, classes, strict=True):
        found.setdefault(label, []).append(verdict)
    return {label: 1 - sum(v) / len(v) for label, v in found.items() if any(v)}


CH06 = Attempts("06_simulator")


@CH06.at("simulate_decode", "one_draft_step", "one_block_too_many")
def one_step_and_one_block_more(alpha, c, k, n_tokens, rng):
    """Pays one draft step a block, and goes on when the number is met."""
    tokens = passes = 0
    while tokens <= n_tokens:
        tokens += simulate_block(alpha, k, rng.random(k)) + 1
        passes += 1
    return {"tokens": tokens, "target_passes": passes, "time": float(passes * (1 + c))}


@CH06.at("lockstep_tokens", "of_all_rows", "no_token_on_top")
def accepted_of_the_batch(alpha, k, batch_size):
    """Counts the accepted tokens of all rows."""
    return float(batch_size * sum((alpha**i) ** batch_size for i in range(1, k + 1)))


CH07 = Attempts("07_connections")


@CH07.at("jacobi_decode", "jacobi_pass_limit")
def at_most_eight(target_greedy, prompt, guess):
    """Makes eight passes at most."""
    current = list(guess)
    passes = 0
    while passes < 8:
        passes += 1
        after = target_greedy([*prompt, *current])[len(prompt) - 1 :][: len(guess)]
        if list(after) == current:
            break
        current = list(after)
    return current, passes


@CH07.at("multi_candidate_accept", "candidates_taken_as_certain")
def certain_candidates(candidates, p, q, r, u):
    """Judges every candidate as if q were 1 on it."""
    wanted = p.copy()
    for token, coin in zip(candidates, r, strict=True):
        if coin < wanted[token]:
            return token
        wanted[token] = 0
        if wanted.sum() == 0:
            return token
        wanted /= wanted.sum()
    return sample_from(wanted, u)


@CH07.at("multi_candidate_accept", "candidates_not_strict")
def at_most_what_is_wanted(candidates, p, q, r, u):
    """Accepts r q equal to what is wanted."""
    wanted = np.array(p)
    for i, token in enumerate(candidates):
        if r[i] * q[token] <= wanted[token]:
            return int(token)
        wanted = residual_distribution(wanted, q)
    return sample_from(wanted, u)


@CH07.at("tree_attention_mask", "mask_without_itself", "mask_transposed")
def who_sees_a_node(parents):
    """Says who sees a node, and leaves the node itself out."""
    mask = np.zeros((len(parents), len(parents)), dtype=bool)
    for node, parent in enumerate(parents):
        while parent >= 0:
            mask[parent, node] = True
            parent = parents[parent]
    return mask


CH08 = Attempts("08_full_generation")


@CH08.at("rollback", "a_number_to_remove")
def crop_by_length(cache, length):
    """Removes `length` positions."""
    held = int(cache.length[0])
    if length < 0 or length > held:
        raise ValueError("length")
    if length:
        cache.truncate(held - length)


@CH08.at("verify_block", "published_rule")
def divides_and_compares(p, q, drafted, r, u):
    """Divides p by q, and accepts r up to the ratio."""
    index = drafted[:, :, None]
    ratio = p[:, :-1].gather(2, index)[:, :, 0] / q.gather(2, index)[:, :, 0]
    count = (r <= ratio).int().cumprod(1).sum(1).long()
    at = torch.arange(p.shape[0])
    padded = torch.cat([q, torch.zeros(len(q), 1, p.shape[-1], dtype=q.dtype)], 1)
    rest = torch.relu(p[at, count] - padded[at, count])
    mass = rest.sum(1, keepdim=True)
    return count, sample_rows(torch.where(mass == 0, p[at, count], rest / mass), u)


@CH08.at("verify_block", "one_row_of_coins")
def coins_of_the_first_row(p, q, drafted, r, u):
    """Judges every row by the coins of the first."""
    index = drafted[:, :, None]
    accepted = r[0] * q.gather(2, index)[:, :, 0] < p[:, :-1].gather(2, index)[:, :, 0]
    count = accepted.long().cumprod(1).sum(1)
    at = torch.arange(p.shape[0])
    padded = torch.cat([q, torch.zeros(len(q), 1, p.shape[-1], dtype=q.dtype)], 1)
    rest = torch.relu(p[at, count] - padded[at, count])
    mass = rest.sum(1, keepdim=True)
    return count, sample_rows(torch.where(mass == 0, p[at, count], rest / mass), u)


@CH08.at("verify_block", "no_stop", "from_the_target")
def all_that_pass_and_target_again(p, q, drafted, r, u):
    """Counts all that pass, and draws from the target."""
    index = drafted[:, :, None]
    accepted = r * q.gather(2, index)[:, :, 0] < p[:, :-1].gather(2, index)[:, :, 0]
    count = accepted.sum(1)
    return count, sample_rows(p[torch.arange(p.shape[0]), count], u)


@CH08.at("verify_block", "not_normalised", "not_strict")
def as_it_is_and_at_most(p, q, drafted, r, u):
    """Does not divide the residual, and accepts r q equal to p."""
    index = drafted[:, :, None]
    accepted = r * q.gather(2, index)[:, :, 0] <= p[:, :-1].gather(2, index)[:, :, 0]
    count = accepted.long().cumprod(1).sum(1)
    at = torch.arange(p.shape[0])
    padded = torch.cat([q, torch.zeros(len(q), 1, p.shape[-1], dtype=q.dtype)], 1)
    rest = torch.relu(p[at, count] - padded[at, count])
    return count, sample_rows(torch.where(rest.sum(1, keepdim=True) == 0, p[at, count], rest), u)


@CH08.at("speculative_generate", "bonus_not_fed")
def feeds_the_newest(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    """Feeds the draft the newest token only; goes back to what stands of the text."""
    out, warp = [], Warp(temperature)
    tcache, dcache = target.new_cache(), draft.new_cache()
    if max_new_tokens and len(prompt_ids) > 1:
        draft.forward(torch.tensor([prompt_ids[:-1]]), dcache)
    while len(out) < max_new_tokens:
        text = list(prompt_ids) + out
        n = min(k, max_new_tokens - len(out) - 1)
        a = rng.random(n) if temperature else np.zeros(n)
        r = rng.random(n) if temperature else np.zeros(n)
        u = rng.random() if temperature else 0.0
        drafted, rows, last = [], [], text[-1]
        for x in a:
            rows.append(warp(draft.forward(torch.tensor([[last]]), dcache)[:, -1:]))
            last = int(sample_rows(rows[-1][0], torch.tensor([x])))
            drafted.append(last)
        p = warp(feed(target, tcache, text + drafted)[:, -n - 1 :])
        q = torch.cat([*rows, p[:, :0]], 1)
        coins = torch.tensor(np.array([r])), torch.tensor([u], dtype=torch.float64)
        count, token = verify_block(p, q, torch.tensor([drafted]).long(), *coins)
        for t in [*drafted[: int(count)], int(token)]:
            out.append(t)
            if t == eos_id:
                return out
        held = len(prompt_ids) + len(out) - 1
        rollback(tcache, held)
        rollback(dcache, min(int(dcache.length[0]), held))
    return out


@CH08.at("speculative_generate", "coin_at_most")
def accepts_at_most(target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None):
    """Accepts r q equal to p, in a loop of its own."""
    out, warp = [], Warp(temperature)
    tcache, dcache = target.new_cache(), draft.new_cache()
    while len(out) < max_new_tokens:
        text = list(prompt_ids) + out
        n = min(k, max_new_tokens - len(out) - 1)
        a = rng.random(n) if temperature else np.zeros(n)
        r = rng.random(n) if temperature else np.zeros(n)
        u = rng.random() if temperature else 0.0
        drafted, rows = [], []
        for x in a:
            rows.append(warp(feed(draft, dcache, text + drafted)[:, -1:])[0, 0])
            drafted.append(int(sample_rows(rows[-1][None], torch.tensor([x]))))
        p = warp(feed(target, tcache, text + drafted)[:, -n - 1 :])[0]
        i = 0
        while i < n and r[i] * rows[i][drafted[i]] <= p[i][drafted[i]]:
            i += 1
        law = p[i]
        if i < n:
            rest = (p[i] - rows[i]).clamp(min=0)
            law = rest / rest.sum() if rest.sum() > 0 else p[i]
        token = int(sample_rows(law[None], torch.tensor([u]).double()))
        for t in [*drafted[:i], token]:
            out.append(t)
            if t == eos_id:
                return out
        held = len(prompt_ids) + len(out) - 1
        rollback(tcache, held)
        rollback(dcache, min(int(dcache.length[0]), held))
    return out


@CH08.at("speculative_generate", "end_inside_a_block_ignored", "argmax_draft")
def greedy_draft_and_late_end(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """Drafts by argmax, and looks for the end at the end of a block."""
    out, warp = [], Warp(temperature)
    tcache, dcache = target.new_cache(), draft.new_cache()
    while len(out) < max_new_tokens:
        text = list(prompt_ids) + out
        n = min(k, max_new_tokens - len(out) - 1)
        u_all = rng.random(n) if temperature else np.zeros(n)
        r = rng.random(n) if temperature else np.zeros(n)
        u = rng.random() if temperature else 0.0
        drafted, rows = [], []
        for _ in u_all:
            rows.append(warp(feed(draft, dcache, text + drafted)[:, -1:]))
            drafted.append(int(rows[-1].argmax()))
        p = warp(feed(target, tcache, text + drafted)[:, -n - 1 :])
        q = torch.cat([*rows, p[:, :0]], 1)
        coins = torch.tensor(np.array([r])), torch.tensor([u], dtype=torch.float64)
        count, token = verify_block(p, q, torch.tensor([drafted]).long(), *coins)
        out += [*drafted[: int(count)], int(token)]
        if out[-1] == eos_id:
            break
        held = len(prompt_ids) + len(out) - 1
        rollback(tcache, held)
        rollback(dcache, min(int(dcache.length[0]), held))
    return out


CHAPTERS = (CH00, CH01, CH02, CH03, CH04, CH05, CH06, CH07, CH08)
