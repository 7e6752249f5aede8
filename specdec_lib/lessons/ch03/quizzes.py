"""Chapter 03: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_03() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="It is true that more tokens pass. But the draft proposes the same tokens in both "
        "cases. What changed is the q that the rule divides by: it is smaller for these tokens, "
        "so the rule keeps more than an exact rule may.",
        b="The rule divides by a q from which nothing was drawn. So the ratios are too large for "
        "the tokens that the draft proposes, and the two paths no longer add up to p.",
        c="The target has the last word, but it judges by p/q. With a q that is too small this "
        "ratio is too large, and tokens that the draft can propose are written too often.",
        d="The residual of the full q repairs a draft that is drawn from the full q. This draft "
        "is drawn from the filtered q, which leaves other tokens short.",
    )


def quiz_03_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="a",
        a="The correction repairs every draft, so the text has the target's distribution. A poor "
        "draft costs time: its steps bring hardly any token.",
        b="The text is right, but drafting is not free. If a draft step takes a tenth of a target "
        "pass and K is 5, a block takes 1.5 passes for about one token: 0.67 times the speed.",
        c="A poor draft could be thought to pull the text towards itself. But the two paths add "
        "up to p for every q, even for one that shares no token with p: then the correction "
        "writes every token.",
        d="How often the draft is right decides about the time. The law is p for every q, however "
        "seldom a token is accepted.",
    )
