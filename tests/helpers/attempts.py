"""Wrong answers as students write them, each with words of the causes that it may be told.

A failed test group is told a known bug's thought that has such words, or none: a wrong cause is
worse than none.
"""

# ruff: noqa: F821 - students call the notebook's other functions

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from specdec_lib.sampling import sample_from, sample_rows


@dataclass(frozen=True)
class Attempt:
    """A wrong answer to an exercise, with words of what its failed test groups may be told."""

    chapter: str
    exercise: str
    name: str
    causes: list[str]
    code: str


ATTEMPTS: list[Attempt] = []


def at(chapter: str, exercise: str, *causes: str) -> Callable[[Callable], Callable]:
    """Decorate an attempt at a graded function; its docstring says what is wrong with it."""

    def register(function: Callable) -> Callable:
        source = inspect.getsource(function)
        name, body = function.__name__, source[source.index("def ") :]
        code = body.replace(f"def {name}(", f"def {exercise}(", 1)
        ATTEMPTS.append(Attempt(chapter, exercise, name, list(causes), code))
        return function

    return register


@at("00_bottleneck", "forward_time", "two FLOP")
def no_parameters(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    """Forgets the parameters in the time of calculating."""
    return max(n_params * bytes_per_param / bandwidth, 2 * n_tokens / peak_flops)


@at("01_draft_then_verify", "greedy_speculative_decode")
def eos_as_a_truth(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    """Takes an eos of 0 for none."""
    new = []
    while len(new) < max_new_tokens:
        text, draft = prompt + new, []
        for _ in range(min(k, max_new_tokens - len(new) - 1)):
            draft.append(int(np.argmax(draft_model(text + draft))))
        p = score_block(target_model, text, draft)
        n = greedy_prefix(draft, p)
        for token in draft[:n] + [int(np.argmax(p[n]))]:
            new.append(token)
            if eos and token == eos:
                return new
    return new


@at("01_draft_then_verify", "greedy_speculative_decode", "pass", "call")
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


@at("01_draft_then_verify", "greedy_speculative_decode", "last block", "eos")
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


@at("02_rejection_sampling", "acceptance_probability", "smaller", "min(")
def smaller_of_the_two(p, q, token):
    """Returns the smaller of p and q: the probability that the token is drafted and accepted."""
    return float(min(p[token], q[token]))


@at("02_rejection_sampling", "speculative_accept", "above", "below")
def kept_above(draft_tokens, p, q, r):
    """Turns the coin round, and looks at no zero."""
    out = []
    for i, t in enumerate(draft_tokens):
        if r[i] > acceptance_probability(p[i], q[i], t):
            out.append(t)
        else:
            break
    return out


@at("02_rejection_sampling", "speculative_accept", "above", "below")
def stops_below(draft_tokens, p, q, r):
    """Turns the coin round: stops where it is below the ratio."""
    out = []
    for i, t in enumerate(draft_tokens):
        if r[i] < acceptance_probability(p[i], q[i], t):
            break
        out.append(t)
    return out


@at("02_rejection_sampling", "speculative_accept", "above", "below")
def stops_below_or_at_zero(draft_tokens, p, q, r):
    """Turns the coin round, and looks at the zeros first."""
    out = []
    for i, t in enumerate(draft_tokens):
        if p[i, t] == 0 or r[i] <= acceptance_probability(p[i], q[i], t):
            break
        out.append(t)
    return out


@at("02_rejection_sampling", "speculative_accept", "rejection", "r = 0")
def filter_of_all(draft_tokens, p, q, r):
    """Goes on after a rejection, and keeps a token of probability 0 where r is 0."""
    return [t for i, t in enumerate(draft_tokens) if r[i] * q[i, t] <= p[i, t]]


@at("02_rejection_sampling", "speculative_accept", "rejection")
def vectorised_without_the_prefix(draft_tokens, p, q, r):
    """Counts the passing tokens and takes as many from the front."""
    rows = np.arange(len(draft_tokens))
    tokens = np.array(draft_tokens, dtype=int)
    passed = r * q[rows, tokens] < p[rows, tokens]
    return list(draft_tokens[: int(passed.sum())])


@at("02_rejection_sampling", "residual_distribution", "|p - q|", "divide by")
def distance_without_a_guard(p, q):
    """Takes |p - q|, and divides by 0 where the two are equal."""
    gap = abs(p - q)
    return gap / gap.sum()


@at("02_rejection_sampling", "speculative_step", "row K")
def bonus_every_time(draft_tokens, p, q, r, u):
    """Ends every block with a token from row K."""
    out = []
    for i, t in enumerate(draft_tokens):
        if r[i] >= acceptance_probability(p[i], q[i], t):
            out.append(sample_from(residual_distribution(p[i], q[i]), u))
            break
        out.append(t)
    out.append(sample_from(p[-1], u))
    return out


@at("02_rejection_sampling", "speculative_step", "last accepted", "before")
def row_before(draft_tokens, p, q, r, u):
    """Takes the residual of the row before the rejected one."""
    kept = speculative_accept(draft_tokens, p[:-1], q, r)
    n = len(kept)
    if n == len(draft_tokens):
        return [*kept, sample_from(p[n], u)]
    return [*kept, sample_from(residual_distribution(p[n - 1], q[n - 1]), u)]


@at("03_lossless", "argmax_draft_law", "accepted share", "ratio")
def neither_cap_nor_guard(p, q):
    """Does not cap the ratio, and divides by 0 where nothing is missing."""
    token = int(np.argmax(q))
    stays = p[token] / q[token]
    rest = np.clip(p - q, 0, None)
    law = (1 - stays) * rest / rest.sum()
    law[token] += stays
    return law


@at("03_lossless", "is_lossless")
def a_large_sample(rule, p, q):
    """Samples a thousand tokens."""
    rng = np.random.default_rng(1)

    class Choices:
        def choose(self, probabilities):
            return int(rng.choice(len(probabilities), p=probabilities))

    counts = np.bincount([rule(p, q, Choices()) for _ in range(1000)], minlength=len(p))
    return bool(np.abs(counts / 1000 - p).max() < 0.06)


@at("03_lossless", "is_lossless", "every branch counts alike")
def branches_counted(rule, p, q):
    """Counts the branches that write each token, whatever their probability."""
    ways = [token for token, _ in exact.branches(lambda choices: rule(p, q, choices))]
    law = np.bincount(ways, minlength=len(p)) / len(ways)
    return bool(np.abs(law - p).max() < 1e-12)


@at("03_lossless", "repair", "the library takes probabilities")
def one_hot_probabilities(logits, choices):
    """Reports 1 and 0, as if they were not passed through a softmax."""
    token = int(np.argmax(logits))
    reported = np.zeros(len(logits))
    reported[token] = 1.0
    return token, reported


@at("04_choosing_the_draft", "prompt_lookup")
def second_latest(tokens, k, max_ngram=3):
    """Takes the second latest occurrence."""
    tokens = list(tokens)
    for n in range(max_ngram, 0, -1):
        if len(tokens) <= n:
            continue
        hits = [i for i in range(len(tokens) - n) if tokens[i : i + n] == tokens[-n:]]
        if hits:
            i = hits[-2] if len(hits) > 1 else hits[-1]
            return tokens[i + n : i + n + k]
    return []


@at("04_choosing_the_draft", "distillation_loss", "loss")
def value_by_numpy(target_logits, draft_logits):
    """Computes the value without a gradient."""
    with torch.no_grad():
        p = target_logits.double().softmax(-1)
        q = draft_logits.double().softmax(-1)
        return (p - q).clamp(min=0).sum(-1).mean()


@at("05_results", "alpha_from_blocks", "every drafted token")
def accepted_over_drafted(accepted, k):
    """Divides by all that was drafted, and refuses nothing."""
    return sum(accepted) / (k * len(accepted))


@at("05_results", "audit", "only a wrong position")
def limit_without_a_longest_block(alpha, k, tokens, alpha_error, tokens_error):
    """Knows the limit by alpha, and forgets that a block ends after its bonus."""
    best, least = alpha + alpha_error, tokens - tokens_error
    if least <= sum(best**i for i in range(k + 1)):
        return "formula"
    return "order" if least * (1 - best) <= 1 else "nothing"


@at("05_results", "implied_alpha", "decimals")
def fine_grid(seconds_per_token, target_seconds, draft_seconds, k):
    """Searches a grid of ten thousandths."""
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if wanted < 1 - 1e-9 or wanted > k + 1 + 1e-9:
        raise ValueError("impossible")
    grid = np.linspace(0, 1, 10001)
    tokens = sum(grid**i for i in range(k + 1))
    return float(grid[np.argmin(np.abs(tokens - wanted))])


@at("05_results", "paired_speedup", "total")
def totals(baseline_seconds, speculative_seconds):
    """Divides the sums, and refuses nothing."""
    return sum(baseline_seconds) / sum(speculative_seconds)


@at("06_simulator", "simulate_decode", "reports n")
def cut_to_length(alpha, c, k, n_tokens, rng):
    """Cuts the last block at n_tokens."""
    tokens, passes, time = 0, 0, 0.0
    while tokens < n_tokens:
        tokens += [*(rng.random(k) < alpha), False].index(False) + 1
        passes += 1
        time += 1 + c * k
    return {"tokens": min(tokens, n_tokens), "target_passes": passes, "time": time}


@at("07_connections", "one_hot_accept", "the target itself")
def correction_from_p(draft_token, p, r, u):
    """Draws the correction from p."""
    if r < p[draft_token]:
        return draft_token, True
    return sample_from(p, u), False


@at("07_connections", "multi_candidate_accept", "judged against")
def each_against_p(candidates, p, q, r, u):
    """Judges each candidate against p, and divides by zero at an edge."""
    for i, t in enumerate(candidates):
        if r[i] * q[t] < p[t]:
            return int(t)
    rest = p
    for _ in candidates:
        rest = np.maximum(rest - q, 0)
        rest = rest / rest.sum()
    return sample_from(rest, u)


@at("07_connections", "multi_candidate_accept", "all are rejected")
def drawn_from_p(candidates, p, q, r, u):
    """Draws from p where all are rejected."""
    left = p.copy()
    for i, t in enumerate(candidates):
        if r[i] * q[t] < left[t]:
            return int(t)
        left = np.maximum(left - q, 0)
        left = left / left.sum()
    return sample_from(p, u)


@at("08_full_generation", "rollback", "how many positions")
def crop_by_length(cache, length):
    """Removes `length` positions."""
    held = int(cache.length[0])
    if length < 0 or length > held:
        raise ValueError("length")
    if length:
        cache.truncate(held - length)


@at("08_full_generation", "verify_block", "wherever")
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
