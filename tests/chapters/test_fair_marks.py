"""Fair marks: another form costs little, and an unusual right answer costs nothing."""

import pytest
from attempts import chapter_of

from autograde.course import chapter_names
from autograde.grading.result import Exercise
from autograde.hidden.material import material_of
from autograde.tools.gates import judge_answers
from autograde.tools.samples import functions_of

# A value in other containers, and with other kinds of numbers.
OTHER_FORMS = {
    "containers": """
def other_form(x):
    if isinstance(x, (list, tuple)):
        return (list if isinstance(x, tuple) else tuple)(map(other_form, x))
    return x.tolist() if type(x).__name__ == "ndarray" else x
""",
    "arrays": """
def other_form(x):
    if isinstance(x, tuple):
        return list(map(other_form, x))
    return np.asarray(x) if isinstance(x, (list, int, float)) else x
""",
    "numbers": """
def other_form(x):
    if isinstance(x, (list, tuple)):
        return type(x)(map(other_form, x))
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        return float(np.float32(x))
    return x.astype("float32") if type(x).__name__ == "ndarray" else x
""",
}


def lost(exercise: Exercise) -> list[str]:
    """The groups that got no points."""
    return [each.name for each in exercise.groups if not each.passed]


def in_other_form(name: str, code: str, form: str) -> str:
    """The answer `code`, whose values come back in another form."""
    wrapper = f"def {name}(*args):\n    return other_form(right_{name}(*args))\n"
    return f"{code}\nimport numpy as np\n{OTHER_FORMS[form]}\nright_{name} = {name}\n\n{wrapper}"


@pytest.mark.parametrize("form", OTHER_FORMS)
@pytest.mark.parametrize("chapter", chapter_names())
def test_another_form_costs_one_group_at_most(chapter: str, form: str):
    # A tensor has the one form that its card names.
    names = set(functions_of(chapter)) - {"distillation_loss"}
    right = material_of(chapter).answers
    for name in names:
        code = in_other_form(name, right[name], form)
        assert len(lost(judge_answers(chapter, **{name: code})[name])) <= 1, name


# Right answers that look different, by exercise.
RIGHT = {
    "speculative_accept": """
def speculative_accept(draft_tokens, p, q, r):
    n = 0
    while n < len(draft_tokens) and r[n] * q[n, draft_tokens[n]] < p[n, draft_tokens[n]]:
        n += 1
    return draft_tokens[:n]
""",
    "warp": """
def warp(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0:
        raise ValueError("below 0")
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    scaled = logits / temperature
    if top_k and top_k < len(logits):
        scaled = np.where(scaled < np.sort(scaled)[-top_k], -np.inf, scaled)
    probs = np.exp(scaled - scaled.max())
    probs /= probs.sum()
    if top_p is not None and top_p < 1:
        order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        probs[order[1:][before[1:] >= top_p]] = 0
    return probs / probs.sum()
""",
    "is_lossless": """
def is_lossless(rule, p, q):
    left = dict(enumerate(p))
    for token, chance in exact.branches(lambda choices: rule(p, q, choices)):
        left[token] -= chance
    return all(abs(each) < 1e-12 for each in left.values())
""",
    "repair": """
def repair(logits, choices):
    token = np.argmax(logits)
    reported = np.full(len(logits), -np.inf)
    reported[token] = 0
    return token, reported
""",
    "audit": """
def audit(alpha, k, tokens, alpha_error, tokens_error):
    alpha, tokens = alpha + alpha_error, tokens - tokens_error
    if tokens <= sum(alpha**i for i in range(k + 1)):
        return "formula"
    return "order" if tokens <= k + 1 and tokens * (1 - alpha) <= 1 else "nothing"
""",
    "simulate_decode": """
def simulate_decode(alpha, c, k, n_tokens, rng):
    tokens, passes, time = 0, 0, 0.0
    while tokens < n_tokens:
        coins = [rng.random() for _ in range(k)]
        tokens += [*(coin < alpha for coin in coins), False].index(False) + 1
        passes, time = passes + 1, time + k * c + 1
    return {"time": time, "target_passes": passes, "tokens": tokens}
""",
    "spend": """
def spend(confidences, pass_ms):
    rows = len(confidences)
    checked, alive, tokens = [0] * rows, [1.0] * rows, float(rows)
    best = tokens / pass_ms[rows], list(checked)
    while any(n < len(row) for n, row in zip(checked, confidences)):
        open_rows = [i for i in range(rows) if checked[i] < len(confidences[i])]
        i = max(open_rows, key=lambda i: alive[i] * confidences[i][checked[i]])
        alive[i] *= confidences[i][checked[i]]
        checked[i], tokens = checked[i] + 1, tokens + alive[i]
        best = max(best, (tokens / pass_ms[rows + sum(checked)], list(checked)), key=lambda b: b[0])
    return best[1]
""",
    "one_hot_accept": """
def one_hot_accept(draft_token, p, r, u):
    others = [x * (i != draft_token) for i, x in enumerate(p)]
    if p[draft_token] >= r:
        return draft_token, True
    return int(np.flatnonzero(np.cumsum(others) > u * sum(others))[0]), False
""",
    "walk_tree": """
def walk_tree(parents, tokens, p, q, r, u):
    written, at, rest = [], -1, p[0]
    for node, token in enumerate(tokens):
        if parents[node] == at and r[node] * q[at + 1, token] < rest[token]:
            written, at, rest = [*written, token], node, p[node + 1]
        elif parents[node] == at:
            rest = residual_distribution(rest, q[at + 1])
    return [*written, sample_from(rest, u)]
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_an_unusual_right_answer_keeps_full_marks(name: str):
    assert lost(judge_answers(chapter_of(name), **{name: RIGHT[name]})[name]) == []
