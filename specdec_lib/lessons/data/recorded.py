"""Real blocks of the built-in pair, recorded once, for lessons that load no models.

`python -m specdec_lib.measure.recording blocks` makes the file; a test holds it against a fresh
computation.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_PATH = Path(__file__).with_name("recorded.json")


class RecordedBlock(NamedTuple):
    """One block. p, q and r are those of the draft tokens up to the first rejection."""

    drafted: list[int]
    p: list[float]
    q: list[float]
    r: list[float]
    accepted: int
    token: int  # the correction, or the bonus


class RecordedRequests(NamedTuple):
    """What many requests did at one K."""

    k: int
    blocks: np.ndarray  # (requests,) blocks that each request took
    accepted: np.ndarray  # (k + 1,) blocks by accepted tokens

    @property
    def alpha(self) -> float:
        """The acceptance rate: accepted over judged draft tokens, chapter 05's estimate."""
        passed = np.arange(self.k + 1)
        judged = np.minimum(passed + 1, self.k)  # the first rejected one too
        return float(passed @ self.accepted / (judged @ self.accepted))


@cache
def data() -> dict[str, Any]:
    """All of the file, as it is."""
    return json.loads(_PATH.read_text(encoding="utf-8"))


def runs(k: int) -> list[list[RecordedBlock]]:
    """The recorded runs at this K, each a list of blocks."""
    rows = (run["blocks"] for run in data()["runs"] if run["k"] == k)
    return [[RecordedBlock(*block) for block in blocks] for blocks in rows]


def requests() -> dict[int, RecordedRequests]:
    """The recorded requests by K."""
    return {
        each["k"]: RecordedRequests(each["k"], np.array(each["blocks"]), np.array(each["accepted"]))
        for each in data()["requests"]
    }


def visible(piece: str) -> str:
    """A token's text with visible spaces and line ends: "\\n    x" is "↵·4x"."""
    marked = re.sub(r" {2,}", lambda spaces: f"·{len(spaces[0])}", piece)
    return marked.replace(" ", "·").replace("\n", "↵").replace("\t", "⇥")


def text_of(token: int) -> str:
    """The visible text of a token."""
    return visible(data()["pieces"][str(token)])
