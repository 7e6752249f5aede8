"""Chapter 04: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_04() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="A small draft is cheap, but no ratio of sizes is the best one. alpha and c decide, and "
        "at a tenth of the size c is about 0.1, which is a high price.",
        b="With the same tokenizer both models speak about the same tokens. Models of one family "
        "tend to have close distributions, and this closeness is what alpha measures.",
        c="The output keeps the target's distribution with every draft, from whatever family. The "
        "draft decides only how much time is saved.",
        d="A smaller model has weights of its own, and they take memory. A draft that shares the "
        "target's weights is an early exit.",
    )


def quiz_04_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="d",
        a="1/(1 - alpha) has no c in it, so this rule cannot see that drafting has become dearer. "
        "At c = 0.02 it is not the best K either: K = 3 gives 2.39, and K = 8 gives 2.76.",
        b="The draft step takes as long as before, and the target pass is shorter. So a draft "
        "step now costs ten times as many target passes, and fewer draft steps pay.",
        c="The draft is slower beside the target, but some K pays as long as alpha is above c, "
        "and 0.7 is above 0.2. K = 3 is still 1.58 times as fast.",
        d="A further draft token pays while what it brings, divided by c, is above the speed-up "
        "so far. With ten times the c this ends earlier.",
    )
