"""Chapter 07: a timeline of the family that one can walk along."""

from specdec_lib.lessons.ch07.family import as_data
from specdec_lib.lessons.widgets.fields import unchecked, whole
from specdec_lib.lessons.widgets.simulator import Simulator


def timeline_simulator(at: int = 1) -> Simulator:
    """The timeline, standing at entry number `at` in order of time. ValueError for no entry."""
    entries = as_data()
    return Simulator(
        "timeline",
        title="Timeline of the family",
        fields={"entries": unchecked, "at": whole(0, len(entries) - 1)},
        state={"entries": entries, "at": at},
        reset={"at": 1},
        height=560,
    )
