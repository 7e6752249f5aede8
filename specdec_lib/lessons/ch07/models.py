"""Targets for Jacobi decoding, and functions on trees that are ended if they do not end."""

from collections.abc import Callable

from specdec_lib.lessons.common.lending import at_most, ending

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

    At one more it raises NoEnd, which says why: a loop that cannot end is ended.
    """
    why = (
        f"{places} places settle in {places + 1} passes at most, because every pass makes one more "
        "of them right. Does the slice begin at len(prompt) - 1, and is it compared with what this "
        "pass has read?"
    )
    return at_most(places + 1 + extra, target_greedy, "target_greedy", why)


def going_down(walk_tree: Callable) -> Callable:
    """`walk_tree`, ended with the reason if it does not end."""
    why = (
        "a walk ends after one step for each node at most, because every step goes one level down. "
        "Does each round of the loop begin at another node?"
    )
    return ending(walk_tree, why)


def going_up(tree_attention_mask: Callable) -> Callable:
    """`tree_attention_mask`, ended with the reason if it does not end."""
    why = "the way up from a node ends at -1. Does each round of the loop go on to the parent?"
    return ending(tree_attention_mask, why)
