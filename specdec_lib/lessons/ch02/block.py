"""The visible check of speculative_accept, on arrays or, without NumPy, on nested lists."""

from collections.abc import Callable
from typing import Any

from specdec_lib.lessons.common.examples import expect

# Three drafted tokens of a vocabulary of four. The first has a ratio of .5/.4, the second of
# .1/.5, the third of .6/.3.
BLOCK = [3, 1, 2]
BLOCK_P = [[0.2, 0.2, 0.1, 0.5], [0.3, 0.1, 0.3, 0.3], [0.1, 0.1, 0.6, 0.2]]
BLOCK_Q = [[0.2, 0.2, 0.2, 0.4], [0.2, 0.5, 0.2, 0.1], [0.3, 0.2, 0.3, 0.2]]
BLOCK_R = [0.7, 0.6, 0.1]


def check_block(function: Callable, array: Callable[[list], Any]) -> None:
    """The block of the card, with coins that reject its second token, none, and the first.

    `array` makes of a nested list what `function` takes.
    """
    p, q, r = array(BLOCK_P), array(BLOCK_Q), array(BLOCK_R)
    hint = "Ratios 1.25, .2, 2; coins .7, .6, .1. Did you go on after the first rejection?"
    expect(function, BLOCK, p, q, r, gives=[3], hint=hint)
    hint = "Ratios 1.25, .2, 2; coins .7, .15, .1. Below q a small enough coin accepts, too."
    expect(function, BLOCK, p, q, array([0.7, 0.15, 0.1]), gives=[3, 1, 2], hint=hint)
    hint = "Ratios .2, 2; coins .6, .1. With the first token rejected nothing is accepted."
    expect(function, BLOCK[1:], p[1:], q[1:], r[1:], gives=[], hint=hint)
