"""Right answers of one chapter work together: each of these has full points, and so have any two.

A variant is the solution with one text in place of another, as students write it.
"""

from itertools import combinations

import pytest
from attempts import with_slips

from autograde.tools.gates import judge_answers

VECTORISED = """if not draft_tokens:
        return []
    i, t = np.arange(len(draft_tokens)), np.array(draft_tokens)
    return list(draft_tokens[: int(np.cumprod(r * q[i, t] < p[i, t]).sum())])
    accepted = []"""
# By chapter: the exercise, the old text and the new one. In 00, 05 and 06 none calls another.
VARIANTS = {
    "01_draft_then_verify": [
        ("score_block", "[*prefix, *drafted]", "prefix + drafted"),
        ("score_block", "rows[len(prefix) - 1 :]", "np.array(rows)[-len(drafted) - 1 :]"),
        ("greedy_prefix", "return len(drafted)", "return np.int64(len(drafted))"),
        ("greedy_prefix", "return i", "return np.array(i)"),
        ("greedy_prefix", "for i,", "if drafted == []: return 0\n    for i,"),
        ("greedy_speculative_decode", "(drafted, p)", "(p=p[:-1], drafted=drafted)"),
        ("greedy_speculative_decode", "int(np.argmax(draft_model", "(np.argmax(draft_model"),
        ("greedy_speculative_decode", "[*prompt, *written], []", "list(prompt) + written, list()"),
    ],
    "02_rejection_sampling": [
        ("acceptance_probability", "min(1.0, float(", "np.minimum(1.0, np.float64("),
        ("draft_block", "np.array(q)", "np.array(q) if k else None"),
        ("draft_block", "np.array(q)", "np.vstack(q) if k else []"),
        ("draft_block", "np.array(q)", "np.stack(q) if k else np.zeros((0, 0))"),
        ("draft_block", "sample_from(q[i]", "np.int64(1) * sample_from(q[i]"),
        ("speculative_accept", "accepted = []", VECTORISED),
        ("speculative_accept", "return accepted", "return draft_tokens[:len(accepted)]"),
        ("residual_distribution", "np.maximum(p - q, 0)", "p - np.minimum(p, q)"),
        ("speculative_step", "p[:k], q, r", "r=r, q=q, p=p"),
        ("speculative_step", "return [*accepted, ", "return accepted + ["),
        ("speculative_step", "draft_tokens, p[:k]", "list(map(np.int64, draft_tokens)), p[:k]"),
        ("speculative_sample", "(drafted, p, q, ", "(list(drafted), p, q if n else p[:0], "),
        ("speculative_sample", "q, rng.random(n), ", "q, list(rng.random(n)), "),
    ],
    "03_lossless": [
        ("two_paths", "np.maximum(p - q, 0)", "p - np.minimum(p, q)"),
        ("argmax_draft_law", "np.maximum(p - q, 0)", "two_paths(p, q)[1]"),
        ("argmax_draft_law", "missing / missing.sum()", "missing / (1 - acceptance_rate(p, q))"),
    ],
    "04_choosing_the_draft": [
        ("expected_tokens", "sum(", "1.0 if k == 0 else sum("),
        ("expected_tokens", "alpha**i for i in range(k + 1)", "np.power(alpha, np.arange(k + 1))"),
        ("walltime_speedup", "(alpha, k)", "(k=k, alpha=alpha)"),
        ("walltime_speedup", "c * k + verify_cost", "np.float64(c) * k + verify_cost"),
        ("best_k", "(alpha, c, k)", "(alpha, c, np.int64(k))"),
        ("best_k", "(alpha, c, k)", "(alpha, c, k, verify_cost=1.0)"),
    ],
    "07_connections": [
        ("multi_candidate_accept", "return token", "return np.int64(token)"),
        ("multi_candidate_accept", "residual = p\n", "residual = np.array(p)\n"),
        ("walk_tree", "r[children]", "[r[i] for i in children]"),
        ("walk_tree", "drawn, p[row], q[row]", "np.array(drawn, dtype=int), p[row].copy(), q[row]"),
    ],
    "08_full_generation": [
        ("rollback", "held = int(cache.length[0])", "held = cache.length[0].item()"),
        ("verify_block", "return count, ", "return count.clone(), "),
        ("speculative_generate", "_cache, len(text) - 1)", "_cache, length=len(text) - 1)"),
        ("speculative_generate", "block.long()", "block.to(torch.int64)"),
    ],
}


@pytest.mark.parametrize("chapter", VARIANTS)
def test_two_right_answers_of_a_chapter_have_full_points_together(chapter: str):
    alone = [{name: with_slips(name, slip)} for name, *slip in VARIANTS[chapter]]
    pairs = [one | other for one, other in combinations(alone, 2) if one.keys() != other.keys()]
    for answers in [*alone, *pairs]:
        for name, exercise in judge_answers(chapter, **answers).items():
            assert exercise.messages == [], (name, answers)
