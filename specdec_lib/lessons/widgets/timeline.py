"""Chapter 07: a timeline of the family that one can walk along."""

from typing import Any

from specdec_lib.lessons.ch07_family import as_data
from specdec_lib.lessons.widgets.simulator import Simulator


def _entries(name: str, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [dict(entry) for entry in value]


def _place(name: str, value: Any) -> int:
    number, last = int(value), len(as_data()) - 1
    if not 0 <= number <= last:
        raise ValueError(f"{name} is {number}: the entries are numbered from 0 to {last}")
    return number


def timeline_simulator(at: int = 1) -> Simulator:
    """The timeline, standing at entry number `at` in order of time. ValueError for no entry."""
    return Simulator(
        "timeline",
        title="Timeline of the family",
        fields={"entries": _entries, "at": _place},
        state={"entries": as_data(), "at": at},
        reset={"at": 1},
        height=560,
    )
