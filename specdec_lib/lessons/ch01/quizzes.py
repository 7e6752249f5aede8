"""Chapter 01: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_01() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="A second try would favour the tokens that the draft likes, and they would be written "
        "too often. One token is drawn from a changed distribution of the target instead.",
        b="The two accepted tokens stay, and one draw gives the third. The fourth was drafted "
        "after the rejected token, so it is dropped.",
        c="The first two tokens were judged after tokens that do stand in the text. Their "
        "verdicts hold, so both stay.",
        d="The fourth token was drafted and scored after the rejected third. In the third place, "
        "no row of the target has judged it.",
    )


def quiz_01_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="c",
        a="Later rows do depend on the earlier tokens, but no row judges for another. Every draft "
        "token is judged by a row of its own.",
        b="The target computes its own distributions. The draft's distributions are only "
        "compared with them.",
        c="A row needs the tokens before it and no others. All draft tokens are known before the "
        "pass. A token that the target has not yet written is not known.",
        d="The target writes none of the four tokens: the draft gives them to it. The target adds "
        "only one token of its own, at the end.",
    )
