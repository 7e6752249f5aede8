"""Chapter 07: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_07() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="It does make decoding faster, but so do quantisation, batching and a KV cache.",
        b="It often helps, but it can hurt. If nothing is accepted, a block takes c K + 1 passes "
        "for one token, and a busy server slows down.",
        c="The draft decides how long it takes. The rule and its correction keep the target's "
        "distribution.",
        d="A KV cache, batching and tensor parallelism keep the distribution as well. What is "
        "special here is that an approximation does most of the work, and the output is exact all "
        "the same.",
    )


def quiz_07_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="b",
        a="Each user gets less, but not because fewer tokens are accepted. Acceptance depends on "
        "p and q at each position of each text, not on who else is served in the same pass.",
        b="200 times 65 is 13,000 tokens a pass. Such a pass is compute-bound on any GPU, so each "
        "rejected branch costs everybody time.",
        c="Mixed-up texts would be a fault, but not a slow-down. Every request has a tree and a "
        "mask of its own, and none sees another's text.",
        d="The rule works on each request by itself, so it stays lossless in every batch. What "
        "changes is the time of a pass.",
    )
