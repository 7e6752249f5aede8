"""What is said of a wrong answer, in the notebook and after grading: its true cause, or none."""

import contextlib
import io

import pytest
from attempts import chapter_of, with_slips
from classes.chapter_cases import lesson_of

from autograde.grade import solved
from autograde.tools.proof import judged
from specdec_lib.lessons.common import examples
from specdec_lib.lessons.common.examples import UNSTEADY, Different

_FORMAT = "bytes_per_param * peak_flops / (2 * bandwidth)"
_STAYS = "[*drafted[:m], int(np.argmax(p[m]))]"
_RATIO = "acceptance_probability(p[i], q[i], token)"
_MISSING = "missing = np.maximum(p - q, 0)"
_TWO_DRAWS = "rng.random(n), rng.random())"
_DRAFT = "drafted, q = draft_block(draft_model, prefix, n, rng.random(n))"
_SCORE = """
        logits = target_logits([*prefix, *drafted])[len(prefix) - 1 :]
        p = softmax(logits / temperature)
        block = speculative_step(drafted, p, q, """
_BLOCK = f"{_DRAFT}{_SCORE}{_TWO_DRAWS}"
_BOTH = "return softmax(draft_logits(tokens)[-1] / temperature)"
_WARM = "soft = globals()['softmax']\n    softmax = lambda x: soft(x * temperature) / temperature"
_LAW = "min(1.0, p[token] / q[token])\n    law = np.zeros(len(p))\n    if accepted < 1:"
_K = "max(range(k_max + 1), key=lambda k: walltime_speedup(alpha, c, k))"
_LOSS = "1 - torch.minimum(p, q).sum(-1).mean()"
_ROWS = "[:, -n - 1 :]"
_QUANTILE = "np.argmax(np.cumsum(mixed) >= share - 1e-12)"
_SLOWEST = "max(np.argmax(np.cumsum(law) >= share - 1e-12) for law in laws)"
_ONE_K = """rows = len(confidences)
    def rate(k):
        wrote = sum(np.cumprod(row)[:k].sum() for row in confidences)
        return (rows + wrote) / pass_ms[rows + sum(len(row[:k]) for row in confidences)]
    k = max(range(max(map(len, confidences)) + 1), key=rate)
    return [min(k, len(row)) for row in confidences]
"""
_NUMPY = "int(np.random.default_rng().choice(len(logits), p=softmax(logits)))"
_UNASKED = "Draw with choices.choose"
_TOO_LARGE = "np.exp overflows above 709: use softmax"
# What is said where no cause is named.
FACTS = "returned"
NO_CAUSE = ("", FACTS, "raised", _UNASKED, _TOO_LARGE)
# By exercise patches of the solution, with words that the check says, words that the grader says,
# and words of a cause that is not the answer's, which neither says.
WRONG = {
    "time_pass": [
        ("clock() - start", "clock()", "says what time it is", "how long a call took"),
        ("np.median", "np.min", "the fastest", "the fastest call"),
        ("float(np.median(seconds))", "seconds[repeats // 2]", "times sorted", ""),
    ],
    "forward_time": [
        ("2 * n_tokens", "n_tokens", "2 FLOP for every token", "one operation"),
        ("2 * n_tokens", "bytes_per_param * n_tokens", "however many", "twice the arithmetic"),
        ("max(reading, calculating)", "reading + calculating", "", "follow one another"),
    ],
    "free_tokens": [
        ("int(bytes_per_param", "int(int(bytes_per_param)", "stay 0.5", "a whole number of bytes"),
        ("int(bytes_per_param", "int(max(1, bytes_per_param)", "stay 0.5", "whole number of bytes"),
        (_FORMAT, "peak_flops / bandwidth", "two bytes takes twice", "format of the weights"),
        (_FORMAT, "peak_flops / (2 * bandwidth)", "two bytes takes twice", "format of the weights"),
        ("(2 * bandwidth)", "bandwidth", "2 FLOP for every token", "one operation"),
    ],
    "score_block": [
        ("len(prefix) - 1 :", "len(prefix) :", "one row late", "judges that token"),
        ("[*prefix, *drafted])\n    return rows[len(prefix) - 1 :]", "drafted)\n    return rows",
         "read the prefix", "needs only the block"),
        ("[*prefix, *drafted]", "[*prefix, drafted]", "has a list in it", ""),
    ],
    "greedy_prefix": [
        ("            return i\n    return len(drafted)", "            break\n    return i",
         "after the loop", "always meets"),
        ("    for i, token", "    return int(np.argmin([np.argmax(row) == token for row, token in "
         "zip(p, drafted)]))\n    for i, token", "np.argmin", "np.argmin finds"),
    ],
    "greedy_speculative_decode": [
        ("*drafted]))))", "*drafted])[-1])))", "drafts [0, 0, 0, 0]", "a row for every token"),
        ("[*prefix, *drafted]))", "prefix))", "drafts [3, 3, 3, 3]", "after the same prefix"),
        ("[*prompt, *written], []", "list(prompt), []", "begin after the prompt", "every block"),
        (_STAYS, _STAYS.replace("[:m]", "[: m + 1]"), "rejected token stays", "written all the"),
        ("written += block", "written.append(block)", "has a list in it", ""),
    ],
    "acceptance_probability": [
        ("min(1.0, float(p[token] / q[token]))", "max(1.0, p[token] / q[token])", "max takes", ""),
        ("p[token] / q[token]", "q[token] / p[token]", "target over the", "draft over target"),
        ("float(p[token] / q[token])", "float(p[token] >= q[token])", "a verdict", "without a"),
        ("min(1.0, float(p[token] / q[token]))", "max(0.0, p[token] - q[token])", "", ""),
    ],
    "draft_block": [
        ("uniforms[i]", "np.random.random()", UNSTEADY, ""),
        ("[*prefix, *drafted]", "prefix + [drafted]", "has a list in it", ""),
        ("uniforms[i]", "uniforms[0]", "with uniforms[0]", "one random number"),
    ],
    "speculative_accept": [
        (_RATIO, "p[i, token]", "p or q alone", "p or q alone"),
        (_RATIO, "min(p[i, token], q[i, token])", "p or q alone", "p or q alone"),
        ("r[i] >=", "r[i] <", "wrong way round", "above the ratio.", "also where p is below q"),
        ("p[i], q[i]", "q[i], p[i]", "not q over p", "draft over target"),
        ("            break", "            return []", "before a rejection", "drops the whole"),
        (f"r[i] >= {_RATIO}", "token != np.argmax(p[i])", "the coin decide", ""),
        ("r[i] >=", "np.random.random() >=", UNSTEADY, ""),
    ],
    "residual_distribution": [
        (_MISSING, "return p.copy()", "That is p itself", "drawn from the target"),
        (_MISSING, "return p - q", "below 0", "p - q is what"),
        (_MISSING, "missing = p - q", "sums to 0", "p - q is what"),
        ("p - q, 0", "q - p, 0", "too rarely", "surplus of the draft"),
    ],
    "speculative_step": [
        ("(last, u)", "(last, r[n] if n < k else u)", "drawn with a coin", "a coin of r"),
        ("residual_distribution(p[n], q[n])", "np.maximum(p[n] - q[n], 0)", "sum to 1", "already"),
        ("residual_distribution(p[n], q[n])", "q[n]", "drawn from q", ""),
        ("p[n], q[n]", "q[n], p[n]", "what q has beyond p", ""),
        (" if n < k else p[k]", "", "All are accepted", "ends with a correction"),
    ],
    "speculative_sample": [
        ("written += block", "written.append(block)", "has a list in it", ""),
        (_BLOCK, f"r = rng.random(n)\n        {_DRAFT}{_SCORE}r, rng.random())",
         "which order", "in any order"),
        (_BLOCK, f"r, u = rng.random(n), rng.random()\n        {_DRAFT}{_SCORE}r, u)",
         "which order", "in any order"),
        (_BLOCK, f"u = rng.random()\n        {_DRAFT}{_SCORE}rng.random(n), u)",
         "which order", "in any order"),
        (_TWO_DRAWS, "*[rng.random(), rng.random(n)][::-1])", "which order", "in any order"),
        ("    def draft_model", f"    {_WARM}\n    def draft_model", "softmax then", "divided"),
        ("softmax(logits / temperature)", "softmax(logits) / temperature", "softmax then", "divi"),
        (_BOTH, _BOTH.replace(" / temp", ") / temp")[:-1], "softmax then", "divided by"),
        ("softmax(logits / temperature)", "softmax(logits)", "the target's logits", "target needs"),
        ("(tokens)[-1] / temperature", "(tokens)[-1]", "the draft's logits", "the draft needs"),
        ("[*prompt, *written]", "prompt", "read the new tokens", "starts after the prompt"),
        ("[len(prefix) - 1 :]", "[len(prefix) :]", "n + 1 rows, and the", "judges that token"),
        ("[len(prefix) - 1 :]", "[-n:]", "n + 1 rows, and the", "judges that token"),
        ("len(written) - 1)", "len(written))", "n at most left - 1", "min(k, left)"),
        (_TWO_DRAWS, f"{_TWO_DRAWS}[: n or 1]", "leave the bonus token out", "accepted whole"),
    ],
    "acceptance_rate": [
        ("np.minimum(p, q).sum()", "np.abs(p - q).sum() / 2", "not have in", "total variation"),
        ("np.minimum(p, q).sum()", "(p * q).sum()", "agree", "two draws"),
        ("np.minimum(p, q).sum()", "np.minimum(p, q).mean()", "No mean", ""),
    ],
    "two_paths": [
        ("np.maximum(p - q, 0)", "np.abs(p - q)", "never the correction", "|p - q|"),
        ("np.maximum(p - q, 0)", "np.maximum(q - p, 0)", "not corrected", "has beyond p"),
    ],
    "argmax_draft_law": [
        (_LAW, _LAW.replace("min(1.0, ", "(").replace(" < ", " != "), "at most 1", "share is p/q"),
        (_LAW, _LAW.replace("min(1.0, ", "(").replace("accepted < 1", "(p > q).any()"),
         "at most 1", "share is p/q"),
        ("np.argmax(q)", "np.argmax(p)", "and not of p", "the target's favourite"),
        ("np.maximum(p - q, 0)", "np.abs(p - q)", "is no residual", ""),
    ],
    "repair": [
        ("choices.choose(softmax(logits))", _NUMPY, _UNASKED, _UNASKED),
        ("softmax(logits)", "np.exp(logits) / np.exp(logits).sum()", _TOO_LARGE, _TOO_LARGE),
    ],
    "warp": [("-min(top_k, len(logits))", "-top_k", "keeps all of them", "never larger than")],
    "expected_tokens": [
        ("sum(alpha**i for i in range(k + 1))", "(k + 1) * alpha", "after a rejected one", ""),
        ("sum(alpha**i for i in range(k + 1))", "1 / (1 - alpha)", "without an end", ""),
    ],
    "best_k": [
        (_K, "int(1 / (1 - alpha))", "1/(1 - alpha)", "1/(1 - alpha)"),
        (_K, "min(k_max, round(1 / (1 - alpha))) if alpha < 1 else k_max",
         "1/(1 - alpha)", "1/(1 - alpha)"),
        (_K, "int(np.argmax([walltime_speedup(alpha, c, k) for k in range(1, k_max + 1)]))",
         "np.argmax gives", "np.argmax gives"),
        (_K, f"1 + {_K}", "", ""),
        (_K, f"min{_K[3:]}", "", ""),
        (_K, _K.replace("walltime_speedup(alpha, c, k)", "expected_tokens(alpha, k)"),
         "largest block", "most tokens per block"),
        (_K, "next(k for k in range(k_max) if alpha**k <= c * walltime_speedup(alpha, c, k))",
         "one too many", "adds alpha^K"),
    ],
    "walltime_speedup": [
        ("c * k", "c * (expected_tokens(alpha, k) - 1)", "accepted draft tokens", "the accepted"),
        ("verify_cost)", "(k + 1) * verify_cost)", "the whole pass", ""),
    ],
    "prompt_lookup": [
        ("tokens[start + size :", "tokens[start :", "begin with the suffix", ""),
        ("size - 1, -1, -1", "size - 1, 0, -1", "reach position 0", "range(..., 0, -1)"),
        ("range(min(max_ngram, len(tokens) - 1), 0, -1)", "[max_ngram]", "a shorter", "tokens."),
    ],
    "distillation_loss": [
        (_LOSS, "1 - torch.minimum(p, q).mean()", "number of tokens too", "mean() over everything"),
        (_LOSS, "(p - q).abs().mean()", "number of tokens too", "mean() over everything"),
        (_LOSS, "(1 - torch.minimum(p, q).sum(-1)).sum()", "not the sum", "are added up"),
        (_LOSS, "torch.minimum(p, q).sum(-1).mean()", "That is alpha", "the loss is alpha"),
        (_LOSS, "(p * (p / q).log()).sum(-1).mean()", "Kullback", "Kullback"),
        (_LOSS, "1 - torch.minimum(p, q).sum(0).mean()", "the last axis: sum", ""),
    ],
    "audit": [
        ("expected_tokens(highest, k)", "expected_tokens(highest, k + 1)",
         "The formula gives 3.288", FACTS, "how many tokens can a block of 2"),
    ],
    "implied_alpha": [
        ("expected_tokens(middle, k)", "expected_tokens(middle, k - 1)",
         "Did you leave out the bonus", "writes at most K", "pay for"),
    ],
    "paired_speedup": [
        ("np.array(baseline_seconds) / np.array(speculative_seconds)",
         "np.array(speculative_seconds) / np.array(baseline_seconds)",
         "the new time over the old", "the new time over the old", "square root"),
    ],
    "simulate_decode": [
        ("accepted + 1\n", "accepted + (accepted < k)\n",
         "writes a bonus token, too", FACTS, "All tokens of the last"),
        ('"tokens": tokens', '"tokens": min(tokens, n_tokens)',
         "All tokens of the last", "n tokens reports n", "bonus token, too"),
    ],
    "mixture_quantile": [
        (_QUANTILE, _SLOWEST, "the slowest kind", "the slowest kind", "exactly 0"),
    ],
    "choose_k": [
        ("sum(alpha**i for i in range(k + 1)) / costs[rows, k]", "-costs[rows, k]",
         "8 ms and 8.6 ms", "without drafts is always", "one K is right"),
    ],
    "spend": [
        ("rows = len(confidences)\n", _ONE_K,
         "one number for all rows", "the same number of tokens", "before it in its row"),
        ("np.cumprod(row)", "row", "before it in its row", "a confidence is", "one number"),
    ],
    "multi_candidate_accept": [
        ("sample_from(residual, u)", "sample_from(p, u)",
         "C has no share", "drawn from the target", "r q = 0.7 x 0.45"),
        ("residual_distribution(residual, q)", "np.maximum(residual - q, 0)",
         "divided by its sum", "need not be divided", "r q = 0.7 x 0.45"),
    ],
    "walk_tree": [
        ("node + 1", "len(written)",
         "that of the level", "belongs to level i", "belongs to node i"),
        ("p[row], q[row]", "p[row if children else -1], q[row]",
         "row 3 gives the last token", FACTS, "level"),
    ],
    "one_hot_accept": [
        ("r < p", "r < 1 - p", "not below p(B)", "probability 1 - p", "no share"),
    ],
    "tokens_from_positions": [
        ("np.cumprod(rates)", "rates",
         "the sum of the rates", "adds its own rate", "mean"),
    ],
    "verify_block": [
        ("p_drafted = p[", "p, q = p.half(), q.half()\n    p_drafted = p[",
         "too close for half", "half precision is enough", "exactly if"),
        ("law, u)", "law.bfloat16(), u.bfloat16())",
         "too close for half", "half precision is enough", "exactly if"),
        ("sample_rows(law, u)", "law.argmax(-1)",
         "u = 0.2 picks token 0", FACTS, "p and q are float32"),
    ],
    "speculative_generate": [
        (_ROWS, "[:, -n:]", "last n + 1 rows", "n rows of p", "beginning of the text?"),
        (_ROWS, "", "last n + 1 rows? In its first pass the target reads the prompt, too.",
         "in every pass", "take n rows"),
        ("q.append(warp(", "q.append(Warp(1.0)(",
         "Does the draft take the temperature", "the target's alone", "too many passes"),
        ("feed(draft, draft_cache, text + drafted)", "feed(draft, draft_cache, text)",
         "this block has drafted", "raised", "forget what was rejected"),
    ],
}  # fmt: skip
CASES = [(name, *row[:4], row[4:]) for name, rows in WRONG.items() for row in rows]
NAMED = "You may have assumed that"


