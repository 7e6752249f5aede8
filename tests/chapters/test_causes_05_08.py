"""Chapters 05 to 08: wrong answers are told the true cause or none, in the notebook and in grading.

Each row is an exercise, a patch of its solution, what its visible check says and what grading says
(a known bug's thought, or FACTS: the call and facts alone), and a cause that is not the answer's.
"""

import pytest
from classes.chapter_cases import CHAPTERS, visible_message

from autograde.bugs import Bug, answers_of, patched
from autograde.tools.proof import judged

FACTS = "returned"
ASSUMED = "You may have assumed that"
LOOP = "speculative_generate"
ROWS = "[:, -n - 1 :]"
QUANTILE = "np.argmax(np.cumsum(mixed) >= share - 1e-12)"
SLOWEST = "max(np.argmax(np.cumsum(law) >= share - 1e-12) for law in laws)"
ONE_K = """rows = len(confidences)
    def rate(k):
        wrote = sum(np.cumprod(row)[:k].sum() for row in confidences)
        return (rows + wrote) / pass_ms[rows + sum(len(row[:k]) for row in confidences)]
    k = max(range(max(map(len, confidences)) + 1), key=rate)
    return [min(k, len(row)) for row in confidences]
"""
# fmt: off
CASES = [
    ("audit", "expected_tokens(highest, k)", "expected_tokens(highest, k + 1)",
     "The formula gives 3.288", FACTS, "how many tokens can a block of 2"),
    ("implied_alpha", "expected_tokens(middle, k)", "expected_tokens(middle, k - 1)",
     "Did you leave out the bonus", "writes at most K", "pay for"),
    ("paired_speedup", "np.array(baseline_seconds) / np.array(speculative_seconds)",
     "np.array(speculative_seconds) / np.array(baseline_seconds)",
     "the new time over the old", "the new time over the old", "square root"),
    ("simulate_decode", "accepted + 1\n", "accepted + (accepted < k)\n",
     "writes a bonus token, too", FACTS, "All tokens of the last"),
    ("simulate_decode", '"tokens": tokens', '"tokens": min(tokens, n_tokens)',
     "All tokens of the last", "n tokens reports n", "bonus token, too"),
    ("mixture_quantile", QUANTILE, SLOWEST, "the slowest kind", "the slowest kind", "exactly 0"),
    ("choose_k", "sum(alpha**i for i in range(k + 1)) / costs[rows, k]", "-costs[rows, k]",
     "8 ms and 8.6 ms", "without drafts is always", "one K is right"),
    ("spend", "rows = len(confidences)\n", ONE_K,
     "one number for all rows", "the same number of tokens", "before it in its row"),
    ("spend", "np.cumprod(row)", "row", "before it in its row", "a confidence is", "one number"),
    ("multi_candidate_accept", "sample_from(residual, u)", "sample_from(p, u)",
     "C has no share", "drawn from the target", "r q = 0.7 x 0.45"),
    ("multi_candidate_accept", "residual_distribution(residual, q)", "np.maximum(residual - q, 0)",
     "divided by its sum", "need not be divided", "r q = 0.7 x 0.45"),
    ("walk_tree", "node + 1", "len(written)",
     "that of the level", "belongs to level i", "belongs to node i"),
    ("walk_tree", "p[row], q[row]", "p[row if children else -1], q[row]",
     "row 3 gives the last token", FACTS, "level"),
    ("one_hot_accept", "r < p", "r < 1 - p", "not below p(B)", "probability 1 - p", "no share"),
    ("tokens_from_positions", "np.cumprod(rates)", "rates",
     "the sum of the rates", "adds its own rate", "mean"),
    ("verify_block", "p_drafted = p[", "p, q = p.half(), q.half()\n    p_drafted = p[",
     "too close for half", "half precision is enough", "exactly if"),
    ("verify_block", "law, u)", "law.bfloat16(), u.bfloat16())",
     "too close for half", "half precision is enough", "exactly if"),
    ("verify_block", "sample_rows(law, u)", "law.argmax(-1)",
     "u = 0.2 picks token 0", FACTS, "p and q are float32"),
    (LOOP, ROWS, "[:, -n:]", "last n + 1 rows", "n rows of p", "beginning of the text?"),
    (LOOP, ROWS, "", "the prompt, too", "in every pass", "take n rows"),
    (LOOP, "q.append(warp(", "q.append(Warp(1.0)(",
     "Does the draft take the temperature", "the target's alone", "too many passes"),
    (LOOP,
     "feed(draft, draft_cache, text + drafted)", "feed(draft, draft_cache, text)",
     "this block has drafted", "raised", "forget what was rejected"),
]  # fmt: on


@pytest.mark.parametrize("exercise, old, new, visible, hidden, never", CASES)
def test_a_wrong_answer_is_told_its_cause_or_none(
    exercise: str, old: str, new: str, visible: str, hidden: str, never: str
):
    (chapter,) = (each for each in CHAPTERS if exercise in answers_of(each))
    code = patched(chapter, Bug(exercise, old, new, "", "")).code
    graded = judged(chapter, **{exercise: code})[exercise]
    assert graded.score < graded.max_score
    told = visible_message(chapter, exercise, code), " ".join(graded.messages)
    assert visible in told[0] and hidden in told[1]
    assert not any(never in text for text in told)
    assert (ASSUMED in told[1]) == (hidden not in (FACTS, "raised"))
