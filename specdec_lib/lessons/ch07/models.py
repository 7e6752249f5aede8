"""Targets for Jacobi decoding: functions that give the argmax after every token."""

from collections.abc import Callable

from specdec_lib.lessons.common.lending import at_most

# AFTER[a][b] is the argmax of `two_back` after a, b.
AFTER = [[2, 2, 1, 4, 1], [1, 4, 0, 2, 1], [0, 3, 4, 3, 1], [2, 4, 1, 2, 4], [0, 4, 3, 2, 3]]

TargetGreedy = Callable[[list[int]], list[int]]


def two_back(tokens: list[int]) -> list[int]:
    """The argmax of a small made-up target after every token; it looks at the last two."""
    return [AFTER[before][token] for before, token in zip([0, *tokens], tokens, strict=False)]


def plus_one(tokens: list[int]) -> list[int]:
    """A target that always counts on by one."""
    return [token + 1 for token in tokens]


def settling(target_greedy: TargetGreedy, places: int, extra: int = 1) -> TargetGreedy:
    """`target_greedy` for a guess of `places` tokens, which takes places + 1 passes and `extra`.

    At one more it raises TooManyCalls, which says why: a loop that cannot end is ended.
    """
    why = (
        f"{places} places settle in {places + 1} passes at most, because every pass makes one more "
        "of them right. Does the slice begin at len(prompt) - 1, and is it compared with what this "
        "pass has read?"
    )
    return at_most(places + 1 + extra, target_greedy, "target_greedy", why)
