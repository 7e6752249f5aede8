"""Chapter 05, results: its examples, the visible checks on them, and the predictions."""

from collections.abc import Callable, Sequence

from specdec_lib.lessons.ch05.computed import (
    circulating,
    conditional_rates,
    readings,
    three_means,
)
from specdec_lib.lessons.common.answers import answering, committed, revealing, truths_of
from specdec_lib.lessons.common.examples import expect, expect_value_error, visible_check

__all__ = ["circulating", "committed", "conditional_rates", "readings", "three_means"]

# Six blocks of four draft tokens each: how many of them were accepted.
BLOCKS = [4, 0, 2, 4, 1, 3]
K = 4

# The root of 1 + a + ... + a^4 = 21.3 / 7.52, the block of Chen et al.
CHEN_ALPHA = 0.7111764615568964

# The true values that predictions.toml does not hold; None is measured in the chapter.
TRUTHS = truths_of(
    __package__,
    prediction_05=sum(BLOCKS) / sum(min(n + 1, K) for n in BLOCKS),
    prediction_05_e=None,
)

answered = answering(__package__)
reveal = revealing(TRUTHS)


def look(rows: Sequence, sizes: Sequence) -> None:
    """Print the numbers of "What you may read elsewhere": rows of Table 2, and the T5 sizes."""
    for r in rows:
        print(f"{r.task} T={r.temperature} {r.draft} K={r.k}: {r.measured}x")
    print("measured:", min(r.measured for r in rows), "to", max(r.measured for r in rows))
    target, *smaller = sizes
    for name, size in smaller:
        print(f"{name}: {size / 1e6:.0f} million, c_hat = {size / target.parameters:.3f}")


@visible_check
def check_alpha_from_blocks(function: Callable) -> None:
    """The six blocks, blocks without a rejection, and what cannot be."""
    hint = "A block stopped after n judged n + 1 tokens; a whole block judged K."
    expect(function, BLOCKS, K, gives=14 / 18, hint=hint)
    hint = "A whole block has no rejected token: K tokens were judged, not K + 1."
    expect(function, [1, 0, 1, 1], 1, gives=0.75, hint=hint)
    expect(function, [0, 0], 3, gives=0.0, hint="Nothing was accepted.")
    expect_value_error(function, [2, 5], 4, why="a block of 4 cannot have 5 accepted tokens")
    expect_value_error(function, [-1, 3], 4, why="no block has -1 accepted tokens")
    expect_value_error(function, [], 4, why="without a block nothing was judged")


@visible_check
def check_operations_factor(function: Callable) -> None:
    """Two rows of Table 1, a draft with operations of its own, and both ends of alpha."""
    hint = "K + 1 positions of the target, over the tokens that the block brings."
    expect(function, 0.8, 0.0, 5, gives=6 / 3.68928, hint=hint)
    expect(function, 0.6, 0.0, 2, gives=3 / 1.96, hint=hint)
    hint = "The K draft tokens cost c_hat each, in operations of the target's."
    expect(function, 0.5, 0.25, 2, gives=2.0, hint=hint)
    expect(function, 0.0, 0.1, 4, gives=5.4, hint="Nothing accepted: one token a block.")
    expect(function, 1.0, 0.25, 4, gives=1.2, hint="All accepted: K + 1 tokens a block.")


@visible_check
def check_implied_alpha(function: Callable) -> None:
    """Rates to find, both ends, next to one of them, and clocks that no rate explains."""
    hint = "A block brings 1.75 tokens here. Numbers are compared to 1e-9."
    expect(function, 4.0, 5.0, 1.0, 2, gives=0.5, hint=hint)
    hint = "A block brings 21.3/7.52 tokens here. Numbers are compared to 1e-9."
    expect(function, 7.52, 14.1, 1.8, 4, gives=CHEN_ALPHA, hint=hint)
    expect(function, 7.0, 5.0, 1.0, 2, gives=0.0, hint="One token a block: nothing accepted.")
    expect(function, 7 / 3, 5.0, 1.0, 2, gives=1.0, hint="K + 1 tokens a block: all accepted.")
    hint = "Here E is 1 - 5e-11: that is within 1e-9 of 1."
    expect(function, 21.3 / (1 - 5e-11), 14.1, 1.8, 4, gives=0.0, hint=hint)
    hint = "Here E is 1.000005: that is not within 1e-9 of 1."
    expect(function, 7 / (1 + 5e-6 + 25e-12), 5.0, 1.0, 2, gives=5e-6, hint=hint)
    expect_value_error(function, 8.0, 5.0, 1.0, 2, why="even alpha = 0 takes only 7 s a token")
    expect_value_error(function, 2.0, 5.0, 1.0, 2, why="a block of 2 brings at most 3 tokens")


@visible_check
def check_acceptance_by_class(function: Callable) -> None:
    """Labels of unequal weight, a label alone, empty ones, lists that do not fit together."""
    labels = ["name", "space", "name", "space", "space", "space"]
    hint = "Each label has a mean of its own, over its own tokens."
    expect(function, [1, 1, 0, 1, 1, 0], labels, gives={"name": 0.5, "space": 0.75}, hint=hint)
    hint = "A label of which nothing was accepted has the mean 0, and is in the result."
    expect(function, [0, 0], ["name", "name"], gives={"name": 0.0}, hint=hint)
    hint = "A share is not rounded, and an empty string is a label, too."
    expect(function, [1, 0, 0], ["", "", ""], gives={"": 1 / 3}, hint=hint)
    expect(function, [], [], gives={}, hint="Equal lengths are no error, not even 0.")
    expect_value_error(function, [1, 0], ["name"], why="two verdicts and one label")


@visible_check
def check_paired_speedup(function: Callable) -> None:
    """Ratios 2 and 8, ratios that cancel, a slow-down, huge ones, runs without a partner, none."""
    hint = "The ratios are 2 and 8; the geometric mean of two is the root of their product."
    expect(function, [2.0, 8.0], [1.0, 1.0], gives=4.0, hint=hint)
    hint = "The ratios are 1/2, 8 and 1/4, whose product is 1: they cancel."
    expect(function, [1.0, 8.0, 1.0], [2.0, 1.0, 4.0], gives=1.0, hint=hint)
    expect(
        function, [1.0], [1.6], gives=0.625, hint="Baseline over speculative: below 1 is slower."
    )
    hint = "Two ratios are 1e200, two 1e-200. A product overflows; the sum of the logarithms not."
    huge, one = [1e200, 1e200, 1.0, 1.0], [1.0, 1.0, 1e200, 1e200]
    expect(function, huge, one, gives=1.0, hint=hint)
    expect_value_error(function, [1.0, 2.0], [1.0], why="the second run has no partner")
    expect_value_error(function, [], [], why="there is no pair")
