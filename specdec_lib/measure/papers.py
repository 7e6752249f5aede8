"""The figures that papers and leaderboards print, as tables of named rows; see papers.json.

`table("leviathan_2_4")[0].alpha` is a number; `about("leviathan_2_4").source` says where it stands.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class Formula(NamedTuple):
    """What the formulas give where drafting costs nothing."""

    alpha: float
    k: int
    operations: float
    speed: float


class Setting(NamedTuple):
    """A task, a draft and a temperature: the formula's speed-up and the measured one."""

    task: str
    draft: str
    temperature: int
    k: int
    alpha: float
    c: float
    expected: float
    measured: float


class Rate(NamedTuple):
    """The acceptance rate of a draft at temperature 0 (greedy) and at 1 (sampled)."""

    target: str
    draft: str
    greedy: float
    sampled: float


class Size(NamedTuple):
    """The parameters of a model."""

    name: str
    parameters: int


class Lenient(NamedTuple):
    """The acceptance rate where p is divided by a lenience."""

    draft: str
    lenience: float
    alpha: float


class LenientSpeed(NamedTuple):
    """The measured speed-up with a lenience."""

    lenience: float
    temperature: int
    speedup: float


class Loop(NamedTuple):
    """Scores and milliseconds a token, plain and speculative; `draft_ms` is for a draft token."""

    benchmark: str
    sampling: str
    k: int
    plain_score: float
    speculative_score: float
    plain_ms: float
    draft_ms: float
    speculative_ms: float
    speedup: float


class Method(NamedTuple):
    """A method's speed-up, and the tokens of one of its steps."""

    method: str
    speedup: float
    tokens: float


class TwoDevices(NamedTuple):
    """A method's tokens a step and its speed-up on two machines."""

    method: str
    rtx3090_tokens: float
    rtx3090_speedup: float
    a100_tokens: float
    a100_speedup: float


class FollowUp(NamedTuple):
    """A later method with what its authors claim; `reference` is an arXiv number or a year."""

    method: str
    reference: str
    claim: str
    idea: str


class About(NamedTuple):
    """What a table shows, where it is printed, and what to know before using it."""

    title: str
    source: str
    note: str


ROWS: dict[str, type] = {
    "leviathan_1": Formula,
    "leviathan_2_4": Setting,
    "leviathan_3": Rate,
    "t5_sizes": Size,
    "lenience": Lenient,
    "lenience_speed": LenientSpeed,
    "chen_1": Loop,
    "spec_bench": Method,
    "spec_bench_devices": TwoDevices,
    "follow_ups": FollowUp,
}


def names() -> list[str]:
    """The names of all tables."""
    return list(ROWS)


def table(name: str) -> list[Any]:
    """The rows of a table, each of the type ROWS[name]. KeyError, with the names, for another."""
    return [ROWS[name](*row) for row in _entry(name)["rows"]]


def about(name: str) -> About:
    """Title, source and note of a table. KeyError, with the names, for another."""
    entry = _entry(name)
    return About(entry["title"], entry["source"], entry["note"])


def _entry(name: str) -> dict[str, Any]:
    if name not in ROWS:
        raise KeyError(f"there is no table {name!r}; there are {', '.join(ROWS)}")
    return _all()[name]


@cache
def _all() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("papers.json").read_text(encoding="utf-8"))
