"""Chapter 07: a draft tree, who sees whom in it, and how many tokens each shape writes."""

from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib.lessons.ch07.checks import SHAPES
from specdec_lib.lessons.widgets.fields import probabilities
from specdec_lib.lessons.widgets.simulator import Simulator


def draft_tree_simulator(
    accepted: Mapping[str, Sequence[float]], shapes: Mapping[str, Sequence[int]] = SHAPES
) -> Simulator:
    """The simulator of a draft tree.

    `accepted` gives, for each draft by name, how likely the i-th candidate of a place is the
    accepted one; `shapes` the parents of each tree's nodes by name. ValueError, naming the
    argument, for what is no probability or no tree.
    """
    drafts = [{"name": name, "shares": _shares(name, row)} for name, row in accepted.items()]
    trees = [{"name": name, "parents": _parents(name, row)} for name, row in shapes.items()]
    if not drafts or not trees:
        raise ValueError("give at least one draft and at least one shape, by name")
    most = max(len(tree["parents"]) for tree in trees)
    chosen: dict[str, Any] = {"draft": 0, "shape": min(1, len(trees) - 1), "node": min(4, most - 1)}
    state = {"drafts": drafts, "shapes": trees, **chosen, "c": 0.2}
    return Simulator("draft_tree", "Draft tree simulator", {}, state, height=780)


def _shares(name: str, row: Sequence[float]) -> list[float]:
    numbers = probabilities(f"accepted[{name!r}]", row)
    if not numbers or sum(numbers) > 1 + 1e-9:
        raise ValueError(f"{name} is {numbers}: give probabilities that sum to at most 1")
    return numbers


def _parents(name: str, row: Sequence[int]) -> list[int]:
    """The parent of every node, before the node; -1 is the text."""
    parents = [int(parent) for parent in row]
    if not parents or any(not -1 <= parent < i for i, parent in enumerate(parents)):
        raise ValueError(f"{name} is {parents}: every parent is -1 or stands before its child")
    return parents
