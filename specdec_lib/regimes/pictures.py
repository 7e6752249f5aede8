"""The pictures of docs/regimes.md as SVG, each with its words, which stand in the file too."""

from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from specdec_lib.lessons.ch07.experts import BATCHES, MIXTURES
from specdec_lib.lessons.common.drawing import LINES, picture
from specdec_lib.lessons.common.wording import listed
from specdec_lib.regimes import speeds
from specdec_lib.regimes.speeds import DRAFT

SIZE = (7.0, 3.6)


def experts_by_batch() -> str:
    """Draw the speed of a block by the number of requests; returns it in words."""
    ax, told = picture("Experts: slower than plain for few requests", "speed", SIZE), []
    for mixture, (colour, dash, marker) in zip(MIXTURES, LINES, strict=False):
        passes = [mixture.v(speeds.expected_experts, DRAFT.k + 1, batch) for batch in BATCHES]
        values = [DRAFT.speed(v) for v in passes]
        ax.plot(BATCHES, values, dash, marker=marker, color=colour, label=mixture.name)
        told.append(f"{mixture.name} {listed(values)}")
    ax.axhline(DRAFT.speed(), color="black", label="without experts")
    ax.axhspan(0, 1, color="black", alpha=0.07)
    ax.set(xscale="log", xlabel="requests in the batch", ylim=(0, 1.1 * DRAFT.speed()))
    ax.set_xticks(BATCHES, [str(batch) for batch in BATCHES])
    ax.minorticks_off()
    ax.legend(loc="lower right")
    return (f"Speed for {listed(BATCHES)} requests: {'; '.join(told)}; without experts "
            f"{DRAFT.speed():.3g}.")  # fmt: skip


def speed_by_round_trip() -> str:
    """Draw the speed by the round trip to the draft's machine; returns it in words."""
    trips = np.linspace(0, 4, 81)
    ways = {
        "drafted ahead": [speeds.ahead(trip) for trip in trips],
        "at the best K": [speeds.apart(trip, speeds.best_apart(trip)) for trip in trips],
        f"K = {DRAFT.k}": [speeds.apart(trip) for trip in trips],
    }
    ax = picture("The draft on another machine", "speed", SIZE)
    for (name, values), (colour, dash, _) in zip(ways.items(), LINES, strict=False):
        ax.plot(trips, values, dash, color=colour, linewidth=2.2, label=name)
    ax.axhspan(0, 1, color="black", alpha=0.07)
    ax.set(xlabel="round trip, in target passes", xlim=(0, 4), ylim=(0, 3))
    ax.legend(loc="upper right")
    told = [f"{name} {listed(values[::20])}" for name, values in ways.items()]
    return f"Speed at round trips of 0, 1, 2, 3 and 4 target passes: {'; '.join(told)}."


#: By the name of their place in the page: the file's name, and who draws it.
PICTURES: dict[str, tuple[str, Callable[[], str]]] = {
    "picture of experts": ("regimes_experts.svg", experts_by_batch),
    "picture of a round trip": ("regimes_round_trip.svg", speed_by_round_trip),
}


def write(folder: Path, name: str) -> str:
    """Write one of PICTURES into `folder`; returns its words.

    The same numbers give the same file, apart from the version of matplotlib.
    """
    file, draw = PICTURES[name]
    with plt.rc_context({"svg.hashsalt": file}):
        words = draw()
        metadata = {"Date": None, "Description": words, "Creator": None}
        plt.savefig(folder / file, format="svg", metadata=metadata)
    plt.close("all")
    return words
