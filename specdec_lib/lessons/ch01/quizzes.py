"""Chapter 01: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_01() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="There is no second try: tokens that the draft likes would then be written too often. "
        "One token is drawn from the changed distribution.",
        b="The two accepted tokens stay. The third is corrected by one draw, and the fourth, "
        "which was drafted after it, goes.",
        c="The first two were judged after tokens that do stand in the text. Their verdicts "
        "hold, so they stay.",
        d="The fourth was drafted and scored after the rejected third. In its place it would "
        "be a token that nobody has judged.",
    )


def quiz_01_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="c",
        a="Every draft token has a row of its own, and each of them is judged.",
        b="The target computes its own distributions. The draft's distributions are only "
        "compared with them.",
        c="A row needs the tokens before it and nothing else. All draft tokens are there; a "
        "token that is still to be written is not.",
        d="The target writes nothing before it judges: the four tokens are given to it, and one "
        "token of its own comes out at the end.",
    )
