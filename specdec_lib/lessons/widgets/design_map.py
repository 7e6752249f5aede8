"""Chapter 07: the map of the design space, drafter by shape by verifier by timing."""

from dataclasses import asdict

from specdec_lib.lessons.ch07.family import FRAME, as_data
from specdec_lib.lessons.widgets.simulator import Simulator


def design_map() -> Simulator:
    """The map, with the second entry in order of time chosen."""
    frame = {
        box: {key: asdict(option) for key, option in options.items()}
        for box, options in FRAME.items()
    }
    chosen = {"at": 1, "verifier": "every", "timing": "every"}
    state = {"entries": as_data(), "frame": frame, **chosen}
    return Simulator("design_map", "Map of the design space", state, height=1100)
