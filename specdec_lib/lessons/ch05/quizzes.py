"""Chapter 05: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_05() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="Nothing is misprinted. A draft can follow a flat distribution as well as a steep "
        "one: where q equals p, alpha is 1, however unpredictable the text.",
        b="Alpha is 1 less the total variation of the two, on average over positions. Neither "
        "text nor size is in it.",
        c="LaMDA has 137 billion parameters and reaches .75; T5-XXL has 11 billion and stops at "
        ".56 in one setting. The target's size alone decides nothing.",
        d="Alpha is a rate for a judged token, so the block length is not in it. What falls "
        "when K grows is accepted over drafted.",
    )


def quiz_05_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="d",
        a="Only if drafting took no time and verifying many tokens took no longer than one: c = "
        "0 and v = 1. On Spec-Bench's A100, 3.61 tokens a step gave 2.29.",
        b="With K and 3.6 tokens a step the acceptance rate follows; it still says nothing "
        "about time.",
        c="More runs narrow the spread of a measurement. They do not turn tokens into seconds.",
        d="Tokens a step over the time of a step is the speed, and the time belongs to a machine.",
    )
