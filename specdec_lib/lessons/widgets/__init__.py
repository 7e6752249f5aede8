"""Simulators: sliders over the course's formulas, live in a notebook and on any exported page."""

from specdec_lib.lessons.widgets.linked import linked_simulator
from specdec_lib.lessons.widgets.simulator import Simulator

__all__ = ["Simulator", "linked_simulator"]
