"""Chapter 08: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_08() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="A wrong residual would spoil the law, and the law is right here. The residual is used "
        "after a rejection: it decides which token is written then, and not how many are "
        "accepted.",
        b="Rounding does make p and q differ, but only by about a millionth. So it rejects about "
        "one draft token in a million, and not a quarter of them.",
        c="The first block has no block before it, so its cache is whole. The draft never reads "
        "the last token of a block that is accepted whole, unless somebody feeds it. Without it "
        "later drafts come from another text, and q is no longer p.",
        d="Coins that are used twice would bend the law, but they cannot reject anything here. "
        "With p = q every ratio is 1, and every coin is below 1.",
    )


def quiz_08_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="a",
        a="Only a comparison with plain decoding by the same code tells what speculation adds.",
        b="2.6 looks like tokens a block, from which alpha would follow. But it is a ratio of two "
        "programs' times, and it tells no alpha.",
        c="At temperature 1 the distributions p and q are others, and so are alpha and the speed. "
        "A measurement at temperature 0 says nothing about it.",
        d="A block of K brings at most K + 1 tokens, but 2.6 is a ratio of times. It depends on "
        "what a pass of either program costs, and it does not tell K.",
    )
