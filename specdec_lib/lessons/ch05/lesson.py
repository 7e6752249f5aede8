"""Chapter 05, results: its examples, the visible checks on them, and the predictions."""

from collections.abc import Callable

from specdec_lib.lessons.ch05.computed import meanings
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.examples import expect, expect_value_error, visible_check

__all__ = ["committed", "meanings"]

# Six blocks of four draft tokens each: how many of them were accepted.
BLOCKS = [4, 0, 2, 4, 1, 3]
K = 4

# The root of 1 + a + ... + a^4 = 21.3 / 7.52, the block of Chen et al.
CHEN_ALPHA = 0.7111764615568964

# A row of "What you may read elsewhere": 0.4% accepted of 16 drafted tokens, 2.03 times as fast.

# The true value that predictions.toml does not hold.
TRUTHS = truths_of(
    __package__,
    prediction_05=sum(BLOCKS) / sum(min(n + 1, K) for n in BLOCKS),
)

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


# Wrong rates of the six blocks, each with its question.
RATE_SLIPS = (
    (14 / 24, "Did every draft token count as judged? Six of them stand after a rejection."),
    (14 / 20, "These are the written tokens. How many draft tokens were judged?"),
    (20 / 24, "A token that was never judged is neither accepted nor rejected."),
    (47 / 72, "Is that the mean of the blocks' own rates? Add up the counts first."),
)


@visible_check
def check_alpha_from_blocks(function: Callable) -> None:
    """The six blocks, blocks without a rejection, and what cannot be."""
    hint = "A block stopped after n judged n + 1 tokens; a whole block judged K."
    expect(function, BLOCKS, K, gives=14 / 18, hint=hint, asks=RATE_SLIPS)
    hint = "A whole block has no rejected token: K tokens were judged, not K + 1."
    expect(function, [1, 0, 1, 1], 1, gives=0.75, hint=hint)
    expect(function, [0, 0], 3, gives=0.0, hint="Nothing was accepted.")
    expect_value_error(function, [2, 5], 4, why="a block of 4 cannot have 5 accepted tokens")
    expect_value_error(function, [-1, 3], 4, why="no block has -1 accepted tokens")
    expect_value_error(function, [], 4, why="without a block nothing was judged")


@visible_check
def check_audit(function: Callable) -> None:
    """The card's row at three numbers of tokens, a short block, and what rounding allows."""
    hint = "The formula gives 3.288 tokens here."
    expect(function, 0.75, 5, 3.1, 0.0, 0.0, gives="formula", hint=hint)
    hint = "The formula gives just 1.5 tokens here, and that many are enough."
    expect(function, 0.5, 1, 1.5, 0.0, 0.0, gives="formula", hint=hint)
    hint = "The formula gives 3.288 tokens here, the best order 4."
    expect(function, 0.75, 5, 3.8, 0.0, 0.0, gives="order", hint=hint)
    expect(function, 0.75, 5, 3.4, 0.0, 0.0, gives="order", hint=hint)
    hint = "With a quarter of the positions wrong, no order writes more than 4 tokens per block."
    expect(function, 0.75, 5, 4.2, 0.0, 0.0, gives="nothing", hint=hint)
    hint = "The formula gives 2.71 tokens here, the best order 3: every block whole."
    expect(function, 0.9, 2, 2.9, 0.0, 0.0, gives="order", hint=hint)
    hint = "1/(1 - 0.9) is 10. But how many tokens can a block of 2 draft tokens write?"
    expect(function, 0.9, 2, 3.2, 0.0, 0.0, gives="nothing", hint=hint)
    hint = "It may have been 3.25 tokens: the rounding counts in the row's favour."
    expect(function, 0.75, 5, 3.3, 0.0, 0.05, gives="formula", hint=hint)
    hint = "alpha may have been 0.755, and 1/(1 - 0.755) is 4.08."
    expect(function, 0.75, 5, 4.05, 0.005, 0.0, gives="order", hint=hint)
    hint = "Every block writes 4 tokens here, and the row needs 4.03 at least."
    expect(function, 1.0, 3, 4.08, 0.0, 0.05, gives="nothing", hint=hint)


# Wrong rates for the times of Chen et al., each with its question.
CLOCK_SLIPS = (
    ((21.3 / 7.52 - 1) / 4, "Is that accepted / drafted? Divide by the judged tokens."),
    (0.753564747673981, "Did you pay for K + 1 draft steps? The bonus token needs none."),
    (0.773006428676772, "Did you leave out the bonus? A block of K writes up to K + 1 tokens."),
    (0.4802985223815331, "Did you pay for the draft? A block takes K draft steps, too."),
    (0.5510822809887326, "Did you pay for one draft step only? A block takes K of them."),
    *((round(CHEN_ALPHA, n), "Is it rounded? Numbers are compared to 1e-9.") for n in (2, 3, 4)),
    (0.0, "If the middle gives too few tokens, which end of the interval moves there?"),
    (1.0, "If the middle gives too few tokens, which end of the interval moves there?"),
)


@visible_check
def check_implied_alpha(function: Callable) -> None:
    """Rates to find, a draft that costs nothing, and clocks that no rate explains."""
    hint = "A block writes 21.3/7.52 tokens here."
    expect(function, 7.52, 14.1, 1.8, 4, gives=CHEN_ALPHA, hint=hint, asks=CLOCK_SLIPS)
    hint = "A block writes 1.75 tokens here."
    expect(function, 4.0, 5.0, 1.0, 2, gives=0.5, hint=hint)
    hint = "A draft that costs nothing, a pass of 1 s, 2.44 tokens per block."
    expect(function, 1 / 2.44, 1.0, 0.0, 2, gives=0.8, hint=hint)
    expect_value_error(function, 8.0, 5.0, 1.0, 2, why="even alpha = 0 takes only 7 s per token")
    expect_value_error(function, 2.0, 5.0, 1.0, 2, why="a block of 2 writes at most 3 tokens")


@visible_check
def check_paired_speedup(function: Callable) -> None:
    """Ratios 2 and 8, ratios that cancel, a slow-down, huge ones, runs without a partner, none."""
    hint = "The ratios are 2 and 8; the geometric mean of two is the root of their product."
    asks = [(0.25, "Is that the new time over the old? A speed-up is baseline over speculative.")]
    expect(function, [2.0, 8.0], [1.0, 1.0], gives=4.0, hint=hint, asks=asks)
    hint = "The ratios are 1/2, 8 and 1/4, whose product is 1: they cancel."
    expect(function, [1.0, 8.0, 1.0], [2.0, 1.0, 4.0], gives=1.0, hint=hint)
    hint = "One ratio, 1/1.6, is its own mean: below 1, for it is slower."
    expect(function, [1.0], [1.6], gives=0.625, hint=hint)
    hint = "Two ratios are 1e200, two are 1e-200. Their product overflows, a sum of logarithms not."
    huge, one = [1e200, 1e200, 1.0, 1.0], [1.0, 1.0, 1e200, 1e200]
    expect(function, huge, one, gives=1.0, hint=hint)
    expect_value_error(function, [1.0, 2.0], [1.0], why="the second run has no partner")
    expect_value_error(function, [], [], why="there is no pair")
