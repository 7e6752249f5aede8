"""Chapter 01: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_01() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="There is no second try: tokens that the draft likes would then be written too often. "
        "One token is drawn from the adjusted distribution.",
        b="The two that were accepted stay, the third is corrected by one draw, and what was "
        "drafted behind it goes.",
        c="The first two were judged behind tokens that do stand in the text. Their verdicts "
        "hold, so they stay.",
        d="The fourth was drafted and scored behind the rejected third. In its place it would "
        "be a token that nobody has judged.",
    )


def quiz_01_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="c",
        a="Every draft token has a row of its own, and each of them is judged.",
        b="The target computes its own distributions. Those of the draft are only held against "
        "them.",
        c="A row needs the tokens before it and nothing else. Of drafted tokens all are there; "
        "of tokens to be written none is.",
        d="The target writes nothing before it judges: the four tokens are given to it, and one "
        "token of its own comes out at the end.",
    )
