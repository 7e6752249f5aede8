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

PATH = Path(__file__).with_name("recorded.json")


class Block(NamedTuple):
    """One block. p, q and r are those of the draft tokens up to the first rejection."""

    drafted: list[int]
    p: list[float]
    q: list[float]
    r: list[float]
    accepted: int
    token: int  # the correction, or the bonus


class Request(NamedTuple):
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
def record() -> dict[str, Any]:
    """All of the file, as it is."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def runs(k: int) -> list[list[Block]]:
    """The recorded runs at this K, each a list of blocks."""
    return [[Block(*block) for block in run["blocks"]] for run in record()["runs"] if run["k"] == k]


def requests() -> dict[int, Request]:
    """The recorded requests by K."""
    return {
        each["k"]: Request(each["k"], np.array(each["blocks"]), np.array(each["accepted"]))
        for each in record()["requests"]
    }


def visible(piece: str) -> str:
    """A token's text with visible spaces and line ends: "\\n    x" is "↵·4x"."""
    marked = re.sub(r" {2,}", lambda found: f"·{len(found[0])}", piece)
    return marked.replace(" ", "·").replace("\n", "↵").replace("\t", "⇥")


def text_of(token: int) -> str:
    """The visible text of a token."""
    return visible(record()["pieces"][str(token)])
