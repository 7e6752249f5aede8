"""Chapter 04: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_04() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="The ratio of the sizes decides nothing by itself: it is c and alpha that count, and "
        "at a tenth of the size c is about 0.1, which is much.",
        b="Without the same tokens the two cannot be compared, and close distributions are what "
        "alpha measures.",
        c="The output has the target's distribution with any draft at all; only the time "
        "depends on the draft.",
        d="It has weights of its own, and they take memory. A draft that shares weights is an "
        "early exit.",
    )


def quiz_04_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="d",
        a="A rule without c cannot see the change. At c = 0.02 its K = 3 gives 2.39, and the "
        "best, 8, gives 2.76.",
        b="All times are in target passes: with a faster target the same draft step takes more "
        "of them, not fewer.",
        c="A K pays as long as alpha is above c, and 0.7 is above 0.2: K = 3 is still 1.58 times "
        "as fast.",
        d="A draft token pays as long as it comes through more often than it costs, so a higher "
        "c ends the block earlier.",
    )
