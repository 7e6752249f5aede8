"""Chapter 07: a draft tree, who sees whom in it, and how many tokens each shape brings."""

from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib.lessons.ch07.checks import SHAPES
from specdec_lib.lessons.widgets.parts.fields import number, probability, whole
from specdec_lib.lessons.widgets.simulator import Simulator


def _shares(name: str, value: Any) -> list[float]:
    """Probabilities, given the candidates in order, that each one is the accepted one."""
    numbers = [probability(f"{name}[{i}]", each) for i, each in enumerate(value)]
    if not numbers or sum(numbers) > 1 + 1e-9:
        raise ValueError(f"{name} is {numbers}: give probabilities that sum to at most 1")
    return numbers


def _some(name: str, value: Mapping) -> Mapping:
    if not value:
        raise ValueError(f"{name} is empty: give at least one, by name")
    return value


def _drafts(name: str, value: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    rows = _some(name, value).items()
    return [{"name": key, "shares": _shares(f"{name}[{key!r}]", row)} for key, row in rows]


def _parents(name: str, value: Sequence[int]) -> list[int]:
    """The parent of every node, before the node; -1 is the text."""
    parents = [int(parent) for parent in value]
    if not parents or any(not -1 <= parent < i for i, parent in enumerate(parents)):
        raise ValueError(f"{name} is {parents}: every parent is -1 or stands before its child")
    return parents


def _trees(name: str, value: Mapping[str, Sequence[int]]) -> list[dict[str, Any]]:
    rows = _some(name, value).items()
    return [{"name": key, "parents": _parents(f"{name}[{key!r}]", row)} for key, row in rows]


def draft_tree_simulator(
    accepted: Mapping[str, Sequence[float]], shapes: Mapping[str, Sequence[int]] = SHAPES
) -> Simulator:
    """The simulator of a draft tree.

    `accepted` gives, for each draft by name, how likely the i-th candidate of a place is the
    accepted one; `shapes` the parents of each tree's nodes by name. ValueError, naming the
    argument, for what is no probability or no tree.
    """
    largest = max(map(len, shapes.values()), default=1)
    start = {"draft": 0, "shape": min(1, len(shapes) - 1), "node": min(4, largest - 1), "c": 0.0}
    return Simulator(
        "draft_tree",
        title="Draft tree simulator",
        fields={
            "drafts": _drafts,
            "shapes": _trees,
            "draft": whole(0, len(accepted) - 1),
            "shape": whole(0, len(shapes) - 1),
            "node": whole(0, largest - 1),
            "c": number(0.0, 0.5),
        },
        state={"drafts": accepted, "shapes": shapes, **start},
        reset=start,
        height=780,
    )
