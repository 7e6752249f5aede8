"""Chapter 06: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_06() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="The tokens behind the rejection are not written, but they were drafted: each cost c. "
        "At alpha = .7 and c = .1 the speed falls from 1.98 at K = 4 to 1.78 at K = 8.",
        b="A longer block reaches at least as far as a shorter one with the same coins. Tokens "
        "a pass only grow: 2.77 at K = 4, 3.20 at K = 8 for alpha = .7.",
        c="At the best K a further draft token brings less than it costs, and all that are "
        "added bring less still.",
        d="The text follows the target's distribution at every K. Only the time changes.",
    )


def quiz_06_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="b",
        a="All 16 rows pass their first coin in 3 steps of 100. What stands behind it is hardly "
        "ever reached: with K = 20 it is still 1.03.",
        b="Then a rejection in one row no longer takes the accepted tokens of the fifteen others.",
        c="The batch waits for its slowest row, and of more rows the slowest is slower: with 32 "
        "rows it is 1.0008.",
        d="Every step of every row ends with a correction or a bonus token. Without it only .03 "
        "tokens would be left.",
    )
