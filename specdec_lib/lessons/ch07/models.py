"""Targets for Jacobi decoding, of which one ends a loop that cannot end."""

import functools
from collections.abc import Callable

from specdec_lib.lessons.common.describing import describe
from specdec_lib.lessons.common.lending import NoEnd

# AFTER[a][b] is the argmax of `two_back` after a, b.
AFTER = [[2, 2, 1, 4, 1], [1, 4, 0, 2, 1], [0, 3, 4, 3, 1], [2, 4, 1, 2, 4], [0, 4, 3, 2, 3]]

TargetGreedy = Callable[[list[int]], list[int]]


def two_back(tokens: list[int]) -> list[int]:
    """The argmax of a small made-up target after every token; it looks at the last two."""
    return [AFTER[before][token] for before, token in zip([0, *tokens], tokens, strict=False)]


def plus_one(tokens: list[int]) -> list[int]:
    """A target that always counts on by one."""
    return [token + 1 for token in tokens]


def settling(
    target_greedy: TargetGreedy, prompt: list[int], guess: list[int], extra: int = 1
) -> TargetGreedy:
    """`target_greedy` for K places of a guess, which it answers K + 1 passes and `extra`.

    At one more it raises NoEnd, which says why: a loop that cannot end is ended.
    """
    asked: list[list[int]] = []
    places = len(guess)
    most = places + 1 + extra

    @functools.wraps(target_greedy)
    def lent(tokens: list[int]) -> list[int]:
        asked.append(list(tokens))
        if len(asked) > most:
            raise NoEnd(
                f"called target_greedy more than {most} times: {places} places settle in "
                f"{places + 1} passes at most, because every pass makes one more of them right. "
                f"{_why_no_end(prompt, guess, asked)}"
            )
        return target_greedy(tokens)

    return lent


def _why_no_end(prompt: list[int], guess: list[int], asked: list[list[int]]) -> str:
    """What is likely wrong with a loop that made these calls."""
    whole = [*prompt, *guess]
    if asked[0] != whole:
        return f"The first call read {describe(asked[0])}; a pass reads prompt + current, {whole}."
    if asked[0] == asked[1]:
        return "Two calls in a row read the same tokens: keep what one call returns."
    return (
        "Does the slice begin at len(prompt) - 1, and is it compared with what this pass has read?"
    )
