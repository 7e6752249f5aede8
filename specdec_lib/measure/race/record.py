"""What a race was, as plain data: what every pass wrote, and when. It needs no torch.

`python -m specdec_lib.measure.recording race` writes recorded.json, the race of the README's
picture.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median_low

RACE_FILE = Path(__file__).with_name("recorded.json")


@dataclass(frozen=True)
class TargetPass:
    """What one pass of the target wrote, in pieces of text, one for each token.

    If there is a draft, all of the pieces but the last are draft tokens that were accepted.
    """

    ends: float  # seconds on the decoder's own clock
    pieces: Sequence[str]


@dataclass(frozen=True)
class Lane:
    """One decoder's race: for each prompt the passes that it took. Of a batch, the first row."""

    name: str
    texts: Sequence[Sequence[TargetPass]]

    @property
    def passes(self) -> list[TargetPass]:
        """All of them, one prompt after the other."""
        return [target_pass for passes in self.texts for target_pass in passes]

    @property
    def seconds(self) -> float:
        """When the last pass ended."""
        return self.passes[-1].ends

    @property
    def pieces(self) -> list[list[str]]:
        """The tokens of each text."""
        return [[piece for one in passes for piece in one.pieces] for passes in self.texts]

    @property
    def by_text(self) -> list[float]:
        """The seconds of each text."""
        ends = [0.0, *(passes[-1].ends for passes in self.texts)]
        return [end - begin for begin, end in pairwise(ends)]


@dataclass(frozen=True)
class Race:
    """Lanes over the same prompts, the first of them plain decoding."""

    lanes: Sequence[Lane]
    prompts: Sequence[str]  # the end of each
    pair: str  # what target and draft are, in words
    temperature: float = 0.0
    rows: int = 1
    remarks: tuple[str, ...] = ()  # what the reader must know of this race

    def turns(self, lane: Lane) -> list[float]:
        """How many times as fast `lane` was as plain decoding, text by text."""
        return [a / b for a, b in zip(self.lanes[0].by_text, lane.by_text, strict=True)]

    def ratio(self, lane: Lane) -> float:
        """That of the middle text, a median: what "times as fast" means wherever a race is told."""
        return median_low(self.turns(lane))

    def same(self, lane: Lane) -> bool:
        """Whether `lane` wrote plain decoding's texts, token for token."""
        return lane.pieces == self.lanes[0].pieces


def recorded_race(path: Path = RACE_FILE) -> Race:
    """The recorded race; its remark says when and on which processor it ran."""
    data = json.loads(path.read_text(encoding="utf-8"))
    lanes = [
        Lane(lane["name"], [[TargetPass(**one) for one in passes] for passes in lane["texts"]])
        for lane in data["lanes"]
    ]
    return Race(**data | {"lanes": lanes, "remarks": tuple(data["remarks"])})
