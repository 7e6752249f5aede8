"""Chapter 06: its quizzes, with the right letter and what each option is told."""

from specdec_lib.lessons.common.answers import Quiz


def quiz_06() -> Quiz:
    """Question 1."""
    return Quiz(
        right="c",
        a="The target stops at the first rejection, but the draft did not: every token after it "
        "was drafted too, for c each. At alpha = 0.7 and c = 0.1 the speed-up falls from 1.98 at "
        "K = 4 to 1.78 at K = 8.",
        b="A longer block meets a rejection more often, but it keeps all tokens before the "
        "rejection. With the same coins it writes at least as many: at alpha = 0.7 a pass gives "
        "2.77 tokens at K = 4 and 3.20 at K = 8.",
        c="At the best K one further draft token brings less than it costs. The tokens after that "
        "one bring still less, so the time rises faster than the tokens.",
        d="The draft proposes more, but the target judges every token. The text follows the "
        "target's distribution at every K, and only the time changes.",
    )


def quiz_06_b() -> Quiz:
    """Question 2."""
    return Quiz(
        right="b",
        a="A larger K helps one row by itself. Here every row waits for the shortest: all 16 pass "
        "their first coin in only 3 steps of 100, so later draft tokens are hardly ever reached. "
        "With K = 20 it is still 1.03.",
        b="Then a rejection in one row no longer takes the accepted tokens of the other fifteen.",
        c="More rows even out a mean, but a step in lock-step takes the minimum. With more rows "
        "the minimum is smaller: with 32 rows it is 1.0008 tokens.",
        d="No row goes without: every step ends with a correction or a bonus token in each row. "
        "Without it only 0.03 tokens a step would be left.",
    )
