"""Chapter 07: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_07() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="Quantisation, batching and a KV cache make decoding faster too.",
        b="It can: with nothing accepted a block costs c K + 1 passes for one token, and a busy "
        "server slows down.",
        c="The draft decides on the time, and the correction sees to the distribution.",
        d="A KV cache, batching and tensor parallelism keep the distribution as well. The rule "
        "is special in using an approximation and being exact all the same.",
    )


def quiz_07_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="b",
        a="Acceptance depends on p and q at each position of each text, and not on who else is "
        "served in the same pass.",
        b="13,000 tokens a pass are compute-bound on any GPU, so each rejected branch costs "
        "everybody time.",
        c="Every request has a tree and a mask of its own; none sees another's text.",
        d="The rule works on each request by itself and stays lossless in every batch. What "
        "changes is the time of a pass.",
    )
