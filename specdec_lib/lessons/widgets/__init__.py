"""Simulators: sliders over the course's formulas, live in a notebook and on any exported page."""

from specdec_lib.lessons.widgets.acceptance import acceptance_simulator
from specdec_lib.lessons.widgets.simulator import EXPORT_PRIORITY, Simulator

__all__ = ["EXPORT_PRIORITY", "Simulator", "acceptance_simulator"]
