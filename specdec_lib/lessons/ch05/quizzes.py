"""Chapter 05: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_05() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="Predictable text sounds easier to draft, but both tables are right. A draft can follow "
        "a flat distribution as well as a steep one: if q equals p, alpha is 1, however "
        "unpredictable the text is.",
        b="Alpha is 1 minus the total variation of p and q, averaged over positions. Neither the "
        "kind of text nor the size of a model is in it.",
        c="A small target may seem easier to follow, but the size alone decides nothing. LaMDA "
        "has 137 billion parameters and reaches 0.75; T5-XXL has 11 billion and stays at 0.56 in "
        "one setting.",
        d="A long block wastes more of its tokens, but alpha is a rate for each token that is "
        "judged, so the block length is not in it. What falls when K grows is accepted over "
        "drafted.",
    )


def quiz_05_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="d",
        a="This would be so if drafting took no time and a pass over many tokens took no longer "
        "than a pass over one: c = 0 and v = 1. On Spec-Bench's A100, 3.61 tokens a step gave "
        "2.29 times the speed.",
        b="With 3.6 tokens a step and K the acceptance rate can be worked out. But it says "
        'nothing about time, and "faster" is a claim about time.',
        c="More runs make a measurement steadier. They do not turn tokens into seconds: a "
        "speculative step takes longer than a plain one.",
        d="The speed is tokens a step over the time of a step, and this time belongs to a machine.",
    )
