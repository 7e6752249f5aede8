"""Chapter 07: the map of the design space, drafter by shape by verifier by timing."""

from dataclasses import asdict

from specdec_lib.lessons.ch07.family import FRAME, as_data
from specdec_lib.lessons.widgets.parts.fields import one_of, unchecked, whole
from specdec_lib.lessons.widgets.simulator import Simulator

EVERY = "every"


def design_map(at: int = 1) -> Simulator:
    """The map, with entry number `at` in order of time chosen. ValueError for no entry."""
    entries = as_data()
    frame = {
        box: {key: asdict(option) for key, option in options.items()}
        for box, options in FRAME.items()
    }
    start = {"at": at, "verifier": EVERY, "timing": EVERY}
    return Simulator(
        "design_map",
        title="Map of the design space",
        fields={
            "entries": unchecked,
            "frame": unchecked,
            "at": whole(0, len(entries) - 1),
            "verifier": one_of(EVERY, *FRAME["verifier"]),
            "timing": one_of(EVERY, *FRAME["timing"]),
        },
        state={"entries": entries, "frame": frame, **start},
        reset=start | {"at": 1},
        height=1100,
    )
