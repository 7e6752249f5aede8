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
        right="b",
        a="The number counts all tokens of the pass, those of every user: 128 times 4 are 512, "
        "and 295 are free.",
        b="512 tokens over the 295 free ones are 1.7: the pass has become compute-bound.",
        c="The arithmetic grows to 4 times, but before that it took less than half of the pass: "
        "512 tokens over the 295 free ones are 1.7 times.",
        d="The pass itself never gets shorter with more tokens in it. What may fall is the time "
        "for each token that is written.",
    )
