"""Chapter 02: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_02() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="The target's favourite is often accepted, but its rank does not decide. With q = 0.40 "
        "the ratio is 0.75, so it is accepted three times in four.",
        b="Then p/q is at least 1: the draft has not proposed the token too often.",
        c="With q = 0.30 it is accepted for certain, and below 0.30 as well: with q = 0.20 the "
        "ratio is 1.5, and a probability is capped at 1.",
        d="The draft is surer there, but the target decides. With q = 0.60 the draft proposes the "
        "token twice as often as the target wants, so half of the proposals are rejected.",
    )


def quiz_02_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="c",
        a="Every draft token has a coin of its own, and the correction is drawn with a number of "
        "its own, u. The third token's coin is still there, but it is not needed.",
        b="A step does have a limit, K + 1 tokens. For a block of three the limit is four.",
        c="This row of p belongs to a text with the rejected token, and that text is not written.",
        d="Draft tokens may be right again after a wrong one. The third token is dropped because "
        "it was scored after a text that is not written.",
    )
