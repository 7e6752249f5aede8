"""What was measured, and a recorded quiet run after it where the machine was disturbed.

The recorded times have the shape of the measured ones, so a cell shows both in the same way. After
its loop it goes on with the last of them: no conclusion rests on a disturbed run.
"""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from specdec_lib.measure.core.disturbance import Times, disturbance

PATH = Path(__file__).with_name("recorded.json")
DISTURBED = "This run was disturbed ({why}): close other programs and run the cell again."
WIDE = 80  # characters

# The tasks that do the same work in every round, where not all do: sampled texts take more blocks
# or fewer, and a look-up is over so soon that its time is the clock's noise.
STEADY: Mapping[str, Sequence[str | int]] = MappingProxyType(
    {
        "04 gap": ["plain"],
        "04 gap, built-in": ["plain"],
        "04 tables": [1],
        "05 pairs": ["plain"],
        "08 engineering": ["plain"],
        "08 batches": ["the median request, K = 0", "the last request, K = 0"],
    }
)

# The times of several things that took turns: models, or drafts.
Runs = Mapping[Any, Times]


def beside(name: str, measured: Runs) -> Iterator[Runs]:
    """What was `measured`; if it was disturbed, the recorded quiet run called `name` after it."""
    why = judged(name, measured)
    if why:
        _say(DISTURBED.format(why=why))
    yield measured
    if why:
        print()
        _say(f"A quiet run, recorded {where(record(), name)}. The chapter goes on with it:")
        yield runs(name)


def _say(text: str) -> None:
    """Print it in lines that fit into a notebook, which would cut a longer one inside a word."""
    print(textwrap.fill(text, WIDE, break_long_words=False, break_on_hyphens=False))


def judged(name: str, measured: Runs) -> str | None:
    """Why the run called `name` was disturbed, from the tasks that do the same in every round."""
    steady = STEADY.get(name)
    return disturbance(
        *(
            {key: each for key, each in times.items() if steady is None or key in steady}
            for times in measured.values()
        )
    )


@cache
def record() -> dict[str, Any]:
    """All of the file, as it is."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def where(found: Mapping[str, Any], name: str) -> str:
    """The day of the run called `name`, the processor and its class, in words.

    `dates` has the runs that were recorded on another day than the rest.
    """
    day = found.get("dates", {}).get(name, found["date"])
    on = f"on {day} on {found['processor']} ({found['class']})"
    return f"{on} with {found['threads']} thread{'s' * (found['threads'] > 1)}"


def runs(name: str) -> Runs:
    """The recorded times called `name`."""
    return {_group(group): _times(times) for group, times in record()["runs"][name]}


def recorded_limits() -> dict[str, float]:
    """The limits of the machine of the record (core/limits.py), measured on the same day."""
    return record()["limits"]


def _group(group: str | list[str]) -> str | tuple[str, ...]:
    return group if isinstance(group, str) else tuple(group)


def _times(times: Mapping[str, list[float]]) -> Times:
    """JSON has no integers as keys."""
    return {int(key) if key.isdigit() else key: each for key, each in times.items()}


def plain_data(measured: Runs) -> list[list[Any]]:
    """`measured` as it is written: a list of pairs, and times with four digits."""
    return [
        [group, {str(key): [float(f"{each:.4g}") for each in some] for key, some in times.items()}]
        for group, times in measured.items()
    ]
