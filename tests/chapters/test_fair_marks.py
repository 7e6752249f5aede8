"""Fair marks: another form costs little, and an unusual right answer costs nothing."""

import pytest

from autograde.bugs import answers_of
from autograde.chapter import chapter_names
from autograde.result import Exercise
from autograde.tools.proof import judged
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
    right = answers_of(chapter)
    for name in names:
        code = in_other_form(name, right[name], form)
        assert len(lost(judged(chapter, **{name: code})[name])) <= 1, name


# Right answers that look different: the exercise, its chapter, and the code.
RIGHT = {
    "speculative_accept": (
        "02_rejection_sampling",
        """
def speculative_accept(draft_tokens, p, q, r):
    n = 0
    while n < len(draft_tokens) and r[n] * q[n, draft_tokens[n]] < p[n, draft_tokens[n]]:
        n += 1
    return draft_tokens[:n]
""",
    ),
    "warp": (
        "03_lossless",
        """
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
    ),
    "is_lossless": (
        "03_lossless",
        """
def is_lossless(rule, p, q):
    left = dict(enumerate(p))
    for token, chance in exact.branches(lambda choices: rule(p, q, choices)):
        left[token] -= chance
    return all(abs(each) < 1e-12 for each in left.values())
""",
    ),
    "repair": (
        "03_lossless",
        """
def repair(logits, choices):
    token = np.argmax(logits)
    reported = np.full(len(logits), -np.inf)
    reported[token] = 0
    return token, reported
""",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_an_unusual_right_answer_keeps_full_marks(name: str):
    chapter, code = RIGHT[name]
    assert lost(judged(chapter, **{name: code})[name]) == []
