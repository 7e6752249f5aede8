"""What costs little: another container or kind of number, and what a card leaves open."""

import pytest

from autograde.bugs import answers_of
from autograde.chapter import chapter_names
from autograde.result import Exercise
from autograde.tools.proof import grade_with, judged
from autograde.tools.samples import functions_of

EARLY = (
    *("00_bottleneck", "01_draft_then_verify", "02_rejection_sampling", "03_lossless"),
    "04_choosing_the_draft",
)
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
    """The behaviours that got no points."""
    return [each.name for each in exercise.groups if not each.passed]


def in_other_form(name: str, code: str, form: str) -> str:
    """The answer `code`, whose values come back in another form."""
    wrapper = f"def {name}(*args):\n    return other_form(right_{name}(*args))\n"
    return f"{code}\nimport numpy as np\n{OTHER_FORMS[form]}\nright_{name} = {name}\n\n{wrapper}"


@pytest.mark.parametrize("form", OTHER_FORMS)
@pytest.mark.parametrize("chapter", chapter_names())
def test_another_form_costs_one_behaviour_at_most(chapter: str, form: str):
    # A tensor has the one form that its card names.
    names = set(functions_of(chapter)) - {"distillation_loss"}
    right = answers_of(chapter)
    answers = {name: in_other_form(name, right[name], form) for name in names}
    exercises = grade_with(chapter, **answers).exercises
    costly = {name: lost(exercises[name]) for name in names if len(lost(exercises[name])) > 1}
    assert costly == {}


def test_each_exercise_asks_for_its_form_in_one_behaviour():
    """Lists for tuples and arrays for lists are not the card's, and lose a point somewhere."""
    for chapter, name in (("01_draft_then_verify", "draft_block"), (EARLY[2], "correct_token")):
        code = in_other_form(name, answers_of(chapter)[name], "containers")
        assert len(lost(judged(chapter, **{name: code})[name])) == 1


STRICT = {
    "speculative_accept": """
def speculative_accept(draft_tokens, p, q, r):
    n = 0
    while n < len(draft_tokens) and r[n] * q[n, draft_tokens[n]] < p[n, draft_tokens[n]]:
        n += 1
    return draft_tokens[:n]
""",
    "correct_token": """
def correct_token(p, q, token, r, u):
    if r * q[token] < p[token]:
        return token, True
    return sample_from(residual_distribution(p, q), u), False
""",
}


def test_a_coin_that_equals_a_ratio_is_never_asked_about_in_chapter_02():
    exercises = grade_with("02_rejection_sampling", **STRICT).exercises
    assert [lost(exercises[name]) for name in (*STRICT, "speculative_step")] == [[], [], []]


def test_a_block_too_long_at_the_end_costs_the_length_only():
    chapter, name = "01_draft_then_verify", "greedy_speculative_decode"
    code = answers_of(chapter)[name]
    one_more = code.replace("len(written) - 1)", "len(written))")
    assert one_more != code
    assert lost(judged(chapter, **{name: one_more})[name]) == [
        "as many tokens as asked for, in a list"
    ]


def test_one_pass_more_for_the_prompt_costs_the_passes_only():
    chapter, name = "01_draft_then_verify", "greedy_speculative_decode"
    code = answers_of(chapter)[name]
    prefilled = code.replace("    written = []\n", "    written = []\n    target_model(prompt)\n")
    assert prefilled != code
    assert lost(judged(chapter, **{name: prefilled})[name]) == [
        "one pass of the target a block, at most k draft calls"
    ]


def test_a_ratio_without_its_cap_is_told_so():
    code = """
def acceptance_probability(p, q, token):
    return 0.0 if p[token] == 0 else 1.0 if q[token] == 0 else float(p[token] / q[token])
"""
    exercise = judged("02_rejection_sampling", acceptance_probability=code)
    exercise = exercise["acceptance_probability"]
    assert lost(exercise) == ["never above 1"]
    assert exercise.groups[1].cause == "p/q is a probability as it stands."


ABOVE = """
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
        probs[order[1:][before[1:] > top_p]] = 0
    return probs / probs.sum()
"""


def test_a_mass_that_reaches_top_p_exactly_is_asked_about():
    exercise = judged("03_lossless", warp=ABOVE)["warp"]
    assert lost(exercise) == ["top-p"]
    assert [each.cause for each in exercise.groups if not each.passed] == [
        "a token is kept as long as the mass before it is at most top_p."
    ]
    right = ABOVE.replace("before[1:] > top_p", "before[1:] >= top_p")
    assert lost(judged("03_lossless", warp=right)["warp"]) == []


SCALAR = """
def is_lossless(rule, p, q):
    middles = (np.arange(64) + 0.5) / 64
    r, u = (part.ravel() for part in np.meshgrid(middles, middles))
    law = sum(
        q[t] * np.bincount(rule(p, q, t, r, u), minlength=len(p)) / r.size
        for t in np.flatnonzero(q)
    )
    return bool(np.abs(law - p).max() < 1e-12)
"""


def test_a_rule_may_be_given_one_token_for_all_coins():
    assert lost(judged("03_lossless", is_lossless=SCALAR)["is_lossless"]) == []
