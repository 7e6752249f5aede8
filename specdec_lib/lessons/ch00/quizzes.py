"""Chapter 00: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_00() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="The arithmetic of a token does not depend on who proposed it: two FLOP per parameter. "
        "The time goes elsewhere, into reading.",
        b="A pass over one token can use all arithmetic units. It leaves them idle for most of "
        "the time, because they wait for weights. If four fifths were unused, five tokens would "
        "be free, and on an H100 295 are.",
        c="A pass over one token spends its time on reading the weights, and five tokens share "
        "one reading.",
        d="The cache holds keys and values of the text so far. It holds no results for draft "
        "tokens, so the pass calculates all five.",
    )


def quiz_00_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="d",
        a="The time does stay, but for another reason. The tokens of all users count together: "
        "128 times 4 are 512, more than the 295 that are free without text.",
        b="The ratio 512 / 295 is right for users without any text, where the pass reads the "
        "weights alone. Here it also reads 16.8 GB of caches, so more tokens are free.",
        c="The arithmetic does grow to 4 times, from 1.8 to 7.2 ms. But reading takes 9.2 ms, and "
        "a pass takes as long as the longer of the two.",
        d="Reading 14 GB of weights and 16.8 GB of caches takes 9.2 ms. The arithmetic of 512 "
        "tokens takes 7.2 ms and is done within this time.",
    )
