"""Chapter 08: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_08() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="25 is the length of the text: 20, four draft tokens and the bonus. The bonus was drawn "
        "at the end of the block, and no model has read it.",
        b="24 is what the target's cache holds: it read the last token of the text and all four "
        "draft tokens. The draft never reads its own last proposal.",
        c="The draft reads a token in order to propose the next one. It read the text and the "
        "first three of its four proposals: 20 + 3. Next it has to read the fourth and the bonus.",
        d="19 is where the block began. The accepted tokens are in the text now, and what the "
        "draft has read of them stays in its cache.",
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
