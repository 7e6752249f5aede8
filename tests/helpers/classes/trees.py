"""The numbers of chapter 07's draft trees, beside which its simulator is held."""

from collections.abc import Sequence


def tree_tokens(parents: Sequence[int], shares: Sequence[float]) -> float:
    """Tokens per pass of a draft tree: the j-th child of a node is accepted with shares[j]."""
    reached = {-1: 1.0}  # the text, which every root looks up as its parent
    for node, parent in enumerate(parents):
        rank = list(parents[:node]).count(parent)
        reached[node] = reached[parent] * (shares[rank] if rank < len(shares) else 0.0)
    return sum(reached.values())


def tree_levels(parents: Sequence[int]) -> int:
    """How many steps draft a tree: one a level."""
    depths = {-1: 0}
    for node, parent in enumerate(parents):
        depths[node] = depths[parent] + 1
    return max(depths.values())


def tree_speedup(parents: Sequence[int], shares: Sequence[float], c: float) -> float:
    """Speed over plain decoding, by a step a level and one pass at the cost of a plain one."""
    return tree_tokens(parents, shares) / (c * tree_levels(parents) + 1)
