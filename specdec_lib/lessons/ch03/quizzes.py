"""Chapter 03: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_03() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="The draft tokens are the same in both cases. Only the q that the rule divides by is "
        "another one, so what rose is the ratio.",
        b="What the rule divides by is not what the draft drew from, so the two paths no longer "
        "add up to p.",
        c="The last word is p/q with a q that nobody drew from. Tokens that the draft can "
        "propose then come out too often.",
        d="The residual repairs what a draft from the full q leaves missing. This draft comes "
        "from the filtered one, which leaves something else.",
    )


def quiz_03_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="a",
        a="The correction repairs every draft. What a poor one costs is time.",
        b="Every block still pays for its drafts: with K = 5 and c = 0.1 it takes 1.5 passes for "
        "one token, which is 0.67 times the speed.",
        c="The two paths add up to p for every q, also for one that shares nothing with p. Then "
        "everything comes by correction.",
        d="That condition decides on the speed, not on the law: the law is p for every q.",
    )
