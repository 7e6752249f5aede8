"""The races that are recorded, by name: the chapters' and the one of the README's picture.

A chapter's cell runs as many texts as fit into its time, where a recorded race has a fixed number.
What a chapter's reader wrote is not here: the library's decoder stands in its place.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from specdec_lib.measure.race.contestants import branching, copying, drafting, guessing

SPECULATIVE, MODEL, MINE = "speculative decoding", "draft model", "your draft and K"
COPY, RANDOM, TREE = "copy from the text", "random tokens", "tree of the draft model"

_ladder = {MODEL: drafting(), COPY: copying(), RANDOM: guessing()}
_structures = {MODEL: drafting(), COPY: copying(), TREE: branching()}
_one = {SPECULATIVE: drafting()}
_cheap = {"texts": 16, "cost": "40m"}

# The arguments of `race.run`.
RACES: Mapping[str, dict[str, Any]] = MappingProxyType({
    "readme": {"contestants": _one, "texts": 1, "tokens": 96, "skip": 16},
    "00": {"contestants": _one, "texts": 6},
    "01": {"contestants": _ladder, "texts": 1},
    "02": {"contestants": {"your rule": drafting()}, "texts": 2, "temperature": 1.0},
    "03": {"contestants": _one, "texts": 2, "temperature": 0.7},
    "04": {"contestants": {MINE: drafting("base", 4)}, "texts": 2, "temperature": 1.0},
    "05": _cheap | {"contestants": {SPECULATIVE: drafting("small", 2)}},
    "06": {"contestants": _one, "tokens": 32, "texts": 1, "rows": 4},
    "07": {"contestants": _structures, "texts": 1},
    "08": {"contestants": {"the library's decoder": drafting()}, "texts": 2, "reading": True},
})  # fmt: skip
