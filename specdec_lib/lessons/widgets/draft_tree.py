"""Chapter 07: a draft tree, who sees whom in it, and how many tokens each shape writes."""

from collections.abc import Mapping, Sequence

from specdec_lib.lessons.ch07.lesson import SHAPES
from specdec_lib.lessons.widgets.simulator import Simulator


def draft_tree_simulator(accepted: Mapping[str, Sequence[float]]) -> Simulator:
    """The simulator of a draft tree, with the shapes of the chapter.

    `accepted` gives, for each draft by name, how likely the i-th candidate of a place is the
    accepted one.
    """
    drafts = [{"name": name, "shares": list(row)} for name, row in accepted.items()]
    trees = [{"name": name, "parents": list(row)} for name, row in SHAPES.items()]
    chosen = {"draft": 0, "shape": 1, "node": 4}
    state = {"drafts": drafts, "shapes": trees, **chosen, "c": 0.2}
    return Simulator("draft_tree", "Draft tree simulator", state, height=780)
