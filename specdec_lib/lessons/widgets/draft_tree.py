"""Chapter 07: a draft tree, who sees whom in it, and how many tokens each shape brings."""

from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib.lessons.ch07 import SHAPES
from specdec_lib.lessons.widgets.simulator import Simulator, probability


def _shares(name: str, value: Any) -> list[float]:
    """Probabilities, given the candidates in order, that each one is the accepted one."""
    numbers = [probability(f"{name}[{i}]", each) for i, each in enumerate(value)]
    if not numbers or sum(numbers) > 1 + 1e-9:
        raise ValueError(f"{name} is {numbers}: give probabilities that sum to at most 1")
    return numbers


def _drafts(name: str, value: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    return [{"name": key, "shares": _shares(f"{name}[{key!r}]", row)} for key, row in value.items()]


def _parents(name: str, value: Sequence[int]) -> list[int]:
    """The parent of every node, before the node; -1 is the text."""
    parents = [int(parent) for parent in value]
    if not parents or any(not -1 <= parent < i for i, parent in enumerate(parents)):
        raise ValueError(f"{name} is {parents}: every parent is -1 or stands before its child")
    return parents


def _trees(name: str, value: Mapping[str, Sequence[int]]) -> list[dict[str, Any]]:
    return [
        {"name": key, "parents": _parents(f"{name}[{key!r}]", row)} for key, row in value.items()
    ]


def _index(name: str, value: Any) -> int:
    number = int(value)
    if number < 0:
        raise ValueError(f"{name} is {number}; it counts from 0")
    return number


def draft_tree_simulator(
    accepted: Mapping[str, Sequence[float]], shapes: Mapping[str, Sequence[int]] = SHAPES
) -> Simulator:
    """The simulator of a draft tree.

    `accepted` gives, for each draft by name, how likely the i-th candidate of a place is the
    accepted one; `shapes` the parents of each tree's nodes by name. ValueError, naming the
    argument, for what is no probability or no tree.
    """
    return Simulator(
        "draft_tree",
        title="Draft tree simulator",
        fields={
            "drafts": _drafts,
            "shapes": _trees,
            "draft": _index,
            "shape": _index,
            "node": _index,
        },  # fmt: skip
        state={"drafts": accepted, "shapes": shapes, "draft": 0, "shape": 1, "node": 4},
        reset={"draft": 0, "shape": 1, "node": 4},
        height=720,
    )
