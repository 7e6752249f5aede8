"""Chapter 07: the map of the design space, drafter by shape by verifier by timing."""

from dataclasses import asdict

from specdec_lib.lessons.ch07.family import FRAME, as_data
from specdec_lib.lessons.widgets.fields import whole
from specdec_lib.lessons.widgets.simulator import Simulator


def design_map(at: int = 1) -> Simulator:
    """The map, with entry number `at` in order of time chosen. ValueError for no entry."""
    entries = as_data()
    frame = {
        box: {key: asdict(option) for key, option in options.items()}
        for box, options in FRAME.items()
    }
    chosen = {"at": at, "verifier": "every", "timing": "every"}
    state = {"entries": entries, "frame": frame, **chosen}
    fields = {"at": whole(0, len(entries) - 1)}
    return Simulator("design_map", "Map of the design space", fields, state, height=1100)
