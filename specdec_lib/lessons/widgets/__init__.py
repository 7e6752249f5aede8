"""Simulators: sliders over the course's formulas, live in a notebook and on any exported page."""

from specdec_lib.lessons.widgets.acceptance import acceptance_simulator
from specdec_lib.lessons.widgets.simulator import Simulator

__all__ = ["Simulator", "acceptance_simulator"]
