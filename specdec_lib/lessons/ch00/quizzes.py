"""Chapter 00: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_00() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="Every token of a pass needs the same arithmetic, two FLOP per parameter, whoever "
        "proposed it.",
        b="A pass over one token keeps all cores waiting for weights; they are idle in time, "
        "not in number. Were it so, six tokens would take two passes' time, and 295 are free "
        "on an H100.",
        c="A pass over one token spends its time on reading the weights, and five tokens share "
        "one reading.",
        d="The cache holds keys and values of the text so far, not the results for draft "
        "tokens. The pass calculates all five.",
    )


def quiz_00_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="d",
        a="The tokens of all users count: 128 times 4 are 512, and without text only 295 would be "
        "free. The time does stay as it was, but for another reason.",
        b="That is 512 over the 295 tokens that are free without any text, where the weights are "
        "all that is read. Here 16.8 GB of caches are read with the 14 GB of weights.",
        c="The arithmetic does grow to 4 times, from 1.8 to 7.2 ms. But reading takes 9.2 ms, and "
        "the pass lasts as long as the longer of the two.",
        d="14 GB of weights and 16.8 GB of caches take 9.2 ms to read. The arithmetic of 512 "
        "tokens takes 7.2 ms and is done within that time.",
    )
