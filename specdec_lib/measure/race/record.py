"""What a race was, as plain data: what every pass wrote, and when. It needs no torch.

The file recorded.json has the races of chapters.py, run on a quiet machine; command.py makes it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("recorded.json")


@dataclass(frozen=True)
class Pass:
    """What one pass of the target wrote, in pieces of text, one for each token.

    If somebody drafted, all of the pieces but the last are draft tokens that were accepted.
    """

    ends: float  # seconds on the decoder's own clock
    pieces: list[str]


@dataclass(frozen=True)
class Lane:
    """One decoder's race: for each prompt the passes that it took. Of a batch, the first row."""

    name: str
    texts: list[list[Pass]]

    @property
    def passes(self) -> list[Pass]:
        """All of them, one prompt after the other."""
        return [each for passes in self.texts for each in passes]

    @property
    def seconds(self) -> float:
        """When the last pass ended."""
        return self.passes[-1].ends

    @property
    def pieces(self) -> list[list[str]]:
        """The tokens of each text."""
        return [[piece for each in passes for piece in each.pieces] for passes in self.texts]

    @property
    def durations(self) -> list[list[float]]:
        """The seconds of every pass of each text, with the drafting before it."""
        begins = [0.0, *(passes[-1].ends for passes in self.texts)]
        return [
            [one.ends - before for before, one in zip([begin, *_ends(text)], text, strict=False)]
            for begin, text in zip(begins, self.texts, strict=False)
        ]

    @property
    def by_text(self) -> list[float]:
        """The seconds of each text."""
        return [sum(passes) for passes in self.durations]


def _ends(passes: Sequence[Pass]) -> list[float]:
    return [each.ends for each in passes]


@dataclass(frozen=True)
class Race:
    """Lanes over the same prompts, the first of them plain decoding."""

    lanes: list[Lane]
    prompts: list[str]  # the end of each
    pair: str  # what target and draft are, in words
    temperature: float = 0.0
    rows: int = 1
    remarks: tuple[str, ...] = ()  # what the reader must know of this race

    def ratio(self, lane: Lane) -> float:
        """How many times as fast `lane` was as plain decoding."""
        return self.lanes[0].seconds / lane.seconds

    def same(self, lane: Lane) -> bool:
        """Whether `lane` wrote plain decoding's texts, token for token."""
        return lane.pieces == self.lanes[0].pieces


def cut(lanes: Sequence[Lane]) -> list[Lane]:
    """The lanes up to the tokens that all of them have, of a race that was stopped."""
    pieces = [each.pieces for each in lanes]
    shortest = [min(map(len, texts)) for texts in zip(*pieces, strict=True)]
    return [
        replace(each, texts=[_first(*both) for both in zip(each.texts, shortest, strict=True)])
        for each in lanes
    ]


def _first(passes: Sequence[Pass], tokens: int) -> list[Pass]:
    kept = []
    for each in passes:
        if tokens <= 0:
            break
        kept.append(replace(each, pieces=each.pieces[:tokens]))
        tokens -= len(each.pieces)
    return kept


@cache
def records() -> dict[str, Any]:
    """All of the file, as it is."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def recorded(name: str = "readme") -> Race:
    """The recorded race called `name`."""
    return from_data(records()["races"][name])


def recorded_where(name: str) -> str:
    """The day and the processor of the recorded race called `name`, in words."""
    found = records()["races"][name]
    return f"on {found['date']} on {found['processor']} ({found['class']})"


def as_data(race: Race) -> dict[str, Any]:
    """`race` as it is written; pieces that are those of the first lane are left out."""
    first = race.lanes[0].pieces
    return {
        "pair": race.pair,
        "prompts": race.prompts,
        "temperature": race.temperature,
        "rows": race.rows,
        "lanes": [
            {
                "name": lane.name,
                "ends": [[round(end, 4) for end in _ends(passes)] for passes in lane.texts],
                "tokens": [[len(each.pieces) for each in passes] for passes in lane.texts],
            }
            | ({"pieces": lane.pieces} if lane is race.lanes[0] or lane.pieces != first else {})
            for lane in race.lanes
        ],
    }


def from_data(data: Mapping[str, Any]) -> Race:
    """The race that `as_data` wrote."""
    first = data["lanes"][0]["pieces"]
    lanes = [_lane(lane, lane.get("pieces", first)) for lane in data["lanes"]]
    about = {key: data[key] for key in ("prompts", "pair", "temperature", "rows")}
    return Race(lanes, **about)


def _lane(data: Mapping[str, Any], pieces: Sequence[Sequence[str]]) -> Lane:
    rows = zip(data["ends"], data["tokens"], pieces, strict=True)
    return Lane(data["name"], [list(_passes(*row)) for row in rows])


def _passes(ends: Sequence[float], tokens: Sequence[int], pieces: Sequence[str]) -> Iterator[Pass]:
    left = list(pieces)
    for end, count in zip(ends, tokens, strict=True):
        yield Pass(end, left[:count])
        left = left[count:]
