"""Chapter 02: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_02() -> Quiz:
    """Question 1."""
    return Quiz(
        right="b",
        a="The rank of a token does not matter, only its ratio: with q = .40 it is accepted "
        "three times in four, favourite or not.",
        b="Then p/q is at least 1, and the draft has not proposed the token too often.",
        c="Below .30 it is accepted for certain too: with q = .20 the ratio is 1.5, and the cap "
        "makes it 1.",
        d="There the draft overstates the token, so part of it is rejected: with q = .60 one half.",
    )


def quiz_02_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="c",
        a="Every draft token has a coin of its own, and the replacement has its own number u. "
        "None is used up.",
        b="There is no such limit: a step over K draft tokens writes up to K + 1.",
        c="Its p speaks of a text that has the rejected token in it, and that text is not written.",
        d="Even if that were so, the rule would not ask. They go because they were scored after "
        "a text that is not written.",
    )