def visible(exercise: str, code: str) -> str:
    """What the check of an exercise says of a wrong answer."""
    chapter = chapter_of(exercise)
    check = getattr(lesson_of(chapter), f"check_{exercise}")
    with pytest.raises(Different) as caught, contextlib.redirect_stdout(io.StringIO()):
        check(solved(chapter).defined(exercise, code))
    return str(caught.value)


@pytest.mark.parametrize("exercise, old, new, checked, graded, never", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_wrong_answer_is_told_its_cause_or_none(
    exercise, old, new, checked, graded, never, monkeypatch
):
    if checked != UNSTEADY:  # what is steady is so when it is run once more
        monkeypatch.setattr(examples, "AGAIN", (1, 0.0))
    code = with_slips(exercise, (old, new))
    said = visible(exercise, code)
    others = [words for _, _, words, *_ in WRONG[exercise] if words[:9] != checked[:9]]
    assert checked in said and not any(words in said for words in others if words)
    got = judged(chapter_of(exercise), **{exercise: code})[exercise]
    named = [each for each in got.messages if NAMED in each]
    assert all(graded in each for each in named) and bool(named) is (graded not in NO_CAUSE)
    assert got.score < got.max_score and graded in " ".join(got.messages)
    assert not any(words in text for words in never for text in (said, *got.messages))
