"""Simulators: sliders over the course's formulas, live in a notebook and on any exported page."""

from specdec_lib.lessons.widgets.simulator import Simulator
from specdec_lib.lessons.widgets.simulators import (
    batch_simulator,
    bottleneck_simulator,
    draft_tree_simulator,
    generation_simulator,
    linked_simulator,
    paper_rows_simulator,
    trace_picture,
)

__all__ = [
    "Simulator",
    "batch_simulator",
    "bottleneck_simulator",
    "draft_tree_simulator",
    "generation_simulator",
    "linked_simulator",
    "paper_rows_simulator",
    "trace_picture",
]
