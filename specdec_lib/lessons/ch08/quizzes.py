"""Chapter 08: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_08() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="The residual is used after a rejection. It decides what is written then, not how "
        "much is accepted.",
        b="Rounding differs by a millionth: it rejects one draft token in a million, not a "
        "quarter of them.",
        c="The first block has no block before it. Later ones draft from a cache with a hole, "
        "so q is of another text.",
        d="With p = q every ratio is 1, and a coin below 1 accepts whichever coin it is.",
    )


def quiz_08_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="a",
        a="Only plain decoding by the same code tells what speculation adds.",
        b="An alpha follows from tokens a block, not from a ratio of two programs' times.",
        c="At temperature 1 alpha is another one, and so is the speed: nothing follows.",
        d="A block of K brings at most K + 1 tokens, but a time says nothing of K, nor of what "
        "a pass of either program costs.",
    )
